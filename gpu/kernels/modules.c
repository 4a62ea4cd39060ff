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

#define TEAMS(X) X(I32, i32) X(U32, u32) X(I64, i64) X(U64, u64) X(F32, f32) X(F64, f64)
#define TEXT(constant, name) extern const char pwr_gpu_ptx_team_##name[];
TEAMS(TEXT)
#undef TEXT

const char *const pwr_gpu_team_modules[PWR_GPU_NUM_TYPES] = {
#define ROW(constant, name) [PWR_GPU_##constant] = pwr_gpu_ptx_team_##name,
    TEAMS(ROW)
#undef ROW
};
