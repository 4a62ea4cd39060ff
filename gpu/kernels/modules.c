/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of kernels; their texts are made from kernels/ptx when we are built (Makefile.am).
 */
#include "kernels/modules.h"

#define TEXT(constant, name, bytes) extern const char pwr_gpu_ptx_##name[];
PWR_GPU_TYPES(TEXT)
#undef TEXT

const pwr_gpu_module_t pwr_gpu_modules[PWR_GPU_NUM_TYPES] = {
#define ROW(constant, name, bytes) [PWR_GPU_##constant] = {#name, bytes, pwr_gpu_ptx_##name},
    PWR_GPU_TYPES(ROW)
#undef ROW
};
