/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of the functions that were selected before us.
 */
#ifndef COLL_POWERAWARE_STOCK_H
#define COLL_POWERAWARE_STOCK_H

#include "coll_poweraware.h"

#define COLL_POWERAWARE_CALL_SAVED(saved, name, ...)                                               \
    (saved)->coll_##name(__VA_ARGS__, (saved)->coll_##name##_module)

/* Around an outermost call of a saved function that blocks; class may be NULL. */
void coll_poweraware_stock_begin(mca_coll_poweraware_module_t *module,
                                 coll_poweraware_class_t *class);
void coll_poweraware_stock_end(mca_coll_poweraware_module_t *module);

/* A call of a saved function with both around it if it is the outermost, whose class this is; its
   result. */
#define COLL_POWERAWARE_PASS_ON(m, class, call)                                                    \
    coll_poweraware_passed_on(                                                                     \
        m, (0 == (m)->depth++ ? coll_poweraware_stock_begin(m, class) : (void)0, call))

static inline int coll_poweraware_passed_on(mca_coll_poweraware_module_t *module, int rc)
{
    if (0 == --module->depth) {
        coll_poweraware_stock_end(module);
    }
    return rc;
}

/* A call with both around it; returns what the saved function does. */
int coll_poweraware_stock_run(mca_coll_poweraware_module_t *module,
                              coll_poweraware_collective_t collective,
                              coll_poweraware_class_t *class, const coll_poweraware_args_t *args,
                              struct ompi_communicator_t *comm);

#endif
