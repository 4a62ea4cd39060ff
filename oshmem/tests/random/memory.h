/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * This PE's memory, and what must be in it at the end of an epoch.
 *
 * It begins with random bytes that every PE can compute for all PEs.
 */
#ifndef RSH_MEMORY_H
#define RSH_MEMORY_H

#include "program.h"

typedef struct rsh_memory {
    int pe;
    int pes;
    uint64_t seed; /* of the epoch */
    unsigned char *base[RSH_ARENAS];
    unsigned char *expected[RSH_ARENAS];
    size_t used[RSH_ARENAS];
} rsh_memory_t;

/* Collective; returns false where there is no memory. */
bool rsh_memory_open(rsh_memory_t *memory, int pe, int pes);
void rsh_memory_close(rsh_memory_t *memory);

/* The beginning of an epoch. */
void rsh_memory_fill(rsh_memory_t *memory, const rsh_epoch_t *epoch);

static inline unsigned char *rsh_at(const rsh_memory_t *memory, const rsh_place_t *place)
{
    return memory->base[place->arena] + place->offset;
}
static inline unsigned char *rsh_expected(const rsh_memory_t *memory, const rsh_place_t *place)
{
    return memory->expected[place->arena] + place->offset;
}

/* Bytes that a PE has at a place, from byte `first` of it on, at the beginning. */
void rsh_initial(const rsh_memory_t *memory, int pe, const rsh_place_t *place, size_t first,
                 size_t bytes, void *to);
/* Has that at its beginning, and expects it. */
void rsh_store(rsh_memory_t *memory, const rsh_place_t *place, size_t first, const void *from,
               size_t bytes);
/* What a program does with a buffer once it may: writes over it, and expects that. */
void rsh_scribble(const rsh_memory_t *memory, const rsh_place_t *place);
void rsh_expect_scribble(const rsh_memory_t *memory, const rsh_place_t *place);
/* Takes over what is there. */
void rsh_accept(const rsh_memory_t *memory, const rsh_place_t *place);

/* Whether bytes are as expected; else the first that is not. */
bool rsh_memory_right(const unsigned char *have, const unsigned char *want, size_t bytes,
                      size_t *at);

#endif
