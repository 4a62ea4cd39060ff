/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Performance variables of MPI_T.
 */
#ifndef PWR_OMPI_PVARS_H
#define PWR_OMPI_PVARS_H

#include "pwr_ompi/process.h"

#include "opal/mca/base/mca_base_pvar.h"

/* In a component's register hook: sums over the accounts of this process, of all operations, and of
   each of num from first on.  note: what all descriptions end in. */
void pwr_pvars_register(const mca_base_component_t *component, unsigned first, unsigned num,
                        const char *note);

/* The latter alone, for a second component. */
void pwr_pvars_register_operations(const mca_base_component_t *component, unsigned first,
                                   unsigned num, const char *note);

/* One more of the component's own, unsigned long long: get with context, or, without get, what
   context points to. */
void pwr_pvar_register(const mca_base_component_t *component, const char *name, const char *help,
                       int class, mca_base_get_value_fn_t get, void *context);

#endif
