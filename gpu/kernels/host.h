/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Kernels as functions of the host: what a C compiler needs to read them.  For tests.
 */
#ifndef PWR_GPU_KERNELS_HOST_H
#define PWR_GPU_KERNELS_HOST_H

#include <stdlib.h>
#include <time.h>

#include "pwr/clock.h"

#include "kernels.h"

/* Which thread of the device the calling one is. */
extern _Thread_local struct pwr_host_place {
    unsigned thread, threads; /* of a block */
    unsigned block, blocks;
} pwr_host_place;
/* Of the program that has kernels with blocks that sync. */
void pwr_host_sync(void);

/* ---- for target.h ---- */

#define DEVICE static inline
#define KERNEL_OF(threads, per_multiprocessor) void
#define TABLE const pwr_gpu_table_t
#define FIRST                                                                                      \
    ((unsigned long long)pwr_host_place.block * pwr_host_place.threads + pwr_host_place.thread)
#define STEP ((unsigned long long)pwr_host_place.blocks * pwr_host_place.threads)

/* ---- for poweraware_device.h ---- */

#define POWERAWARE_DEVICE static inline
#define PWR_ALIGNED_16 __attribute__((aligned(16)))
#define PWR_UNROLLED
#define PWR_ROLLED

POWERAWARE_DEVICE unsigned pwr_thread(void)
{
    return pwr_host_place.thread;
}

POWERAWARE_DEVICE unsigned pwr_threads(void)
{
    return pwr_host_place.threads;
}

POWERAWARE_DEVICE unsigned pwr_block(void)
{
    return pwr_host_place.block;
}

POWERAWARE_DEVICE unsigned pwr_blocks(void)
{
    return pwr_host_place.blocks;
}

POWERAWARE_DEVICE void pwr_sync(void)
{
    pwr_host_sync();
}

POWERAWARE_DEVICE void pwr_trap(void)
{
    abort();
}

POWERAWARE_DEVICE void pwr_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

POWERAWARE_DEVICE void pwr_store_release(unsigned *at, unsigned value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

POWERAWARE_DEVICE unsigned pwr_load_acquire(unsigned *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

POWERAWARE_DEVICE void pwr_store_words(unsigned long long *at, unsigned long long a,
                                       unsigned long long b)
{
    __atomic_store_n(at, a, __ATOMIC_RELAXED);
    __atomic_store_n(at + 1, b, __ATOMIC_RELAXED);
}

POWERAWARE_DEVICE void pwr_load_words(unsigned long long *at, unsigned long long *a,
                                      unsigned long long *b)
{
    *a = __atomic_load_n(at, __ATOMIC_RELAXED);
    *b = __atomic_load_n(at + 1, __ATOMIC_RELAXED);
}

/* ---- the kernels ---- */

#include "poweraware_device.h"
#include "pwr_gpu/elements.h"

#define PWR_GPU_HOST_KERNEL(op, name)                                                              \
    void pwr_##op##_##name(const pwr_gpu_table_t table, int num_in, int num_out,                   \
                           unsigned long long vectors, unsigned long long count);
#define PWR_GPU_HOST_KERNELS(constant, name, bytes)                                                \
    PWR_GPU_HOST_KERNEL(sum, name)                                                                 \
    PWR_GPU_HOST_KERNEL(prod, name)                                                                \
    PWR_GPU_HOST_KERNEL(min, name)                                                                 \
    PWR_GPU_HOST_KERNEL(max, name)
PWR_GPU_TYPES(PWR_GPU_HOST_KERNELS)
PWR_GPU_HOST_KERNEL(copy, 16)
PWR_GPU_HOST_KERNEL(copy, 8)
PWR_GPU_HOST_KERNEL(copy, 4)
PWR_GPU_HOST_KERNEL(copy, 1)

#define PWR_GPU_HOST_TEAM_KERNEL(constant, name, bytes)                                            \
    void pwr_team_##name(poweraware_team_t *team, const void *in, void *out,                       \
                         unsigned long long count, int root, int op);
PWR_GPU_TYPES(PWR_GPU_HOST_TEAM_KERNEL)
void pwr_team_probe(poweraware_team_t *team, unsigned long long *ns, int exchanges);

#endif
