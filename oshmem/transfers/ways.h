/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What fragments look like, and the ways to put them.
 */
#ifndef PWR_SHMEM_WAYS_H
#define PWR_SHMEM_WAYS_H

#include "pwr_shmem.h"

#include <stdbool.h>

/* A run is a sequence of fragments each of which begins at the target where the one before ends. */
typedef struct pwr_shape {
    size_t fragments; /* that have bytes */
    size_t runs;
    size_t bytes;
    char *low, *high; /* first bytes of the lowest and of the highest fragment */
} pwr_shape_t;

pwr_shape_t pwr_shape_of(const pwr_shmem_fragments_t *fragments);

/* Whether the PE's memory can be stored into; distance: what is to be added to its symmetric
 * addresses then. */
bool pwr_shape_is_mapped(const pwr_shape_t *shape, int pe, ptrdiff_t *distance);

/* A put for each fragment. */
void pwr_way_fragments(shmem_ctx_t ctx, const pwr_shmem_fragments_t *fragments, int pe);

/* Runs are packed into a buffer of the calling thread, and each buffer is one put.  Without memory
 * for the buffer: as pwr_way_fragments. */
void pwr_way_pack(shmem_ctx_t ctx, const pwr_shmem_fragments_t *fragments, int pe);

/* Stores into the PE's memory. */
void pwr_way_copy(const pwr_shmem_fragments_t *fragments, ptrdiff_t distance);

#endif
