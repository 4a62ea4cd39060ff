/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Arenas: of the symmetric heap, symmetric data outside it, and memory that is not symmetric.
 */
#include "memory.h"

#include <shmem.h>

#include <stdlib.h>
#include <string.h>

enum { HEAP = 4 << 20, STATIC = 1 << 20, PRIVATE = 4 << 20, WORD = sizeof(uint64_t) };

const size_t rsh_arena_bytes[RSH_ARENAS] = {HEAP, STATIC, PRIVATE};

/* Not static: OpenSHMEM finds it among the program's data. */
extern unsigned char rsh_static_arena[STATIC];
_Alignas(64) unsigned char rsh_static_arena[STATIC];

bool rsh_memory_open(rsh_memory_t *memory, int pe, int pes)
{
    bool fine = true;
    memset(memory, 0, sizeof *memory);
    memory->pe = pe;
    memory->pes = pes;
    memory->base[RSH_HEAP] = shmem_align(64, HEAP);
    memory->base[RSH_STATIC] = rsh_static_arena;
    memory->base[RSH_PRIVATE] = aligned_alloc(64, PRIVATE);
    for (int arena = 0; arena < RSH_ARENAS; ++arena) {
        memory->expected[arena] = malloc(rsh_arena_bytes[arena]);
        fine = fine && NULL != memory->base[arena] && NULL != memory->expected[arena];
    }
    return fine;
}

void rsh_memory_close(rsh_memory_t *memory)
{
    for (int arena = 0; arena < RSH_ARENAS; ++arena) {
        free(memory->expected[arena]);
    }
    free(memory->base[RSH_PRIVATE]);
    shmem_free(memory->base[RSH_HEAP]);
}

static uint64_t key_of(uint64_t seed, int pe, rsh_arena_t arena)
{
    return diff_hash(seed, (uint64_t)pe, (uint64_t)arena);
}

static uint64_t word_of(uint64_t key, size_t index)
{
    return diff_mix(key + index * 0x9E3779B97F4A7C15u);
}

void rsh_memory_fill(rsh_memory_t *memory, const rsh_epoch_t *epoch)
{
    memory->seed = epoch->seed;
    for (int arena = 0; arena < RSH_ARENAS; ++arena) {
        uint64_t key = key_of(epoch->seed, memory->pe, (rsh_arena_t)arena);
        memory->used[arena] = (epoch->used[arena] + WORD - 1) / WORD * WORD;
        for (size_t at = 0; at < memory->used[arena]; at += WORD) {
            uint64_t word = word_of(key, at / WORD);
            memcpy(memory->base[arena] + at, &word, WORD);
            memcpy(memory->expected[arena] + at, &word, WORD);
        }
    }
}

void rsh_initial(const rsh_memory_t *memory, int pe, const rsh_place_t *place, size_t first,
                 size_t bytes, void *to)
{
    uint64_t key = key_of(memory->seed, pe, place->arena);
    size_t at = place->offset + first;
    for (size_t done = 0; done < bytes;) {
        uint64_t word = word_of(key, at / WORD);
        size_t skip = at % WORD;
        size_t part = WORD - skip < bytes - done ? WORD - skip : bytes - done;
        memcpy((unsigned char *)to + done, (unsigned char *)&word + skip, part);
        done += part;
        at += part;
    }
}

void rsh_store(rsh_memory_t *memory, const rsh_place_t *place, size_t first, const void *from,
               size_t bytes)
{
    memcpy(rsh_at(memory, place) + first, from, bytes);
    memcpy(rsh_expected(memory, place) + first, from, bytes);
}

void rsh_scribble(const rsh_memory_t *memory, const rsh_place_t *place)
{
    memset(rsh_at(memory, place), 0x5E, place->bytes);
}

void rsh_expect_scribble(const rsh_memory_t *memory, const rsh_place_t *place)
{
    memset(rsh_expected(memory, place), 0x5E, place->bytes);
}

void rsh_accept(const rsh_memory_t *memory, const rsh_place_t *place)
{
    memcpy(rsh_expected(memory, place), rsh_at(memory, place), place->bytes);
}

bool rsh_memory_right(const unsigned char *have, const unsigned char *want, size_t bytes,
                      size_t *at)
{
    if (0 == memcmp(have, want, bytes)) {
        return true;
    }
    for (*at = 0; have[*at] == want[*at]; ++*at) {
        continue;
    }
    return false;
}
