/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernels as texts for a driver, compiled to PTX (kernels/ptx): reduce.cu and team.cu, one
 * module per type, and copy.cu.
 */
#ifndef PWR_GPU_MODULES_H
#define PWR_GPU_MODULES_H

#include "pwr_gpu/elements.h"

typedef struct pwr_gpu_module {
    const char *name; /* of the type */
    unsigned bytes;   /* of an element */
    const char *ptx;
} pwr_gpu_module_t;

extern const pwr_gpu_module_t pwr_gpu_modules[PWR_GPU_NUM_TYPES];
extern const char pwr_gpu_ptx_copy[];

/* team.cu: those of the types of MPI, else NULL; and the probe. */
extern const char *const pwr_gpu_team_modules[PWR_GPU_NUM_TYPES];
extern const char pwr_gpu_ptx_team_probe[];

#endif
