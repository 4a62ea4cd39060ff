/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which components of Open MPI carry messages, by their names.
 */
#ifndef PWR_OMPI_TRANSPORT_H
#define PWR_OMPI_TRANSPORT_H

#include "pwr_ompi/compat.h"

#include <stdbool.h>
#include <string.h>

#include "ompi/mca/pml/base/base.h"
#include "opal/mca/btl/btl.h"

static inline bool pwr_pml_is(const char *name)
{
    return 0 == strcmp(name, mca_pml_base_selected_component.pmlm_version.mca_component_name);
}

static inline bool pwr_btl_is(const mca_btl_base_module_t *btl, const char *name)
{
    return 0 == strcmp(name, btl->btl_component->btl_version.mca_component_name);
}

/* vader is called sm from 5.0 on. */
static inline bool pwr_btl_is_shared_memory(const mca_btl_base_module_t *btl)
{
    return pwr_btl_is(btl, "vader") || pwr_btl_is(btl, "sm");
}

#endif
