/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The way of a call: begin, choose (choose/choose.h), start, run one of our algorithms.
 */
#ifndef COLL_POWERAWARE_CALL_H
#define COLL_POWERAWARE_CALL_H

#include "algorithms/algorithms.h"
#include "module.h"

/* Calls of this process that took an algorithm of ours. */
extern unsigned long long coll_poweraware_num_handled;

/* number: of collectives.h.  False: within another operation on this communicator. */
static inline bool coll_poweraware_begin(mca_coll_poweraware_module_t *m,
                                         pwr_operation_t *operation, int number, size_t bytes,
                                         size_t own_bytes)
{
    if (!pwr_operation_begin(operation, &m->operations, m->operations.first + (unsigned)number,
                             bytes, own_bytes)) {
        return false;
    }
    ++m->calls[number];
    return true;
}

/* algorithm: NULL for the saved function. */
void coll_poweraware_start(mca_coll_poweraware_module_t *module, pwr_operation_t *operation,
                           const coll_poweraware_algorithm_t *algorithm);

/* Returns the algorithm's OMPI_* code, also when the communicator ends meanwhile. */
int coll_poweraware_run(mca_coll_poweraware_module_t *module, pwr_operation_t *operation,
                        const coll_poweraware_algorithm_t *algorithm,
                        const coll_poweraware_args_t *args);

#endif
