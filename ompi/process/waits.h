/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How ranks of this process wait (private to ompi/process).
 */
#ifndef PWR_OMPI_WAITS_H
#define PWR_OMPI_WAITS_H

#include "pwr/policy.h"
#include "pwr_ompi/process.h"

/* In MPI_Init, once the pml is selected and levers are opened.  policy: what waiting costs here;
   NULL: not known. */
void pwr_waits_prepare(const pwr_process_config_t *config, const pwr_policy_t *policy,
                       bool mpi_threads);

#endif
