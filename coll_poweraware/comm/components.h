/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Functions that other coll components of Open MPI have for a communicator, besides those that it
 * has selected: candidates like our algorithms, by the component's name.
 *
 * Open MPI keeps the module of every component that would have served the communicator.
 */
#ifndef COLL_POWERAWARE_COMPONENTS_H
#define COLL_POWERAWARE_COMPONENTS_H

#include "module.h"

/* A reference to the module of each function in a table.  A stock function that gives way puts
   another one in its place there, with its reference. */
void coll_poweraware_retain_modules(mca_coll_base_comm_coll_t *table);
void coll_poweraware_release_modules(mca_coll_base_comm_coll_t *table);

/* X(constant, name): serve every communicator by messages, and need nothing to be set up. */
#define COLL_POWERAWARE_COMPONENTS(X) X(BASIC, basic) X(TUNED, tuned)
typedef enum coll_poweraware_component {
#define COLL_POWERAWARE_CONSTANT(constant, name) COLL_POWERAWARE_##constant,
    COLL_POWERAWARE_COMPONENTS(COLL_POWERAWARE_CONSTANT)
#undef COLL_POWERAWARE_CONSTANT
        COLL_POWERAWARE_NUM_COMPONENTS
} coll_poweraware_component_t;

/* [component]: bits of the collectives in which this rank has a function of it that is not the
   selected one. */
typedef struct coll_poweraware_offers {
    uint32_t collectives[COLL_POWERAWARE_NUM_COMPONENTS];
} coll_poweraware_offers_t;
coll_poweraware_offers_t coll_poweraware_offers_of(const mca_coll_poweraware_module_t *module);

/* [component]: the selected functions, but for those that all ranks have of the component. */
typedef struct coll_poweraware_others {
    coll_poweraware_offers_t offers; /* of all ranks */
    mca_coll_base_comm_coll_t tables[COLL_POWERAWARE_NUM_COMPONENTS];
} coll_poweraware_others_t;

/* NULL: out of memory. */
coll_poweraware_others_t *coll_poweraware_others_new(const mca_coll_poweraware_module_t *module,
                                                     coll_poweraware_offers_t offers_of_all);
/* NULL is allowed. */
void coll_poweraware_others_free(coll_poweraware_others_t *others);

static inline bool coll_poweraware_has(const coll_poweraware_others_t *others,
                                       coll_poweraware_component_t component, int collective)
{
    return NULL != others && 0 != (others->offers.collectives[component] >> collective & 1);
}

#endif
