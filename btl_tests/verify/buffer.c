/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Guard zones around message buffers.
 */
#include "config.h"

#include "pwr_verify/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Not zero and not a repeated byte: a stray memset must not leave a zone looking intact. */
static unsigned char guard_byte(size_t index)
{
    return (unsigned char)(0xa5 ^ (index * 29));
}

bool pwr_buffer_open(pwr_buffer_t *buffer, size_t capacity)
{
    const size_t zones = 2 * (size_t)PWR_BUFFER_GUARD;
    *buffer = (pwr_buffer_t){.capacity = capacity};
    if (capacity > SIZE_MAX - zones ||
        posix_memalign(&buffer->allocation, PWR_BUFFER_GUARD, capacity + zones) != 0) {
        return false;
    }
    buffer->data = (unsigned char *)buffer->allocation + PWR_BUFFER_GUARD;
    /* Pages are placed (NUMA) and paid for now, not in the first timed call. */
    memset(buffer->data, 0, capacity);
    pwr_buffer_use(buffer, capacity);
    return true;
}

void pwr_buffer_use(pwr_buffer_t *buffer, size_t used)
{
    unsigned char *before = buffer->data - PWR_BUFFER_GUARD;
    buffer->used = used;
    for (size_t i = 0; i < PWR_BUFFER_GUARD; i++) {
        before[i] = guard_byte(i);
        buffer->data[used + i] = guard_byte(i);
    }
}

static bool zone_intact(const unsigned char *zone, size_t *index)
{
    for (size_t i = 0; i < PWR_BUFFER_GUARD; i++) {
        if (zone[i] != guard_byte(i)) {
            *index = i;
            return false;
        }
    }
    return true;
}

bool pwr_buffer_check(const pwr_buffer_t *buffer, ptrdiff_t *offset)
{
    size_t index;
    if (!zone_intact(buffer->data - PWR_BUFFER_GUARD, &index)) {
        *offset = (ptrdiff_t)index - PWR_BUFFER_GUARD;
        return false;
    }
    if (!zone_intact(buffer->data + buffer->used, &index)) {
        *offset = (ptrdiff_t)(buffer->used + index);
        return false;
    }
    return true;
}

void pwr_buffer_release(pwr_buffer_t *buffer)
{
    free(buffer->allocation);
    *buffer = (pwr_buffer_t){0};
}
