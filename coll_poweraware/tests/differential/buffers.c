/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Buffers with guards.
 */
#include "buffers.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, ALIGNMENT = 16 };

static unsigned char *allocate(size_t bytes)
{
    unsigned char *memory = malloc(bytes);
    if (NULL == memory) {
        fprintf(stderr, "check_collectives: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

void diff_buffer_make(diff_buffer_t *buffer, ptrdiff_t low, ptrdiff_t high)
{
    ptrdiff_t below = low < 0 ? (-low + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
    ptrdiff_t above = high > 0 ? high : 0;
    buffer->bytes = (size_t)(below + above) + 2 * GUARD;
    buffer->base = allocate(buffer->bytes);
    buffer->expected_base = allocate(buffer->bytes);
    buffer->data = buffer->base + GUARD + below;
    buffer->expected = buffer->expected_base + GUARD + below;
}

void diff_buffer_free(diff_buffer_t *buffer)
{
    free(buffer->base);
    free(buffer->expected_base);
}

void diff_buffer_fill(diff_buffer_t *buffer, unsigned char pattern)
{
    memset(buffer->base, pattern, buffer->bytes);
    memset(buffer->expected_base, pattern, buffer->bytes);
}

bool diff_buffer_right(const diff_buffer_t *buffer, ptrdiff_t *at)
{
    if (0 == memcmp(buffer->base, buffer->expected_base, buffer->bytes)) {
        return true;
    }
    size_t i = 0;
    while (buffer->base[i] == buffer->expected_base[i]) {
        ++i;
    }
    *at = (ptrdiff_t)i - (buffer->data - buffer->base);
    return false;
}
