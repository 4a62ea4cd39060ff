/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Eager messages to other nodes (contract: pwr_ompi/eager.h).
 */
#include "pwr_ompi/compat.h"

#include "pwr_ompi/eager.h"

#include <string.h>

#include "ompi/mca/pml/base/base.h"
#include "opal/mca/btl/base/base.h"

/* More than ob1's headers, which count as a part of the message: up to about 400. */
enum { HEADER_BYTES = 1024 };

static bool is_within_node(const char *btl)
{
    static const char *const names[] = {"self", "vader", "sm"};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        is = is || 0 == strcmp(names[i], btl);
    }
    return is;
}

/* One for each network interface. */
static uint64_t least_eager_of_tcp(void)
{
    uint64_t least = 0;
    mca_btl_base_selected_module_t *selected;
    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    {
        const mca_btl_base_module_t *btl = selected->btl_module;
        const char *name = btl->btl_component->btl_version.mca_component_name;
        if (is_within_node(name)) {
            continue;
        }
        if (0 != strcmp("tcp", name)) {
            return 0;
        }
        least = 0 == least || btl->btl_eager_limit < least ? btl->btl_eager_limit : least;
    }
    return least;
}

uint64_t pwr_eager_bytes(void)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    uint64_t bytes = 0 == strcmp("ob1", pml) ? least_eager_of_tcp() : 0;
    return bytes > HEADER_BYTES ? bytes - HEADER_BYTES : 0;
}
