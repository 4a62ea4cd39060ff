/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Running an algorithm, and a communicator that ends meanwhile: revoked, or one of its processes
 * failed (ULFM).
 *
 * 1. Every wait looks at the communicator now and then.  When it has ended, the call is left there
 *    and then by longjmp: what an algorithm reads behind a flag that never came (sizes, errors)
 *    must not be believed, and no algorithm has to know.  What the algorithm had allocated is lost,
 *    once per communicator that ends.
 * 2. Receives that are under way are cancelled.  Where that is not possible, and for sends, the
 *    message may still touch the segment, so state and segment are kept for ever.
 * 3. The communicator stays with the stock functions; they refuse it.
 */
#include "call.h"

#include <setjmp.h>

#include "pwr_ompi/process.h"

uint64_t coll_poweraware_num_handled;

void coll_poweraware_start(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                           const coll_poweraware_algorithm_t *algorithm)
{
    bool ours = coll_poweraware_is_ours(algorithm);
    if (NULL != algorithm) {
        pwr_process_count(&coll_poweraware_num_handled);
    }
    pwr_operation_start(operation, coll_poweraware_number_of(m, algorithm), !ours);
    unsigned collective = operation->name - m->operations.first;
    if (collective < COLL_POWERAWARE_NUM_COLLECTIVES) {
        m->handled[collective] += NULL != algorithm || operation->levers;
    }
}

static int leave(mca_coll_poweraware_module_t *m, coll_poweraware_call_t *call)
{
    m->ended = true; /* 3 */
    if (!coll_poweraware_cancel_messages(call)) {
        m->state = NULL; /* 2 */
        pwr_position_end(&m->operations.positions);
        m->operations.positions = (pwr_positions_t){0};
        m->operations.owner_copy = NULL;
        m->operations.hierarchy = NULL;
    }
    pwr_operation_unthrottle(call->operation);
    return pwr_ompi_comm_error(call->comm);
}

int coll_poweraware_run(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                        const coll_poweraware_algorithm_t *a, const coll_poweraware_args_t *args)
{
    coll_poweraware_call_t *call = m->state->call;
    jmp_buf way_out;
    call->slot_bytes = call->segment->slot_bytes;
    call->way_out = NULL;
    if (operation->may_end) {
        call->way_out = &way_out;
        if (0 != setjmp(way_out)) {
            return leave(m, call);
        }
    }
    int rc = a->run(call, args);
    return OMPI_SUCCESS == rc ? call->error : rc;
}
