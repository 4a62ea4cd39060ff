/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A communicator that ends while a call waits: revoked, or one of its processes failed (ULFM).
 *
 * 1. Every wait looks at the communicator now and then.  When it has ended, the call is left there
 *    and then by longjmp: what an algorithm reads behind a flag that never came (sizes, errors)
 *    must not be believed, and no algorithm has to know.  What the algorithm had allocated is lost,
 *    once per communicator that ends.
 * 2. Receives that are under way are cancelled.  Where that is not possible, and for sends, the
 *    message may still touch the segment, so state and segment are kept for ever.
 * 3. The communicator stays with the stock functions; they refuse it.
 */
#include "algorithms/algorithms.h"

#define SELF (&mca_coll_poweraware_component)

void coll_poweraware_leave_if_ended(const coll_poweraware_call_t *call)
{
    if (NULL != call->way_out && OMPI_SUCCESS != pwr_ompi_comm_error(call->comm)) {
        longjmp(*call->way_out, 1); /* 1 */
    }
}

/* Returns whether all messages of a lane are over. */
static bool cancel_lane(coll_poweraware_call_t *call, int lane)
{
    bool all_over = true;
    for (int i = 0; i < call->posted[lane]; ++i) {
        const coll_poweraware_message_t *message = coll_poweraware_message(call, lane, i);
        ompi_request_t *request = message->request;
        if (message->receives && !REQUEST_COMPLETE(request)) {
            ompi_request_cancel(request);
            opal_progress();
        }
        all_over = all_over && REQUEST_COMPLETE(request);
        ompi_request_free(&request); /* now, or as soon as it is over */
    }
    call->posted[lane] = 0;
    return all_over;
}

static bool cancel_messages(coll_poweraware_call_t *call)
{
    bool all_over = true;
    for (int lane = 0; lane < COLL_POWERAWARE_LANES; ++lane) {
        all_over = cancel_lane(call, lane) && all_over;
    }
    return all_over;
}

int coll_poweraware_run(mca_coll_poweraware_module_t *m, const coll_poweraware_algorithm_t *a,
                        coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    jmp_buf way_out;
    if (pwr_ompi_comms_may_end()) {
        call->way_out = &way_out;
        if (0 != setjmp(way_out)) {
            m->ended = true; /* 3 */
            pwr_roll_end(&call->segment->roll);
            if (!cancel_messages(call)) {
                m->state = NULL; /* 2 */
            }
            if (NULL != SELF->power) {
                pwr_power_unthrottle(SELF->power);
            }
            return pwr_ompi_comm_error(call->comm);
        }
    }
    pwr_roll_begin(&call->segment->roll, a->collective);
    int rc = a->run(call, args);
    pwr_roll_end(&call->segment->roll);
    return OMPI_SUCCESS == rc ? call->error : rc;
}
