/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The patterns' transport by OpenSHMEM.
 */
#include "config.h"

#include "../../oshmem/transfers/pwr_shmem.h"

#include "transport.h"

#include <stdio.h>
#include <stdlib.h>

const char *const pwr_transport_library = "OpenSHMEM";

static int other;
static long *flag;       /* symmetric: the last word told to this PE, with its number */
static long told, heard; /* words so far */

char *pwr_transport_open(size_t bytes, int *process, int *processes)
{
    shmem_init();
    *process = shmem_my_pe();
    *processes = shmem_n_pes();
    other = 1 - *process;
    flag = shmem_calloc(1, sizeof *flag);
    char *memory = shmem_malloc(bytes);
    if (flag == NULL || memory == NULL) {
        fprintf(stderr, "patterns: no %zu bytes of symmetric memory: SHMEM_SYMMETRIC_SIZE\n", bytes);
        return NULL;
    }
    return memory;
}

void pwr_transport_close(void)
{
    shmem_finalize();
}

void pwr_transport_put(char *dest, const char *source, size_t bytes)
{
    shmem_putmem_nbi(dest, source, bytes, other);
}

void pwr_transport_get(char *dest, const char *source, size_t bytes)
{
    shmem_getmem_nbi(dest, source, bytes, other);
}

void pwr_transport_quiet(void)
{
    shmem_quiet();
}

bool pwr_transport_putv(const pwr_pieces_t *pieces, bool *is_learnt, const char **way)
{
    static pwr_shmem_fragment_t *items;
    static size_t room;
    if (room < pieces->count) {
        free(items);
        items = malloc(pieces->count * sizeof *items);
        room = items != NULL ? pieces->count : 0;
    }
    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < pieces->count; i++) {
        size_t at = i * pieces->bytes;
        items[i] =
            (pwr_shmem_fragment_t){pieces->dest + at, pieces->source + at, pieces->bytes};
    }
    pwr_shmem_fragments_t fragments = {items, pieces->count};
    pwr_shmem_putv(SHMEM_CTX_DEFAULT, &fragments, other);
    if (is_learnt != NULL) {
        *way = pwr_shmem_putv_pattern(&fragments, other);
        *is_learnt = *way != NULL;
    }
    return true;
}

/* As in the paper, by shmem_swap. */
void pwr_transport_tell(int word)
{
    shmem_long_atomic_swap(flag, ++told << 8 | word, other);
}

int pwr_transport_hear(void)
{
    shmem_long_wait_until(flag, SHMEM_CMP_GE, ++heard << 8);
    return (int)(*flag & 0xff);
}

void pwr_transport_meet(void)
{
    shmem_barrier_all();
}
