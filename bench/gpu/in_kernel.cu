/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Rows of reductions in one kernel: what gpu_collectives measures as in-kernel, and an example of
 * poweraware_device.h.
 */
#include <poweraware_device.h>

/* in, out: [count] doubles of this rank. */
extern "C" __global__ void __launch_bounds__(384, 2)
    in_kernel(poweraware_team_t *team, const double *in, double *out, size_t count, int calls)
{
    for (int i = 0; i < calls; ++i) {
        poweraware_allreduce_sum_f64(team, POWERAWARE_GRID, in, out, count);
    }
}
