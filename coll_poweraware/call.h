/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The way of a call: begin, choose (choose/choose.h), start, run one of our algorithms.
 */
#ifndef COLL_POWERAWARE_CALL_H
#define COLL_POWERAWARE_CALL_H

#include <stdatomic.h>

#include "algorithms/algorithms.h"
#include "comm/state.h"
#include "module.h"
#include "pwr_ompi/process.h"

/* Calls of this process that were not made by the function that Open MPI had selected. */
extern uint64_t coll_poweraware_num_handled;

/* Open MPI may have made the communicator in the progress of another thread (MPI_Comm_idup): pairs
   with the end of enable. */
static inline mca_coll_poweraware_module_t *coll_poweraware_of(mca_coll_base_module_t *module)
{
    mca_coll_poweraware_module_t *m = (mca_coll_poweraware_module_t *)module;
    (void)atomic_load_explicit(&m->enabled, memory_order_acquire);
    return m;
}

/* The communicator has these functions, none of which is ours: those that were selected before us,
   or those of which one makes the call.  Stock functions then never come back to us: those that
   call others on the same communicator, and those that give way (han puts what was selected before
   it in its place in the communicator's table, and calls what it finds there).  Returns the table
   to be put back. */
static inline mca_coll_base_comm_coll_t *
coll_poweraware_step_aside(mca_coll_poweraware_module_t *m, mca_coll_base_comm_coll_t *functions)
{
    mca_coll_base_comm_coll_t *table = m->comm->c_coll;
    m->comm->c_coll = functions;
    return table;
}

/* The functions that the communicator has while an algorithm makes a call: those of which one makes
   it, unless it is one of ours. */
static inline mca_coll_base_comm_coll_t *
coll_poweraware_functions(mca_coll_poweraware_module_t *m,
                          const coll_poweraware_algorithm_t *algorithm)
{
    return NULL == algorithm || coll_poweraware_is_ours(algorithm)
               ? &m->saved
               : &m->state->others->tables[algorithm->component];
}

static inline void coll_poweraware_step_back(mca_coll_poweraware_module_t *m,
                                             mca_coll_base_comm_coll_t *table)
{
    m->comm->c_coll = table;
}

/* number: of collectives.h. */
static inline void coll_poweraware_count(mca_coll_poweraware_module_t *m, int number)
{
    pwr_process_count(&m->calls[number]);
}

static inline void coll_poweraware_begin(mca_coll_poweraware_module_t *m,
                                         pwr_operation_t *operation, int number, size_t bytes,
                                         size_t own_bytes)
{
    coll_poweraware_count(m, number);
    pwr_operation_begin(operation, &m->operations, m->operations.first + (unsigned)number, bytes,
                        own_bytes);
}

/* Of an algorithm in the process; NULL: the saved function. */
static inline int coll_poweraware_number_of(const mca_coll_poweraware_module_t *m,
                                            const coll_poweraware_algorithm_t *algorithm)
{
    return NULL == algorithm
               ? PWR_ACCOUNT_NO_ALGORITHM
               : (int)m->first_algorithm + (int)(algorithm - coll_poweraware_algorithms);
}

/* algorithm: NULL for the saved function. */
void coll_poweraware_start(mca_coll_poweraware_module_t *module, pwr_operation_t *operation,
                           const coll_poweraware_algorithm_t *algorithm);

/* Returns the algorithm's OMPI_* code, also when the communicator ends meanwhile. */
int coll_poweraware_run(mca_coll_poweraware_module_t *module, pwr_operation_t *operation,
                        const coll_poweraware_algorithm_t *algorithm,
                        const coll_poweraware_args_t *args);

#endif
