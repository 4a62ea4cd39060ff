/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Eager messages to other nodes (contract: pwr_ompi/eager.h).
 */
#include "pwr_ompi/compat.h"

#include "pwr_ompi/eager.h"
#include "pwr_ompi/transport.h"

#include "opal/mca/btl/base/base.h"

/* More than ob1's headers, which count as a part of the message: up to about 400. */
enum { HEADER_BYTES = 1024 };

/* One for each network interface. */
static uint64_t least_eager_of_tcp(void)
{
    uint64_t least = 0;
    mca_btl_base_selected_module_t *selected;
    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    {
        const mca_btl_base_module_t *btl = selected->btl_module;
        if (pwr_btl_is(btl, "self") || pwr_btl_is_shared_memory(btl)) {
            continue;
        }
        if (!pwr_btl_is(btl, "tcp")) {
            return 0;
        }
        least = 0 == least || btl->btl_eager_limit < least ? btl->btl_eager_limit : least;
    }
    return least;
}

uint64_t pwr_eager_bytes(void)
{
    uint64_t bytes = pwr_pml_is("ob1") ? least_eager_of_tcp() : 0;
    return bytes > HEADER_BYTES ? bytes - HEADER_BYTES : 0;
}
