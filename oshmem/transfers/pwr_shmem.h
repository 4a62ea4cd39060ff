/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Transfers of many fragments between PEs of OpenSHMEM 1.4, by the pattern that is fastest where the
 * program runs: pwr_shmem_putv(3).
 */
#ifndef PWR_SHMEM_H
#define PWR_SHMEM_H

#include <shmem.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of a transfer: bytes from source, which is any memory, to dest, which is symmetric. */
typedef struct pwr_shmem_fragment {
    void *dest;
    const void *source;
    size_t bytes; /* 0: neither address is looked at */
} pwr_shmem_fragment_t;

typedef struct pwr_shmem_fragments {
    const pwr_shmem_fragment_t *items; /* may be freed when the call has returned */
    size_t count;
} pwr_shmem_fragments_t;

/* Puts all fragments to a PE.  As after shmem_putmem_nbi of each, in any order: the data are in
 * place, and sources may be written again, after shmem_ctx_quiet(ctx) (SHMEM_CTX_DEFAULT:
 * shmem_quiet), and shmem_ctx_fence orders them.  Destinations must not overlap.
 * Returns 0, or EINVAL where pe is none of the program's or items is NULL: nothing is put then.
 * Threads may call it as they may call shmem_ctx_putmem_nbi on ctx. */
int pwr_shmem_putv(shmem_ctx_t ctx, const pwr_shmem_fragments_t *fragments, int pe);

/* How pwr_shmem_putv of such fragments is done: "fragments" (a put for each), "pack" (a put for all
 * that are neighbours at the target), "copy" (stores into the PE's memory); NULL: it still tries. */
const char *pwr_shmem_putv_pattern(const pwr_shmem_fragments_t *fragments, int pe);

#ifdef __cplusplus
}
#endif
#endif
