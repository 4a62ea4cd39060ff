/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade on a topology that is told instead of read, for machines that this one is not (tests).
 */
#ifndef PWR_POWER_PRIVATE_H
#define PWR_POWER_PRIVATE_H

#include "pwr/power.h"
#include "topo/watch_private.h"

/* As pwr_power_open; on PWR_OK the object owns topo.  kernel answers for it what the binding is
   now; NULL: the real one. */
pwr_status_t pwr_power_open_on(const pwr_env_t *env, const pwr_power_config_t *config,
                               pwr_topo_t *topo, const pwr_watch_kernel_t *kernel,
                               pwr_power_t **power);

#endif
