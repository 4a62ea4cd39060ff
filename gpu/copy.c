/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies of blocks by one kernel (pwr_gpu/copy.h).
 */
#include "pwr_gpu/copy.h"

#include "engine.h"
#include "kernels/modules.h"

enum { MOST_BLOCKS = 1056 }; /* as many threads as the largest GPUs have room for */

typedef struct copies {
    pwr_gpu_table_t table;
    int num;                /* of blocks in it */
    pwr_gpu_address_t bits; /* of their addresses */
    bool begun;             /* something may be copied */
} copies_t;

static void *kernel_for(pwr_gpu_address_t bits, unsigned *width)
{
    static const char *const names[PWR_GPU_KERNELS] = {"pwr_copy_16", "pwr_copy_8", "pwr_copy_4",
                                                       "pwr_copy_1"};
    static const unsigned widths[PWR_GPU_KERNELS] = {PWR_GPU_VECTOR, 8, 4, 1};
    int i = 0;
    while (0 != bits % widths[i]) {
        ++i;
    }
    *width = widths[i];
    pwr_gpu_load(&pwr_gpu_engine.copies, pwr_gpu_ptx_copy, names);
    return pwr_gpu_engine.copies.kernel[i];
}

static bool launch(copies_t *c, size_t bytes)
{
    unsigned width;
    void *kernel = kernel_for(c->bits | bytes, &width);
    unsigned long long units = bytes / width;
    bool ok = NULL != kernel &&
              pwr_gpu_launch(pwr_gpu_engine.stream, kernel, &c->table, c->num, c->num, units, bytes,
                             MOST_BLOCKS, units * (unsigned long long)c->num);
    c->begun |= ok;
    c->num = 0;
    c->bits = 0;
    return ok;
}

static bool add(copies_t *c, pwr_gpu_address_t to, pwr_gpu_address_t from, size_t bytes)
{
    if (to == from) {
        return true;
    }
    c->table.in[c->num] = from;
    c->table.out[c->num++] = to;
    c->bits |= to | from;
    return c->num < PWR_GPU_MEMBERS || launch(c, bytes);
}

/* own: PWR_GPU_ALL_INPUTS, or whose input. */
static pwr_gpu_result_t copy(const pwr_gpu_offer_t *const *offers, int num, int own,
                             pwr_gpu_pattern_t pattern, size_t bytes)
{
    bool spreads = PWR_GPU_SCATTER == pattern || PWR_GPU_ALLTOALL == pattern;
    bool collects = PWR_GPU_GATHER == pattern || PWR_GPU_ALLTOALL == pattern;
    pwr_gpu_table_t all;
    copies_t copies = {.num = 0};
    int num_in, num_out;
    unsigned width;
    if (PWR_GPU_ALL_INPUTS != own && 0 == offers[own]->in.allocation) {
        return PWR_GPU_DONE;
    }
    if (!pwr_gpu_fill(&all, offers, num, own, &num_in, &num_out) || NULL == kernel_for(0, &width)) {
        return PWR_GPU_CANNOT;
    }
    bool ok = true;
    for (int o = 0; o < num_out && ok; ++o) {
        for (int i = 0; i < num_in && ok; ++i) {
            ok = 0 == all.in[i] || add(&copies, all.out[o] + (collects ? (unsigned)i * bytes : 0),
                                       all.in[i] + (spreads ? (unsigned)o * bytes : 0), bytes);
        }
    }
    ok = ok && (0 == copies.num || launch(&copies, bytes));
    return ok ? PWR_GPU_DONE : copies.begun ? PWR_GPU_FAILED : PWR_GPU_CANNOT;
}

pwr_gpu_result_t pwr_gpu_copy_own(const pwr_gpu_offer_t *const *offers, int num, int own,
                                  pwr_gpu_pattern_t pattern, size_t bytes)
{
    bool entered = pwr_gpu_enter();
    pwr_gpu_result_t result = entered ? copy(offers, num, own, pattern, bytes) : PWR_GPU_CANNOT;
    return pwr_gpu_finish(entered, result);
}

pwr_gpu_result_t pwr_gpu_copy(const pwr_gpu_offer_t *const *offers, int num,
                              pwr_gpu_pattern_t pattern, size_t bytes)
{
    return pwr_gpu_copy_own(offers, num, PWR_GPU_ALL_INPUTS, pattern, bytes);
}
