/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A call that one process makes by itself, and that waits in loops of Open MPI's own: of a window,
 * of OpenSHMEM.
 *
 * Where nobody counts, and no levers move, such a call is no operation: nothing of one is left but
 * its wait, which is short if nobody is late.
 *
 *   pwr_call_begin                          it is an operation, or not
 *   pwr_call_waits, pwr_call_has_waited     around what may wait (idle.h: calls that loop)
 *   pwr_call_end
 */
#ifndef PWR_OMPI_CALL_H
#define PWR_OMPI_CALL_H

#include "pwr_ompi/operation.h"

typedef struct pwr_call {
    pwr_operation_t operation; /* if it is one */
    pwr_idle_loop_t loop;      /* if it may wait */
    pwr_operations_t *of;
    unsigned name; /* a number of the process's */
    int target;    /* the rank in of that it is about; negative: none */
    bool is_operation;
} pwr_call_t;

/* Whether something is saved in waits of these. */
static inline bool pwr_calls_save(const pwr_operations_t *of)
{
    return of->idles || PWR_LEVERS_IN_WAITS == of->levers;
}

/* bytes: that it moves. */
static inline void pwr_call_begin(pwr_call_t *call, pwr_operations_t *of, unsigned name, int target,
                                  uint64_t bytes, bool is_operation)
{
    call->of = of;
    call->name = name;
    call->target = target;
    call->is_operation = is_operation;
    if (is_operation) {
        pwr_operation_begin(&call->operation, of, name, bytes, bytes);
        pwr_operation_start(&call->operation, PWR_ACCOUNT_NO_ALGORITHM, true);
    }
}

/* A wait that lasts too long is spoken about. */
void pwr_call_expired(pwr_idle_loop_t *loop, uint64_t lasted_ns);

/* ends, site, expected_ns: as of pwr_idle_loop_enter; asks: again and again, by messages, whether
   it may go on. */
static inline void pwr_call_waits(pwr_call_t *call, const pwr_idle_ends_t *ends,
                                  pwr_history_t *site, uint64_t expected_ns, bool asks)
{
    pwr_idle_loop_enter(&call->loop, call->is_operation ? &call->operation : NULL, ends,
                        pwr_process.mpi_threads ? NULL : site, expected_ns);
    call->loop.asks = asks;
    call->loop.expired = pwr_call_expired;
}

static inline void pwr_call_has_waited(pwr_call_t *call)
{
    pwr_idle_loop_leave(&call->loop);
    if (!pwr_idle_loop_waited(&call->loop)) {
        return;
    }
    if (call->is_operation) {
        pwr_wait_stats_add_plainly(&call->operation.waits, &call->loop.stats);
    } else {
        pwr_wait_stats_add(&pwr_process.idle_stats, &call->loop.stats);
    }
}

static inline void pwr_call_end(pwr_call_t *call)
{
    if (call->is_operation) {
        pwr_operation_end(&call->operation);
    }
}

#endif
