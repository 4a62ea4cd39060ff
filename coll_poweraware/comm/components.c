/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Functions of other coll components (comm/components.h).
 */
#include "comm/components.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/coll/base/coll_base_util.h"

typedef mca_coll_base_comm_coll_t table_t;

#define NAME(constant, name) [COLL_POWERAWARE_##constant] = #name,
static const char *const names[] = {COLL_POWERAWARE_COMPONENTS(NAME)};
#undef NAME

void coll_poweraware_retain_modules(mca_coll_base_comm_coll_t *table)
{
#define EACH(name)                                                                                 \
    if (NULL != table->coll_##name && NULL != table->coll_##name##_module) {                       \
        OBJ_RETAIN(table->coll_##name##_module);                                                   \
    }
    COLL_POWERAWARE_FOR_ALL
#undef EACH
}

void coll_poweraware_release_modules(mca_coll_base_comm_coll_t *table)
{
#define EACH(name)                                                                                 \
    if (NULL != table->coll_##name && NULL != table->coll_##name##_module) {                       \
        OBJ_RELEASE(table->coll_##name##_module);                                                  \
    }
    COLL_POWERAWARE_FOR_ALL
#undef EACH
}

static mca_coll_base_module_t *module_of(const mca_coll_poweraware_module_t *m, const char *name)
{
    mca_coll_base_avail_coll_t *avail;
    OPAL_LIST_FOREACH(avail, m->saved.module_list, mca_coll_base_avail_coll_t)
    {
        if (0 == strcmp(name, avail->ac_component_name)) {
            return avail->ac_module;
        }
    }
    return NULL;
}

coll_poweraware_offers_t coll_poweraware_offers_of(const mca_coll_poweraware_module_t *m)
{
    coll_poweraware_offers_t offers = {{0}};
    for (int c = 0; c < COLL_POWERAWARE_NUM_COMPONENTS; ++c) {
        const mca_coll_base_module_t *other = module_of(m, names[c]);
#define OFFER(constant, name, arguments, bytes, known)                                             \
    if (NULL != other && NULL != other->coll_##name &&                                             \
        m->saved.coll_##name != other->coll_##name) {                                              \
        offers.collectives[c] |= UINT32_C(1) << COLL_POWERAWARE_##constant;                        \
    }
        COLL_POWERAWARE_HANDLED(OFFER)
#undef OFFER
    }
    return offers;
}

/* What its functions call is the component's, too, where it has that. */
static void fill(table_t *table, const table_t *saved, mca_coll_base_module_t *other)
{
    *table = *saved;
#define EACH(name)                                                                                 \
    if (NULL != other && NULL != other->coll_##name) {                                             \
        table->coll_##name = other->coll_##name;                                                   \
        table->coll_##name##_module = other;                                                       \
    }
    COLL_POWERAWARE_FOR_ALL
#undef EACH
    coll_poweraware_retain_modules(table);
}

coll_poweraware_others_t *coll_poweraware_others_new(const mca_coll_poweraware_module_t *m,
                                                     coll_poweraware_offers_t offers_of_all)
{
    coll_poweraware_others_t *others = malloc(sizeof *others);
    if (NULL != others) {
        others->offers = offers_of_all;
        for (int c = 0; c < COLL_POWERAWARE_NUM_COMPONENTS; ++c) {
            fill(&others->tables[c], &m->saved, module_of(m, names[c]));
        }
    }
    return others;
}

void coll_poweraware_others_free(coll_poweraware_others_t *others)
{
    for (int c = 0; NULL != others && c < COLL_POWERAWARE_NUM_COMPONENTS; ++c) {
        coll_poweraware_release_modules(&others->tables[c]);
    }
    free(others);
}
