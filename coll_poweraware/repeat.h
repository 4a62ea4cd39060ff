/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls that repeat the latest one of their collective: they take its algorithm without choosing,
 * and the short way of operations (pwr_ompi/operation.h).  Small messages in a loop take as long to
 * choose as to exchange.
 *
 * A call repeats another if all that choice, class and levers depend on is the same: bytes,
 * datatypes and operator.  Only predefined ones count: others may be freed, and come back at the
 * same place as something else; and no lists, but in Alltoallv and Alltoallw, where these decide
 * nothing.  And nothing is to be measured or set up meanwhile.  Where some ranks take the long way
 * in a call, it chooses the same, and counts the same.
 */
#ifndef COLL_POWERAWARE_REPEAT_H
#define COLL_POWERAWARE_REPEAT_H

#include "call.h"

/* Whether this call repeats the latest one.  Where ranks know only their own bytes, those they have
   agreed on change in calls that repeat none. */
static inline bool coll_poweraware_repeats(const mca_coll_poweraware_module_t *m,
                                           coll_poweraware_collective_t collective,
                                           const coll_poweraware_args_t *args, size_t own_bytes)
{
    const coll_poweraware_repeat_t *r = &m->repeats[collective];
    return r->made < r->most && !m->ended && own_bytes == r->own_bytes &&
           args->sdtype == r->sdtype && args->rdtype == r->rdtype && args->op == r->op &&
           (MPI_IN_PLACE == args->sbuf) == r->in_place;
}

/* Begins and starts its operation; pwr_operation_repeat_end follows.  Returns its algorithm; NULL:
   the stock function. */
static inline const coll_poweraware_algorithm_t *
coll_poweraware_repeat(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                       coll_poweraware_collective_t collective)
{
    coll_poweraware_repeat_t *r = &m->repeats[collective];
    ++r->made;
    if (NULL != r->algorithm) {
        pwr_process_count(&coll_poweraware_num_handled);
    }
    pwr_operation_repeat(operation, &r->operation);
    if (!r->operation.stock) {
        coll_poweraware_call_begin(m->state->call, operation, collective);
    }
    return r->algorithm;
}

/* After any other call: the next ones may repeat it.  algorithm as returned above. */
void coll_poweraware_remember(mca_coll_poweraware_module_t *module,
                              const pwr_operation_t *operation,
                              coll_poweraware_collective_t collective,
                              const coll_poweraware_args_t *args,
                              const coll_poweraware_algorithm_t *algorithm);

/* Before any other call: what keeps count of calls learns how many have repeated the latest one,
   and no more will. */
void coll_poweraware_count_repeats(mca_coll_poweraware_module_t *module,
                                   coll_poweraware_collective_t collective);
static inline void coll_poweraware_end_repeats(mca_coll_poweraware_module_t *module,
                                               coll_poweraware_collective_t collective)
{
    if (0 != module->repeats[collective].most) {
        coll_poweraware_count_repeats(module, collective);
    }
}
/* All calls of a collective so far. */
static inline uint64_t coll_poweraware_calls(const mca_coll_poweraware_module_t *module,
                                             int collective)
{
    return module->calls[collective] + module->repeats[collective].made;
}

/* Of all collectives: what was chosen does not hold any more. */
void coll_poweraware_end_all_repeats(mca_coll_poweraware_module_t *module);

#endif
