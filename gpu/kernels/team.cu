/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Kernels of a team: each rank launches one for a reduction, and they do it among them
 * (poweraware_device.h).  PWR_GPU_ELEMENT: as for reduce.cu; without it, the probe.
 */
#include "target.h"

#include "poweraware_device.h"

/* op: PWR_IS_sum and so on; it does not have a kernel each, as they are large. */
#define TEAM_KERNEL(name, T, A, to_a, to_t, add, mul)                                              \
    KERNEL_OF(PWR_GPU_TEAM_BLOCK, PWR_GPU_TEAM_BLOCKS)                                             \
    pwr_team_##name(poweraware_team_t *team, const void *in, void *out, index_t count, int root,   \
                    int op)                                                                        \
    {                                                                                              \
        pwr_team_reduce(team, POWERAWARE_GRID, in, out, count, sizeof(T), root, PWR_IS_##name,     \
                        op);                                                                       \
    }

#ifdef PWR_GPU_ELEMENT
#define OF_ELEMENT(name) PWR_ELEMENT_##name(TEAM_KERNEL)
#define OF_ELEMENT_EXPANDED(name) OF_ELEMENT(name)
OF_ELEMENT_EXPANDED(PWR_GPU_ELEMENT)
#else
#ifdef POWERAWARE_ON_HOST
PWR_ELEMENTS(TEAM_KERNEL)
#endif
/* *ns: how long the slowest block needs for so many exchanges, after a first one.  Kernels that
   take turns on a GPU need milliseconds for each; those that are there at once, microseconds. */
KERNEL_OF(PWR_GPU_TEAM_BLOCK, PWR_GPU_TEAM_BLOCKS)
pwr_team_probe(poweraware_team_t *team, index_t *ns, int exchanges)
{
    poweraware_barrier(team, POWERAWARE_GRID);
    const index_t begin = NOW_NS;
    for (int i = 0; i < exchanges; ++i) {
        poweraware_barrier(team, POWERAWARE_GRID);
    }
    if (0 == pwr_thread()) {
        ns[pwr_block()] = NOW_NS - begin;
    }
}
#endif
