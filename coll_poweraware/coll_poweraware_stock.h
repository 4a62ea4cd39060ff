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

/* Around an outermost call of a saved function that blocks: ranks wait in it as its class allows,
   which may be NULL. */
void coll_poweraware_stock_begin(mca_coll_poweraware_module_t *module,
                                 coll_poweraware_class_t *class);
void coll_poweraware_stock_end(mca_coll_poweraware_module_t *module);

/* A call of a saved function that MPI may have called as well; its result.  If it is no call within
   a call, all of the above is done around it, and it is one of the class. */
#define COLL_POWERAWARE_PASS_ON(m, what, its_class, call)                                          \
    coll_poweraware_passed_on(                                                                     \
        m, (0 == (m)->depth++ ? coll_poweraware_pass_on(m, what, its_class) : (void)0, call))

static inline void coll_poweraware_pass_on(mca_coll_poweraware_module_t *module, int what,
                                           coll_poweraware_class_t *class)
{
    module->what = what;
    module->stock.class = class;
    if (NULL != mca_coll_poweraware_component.account) {
        coll_poweraware_bill_open(module, class);
    }
    coll_poweraware_stock_begin(module, class);
}

static inline int coll_poweraware_passed_on(mca_coll_poweraware_module_t *module, int rc)
{
    if (0 == --module->depth) {
        coll_poweraware_stock_end(module);
        coll_poweraware_class_end(module->stock.class);
        if (NULL != mca_coll_poweraware_component.account) {
            coll_poweraware_bill_close(module, module->stock.class, NULL);
        }
    }
    return rc;
}

/* A call with both around it; returns what the saved function does. */
int coll_poweraware_stock_run(mca_coll_poweraware_module_t *module,
                              coll_poweraware_collective_t collective,
                              coll_poweraware_class_t *class, const coll_poweraware_args_t *args,
                              struct ompi_communicator_t *comm);

#endif
