/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A topology whose binding is told instead of asked, for machines that this one is not (tests).
 */
#ifndef PWR_TOPO_PRIVATE_H
#define PWR_TOPO_PRIVATE_H

#include "pwr/topo.h"

/* As pwr_topo_open, bound to cpulist ("0-3,8", Linux form).  ARG when it is not such a list or
   names no CPU of the machine; NULL: ask the kernel. */
pwr_status_t pwr_topo_open_with_binding(const pwr_env_t *env, const char *cpulist,
                                        pwr_topo_t **topo);

#endif
