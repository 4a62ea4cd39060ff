/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The ways to put fragments.  In the words of Jana et al.: fragments is PPQ, pack is MMPQ.  Their
 * AMM, by which the target copies fragments to their places, is not needed: what is packed are
 * neighbours at the target.  Others could be packed only with the target's help.
 */
#include "ways.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Over TCP larger buffers gain nothing, and a buffer should stay in the second-level cache. */
enum { BUFFER = 256 * 1024 };

pwr_shape_t pwr_shape_of(const pwr_shmem_fragments_t *fragments)
{
    pwr_shape_t shape = {0};
    const char *end = NULL;
    for (size_t i = 0; i < fragments->count; i++) {
        const pwr_shmem_fragment_t *each = &fragments->items[i];
        char *dest = each->dest;
        if (each->bytes == 0) {
            continue;
        }
        shape.low = shape.fragments == 0 || dest < shape.low ? dest : shape.low;
        shape.high = shape.fragments == 0 || dest > shape.high ? dest : shape.high;
        shape.runs += shape.fragments == 0 || dest != end;
        shape.fragments++;
        shape.bytes += each->bytes;
        end = dest + each->bytes;
    }
    return shape;
}

/* Segments of symmetric memory (heap, static data) are mapped as a whole.  If two addresses have the
 * same distance, all between them have: implementations map two segments at most. */
bool pwr_shape_is_mapped(const pwr_shape_t *shape, int pe, ptrdiff_t *distance)
{
    const char *low = shmem_ptr(shape->low, pe);
    const char *high = shmem_ptr(shape->high, pe);
    if (low == NULL || high == NULL || low - shape->low != high - shape->high) {
        return false;
    }
    *distance = low - shape->low;
    return true;
}

void pwr_way_fragments(shmem_ctx_t ctx, const pwr_shmem_fragments_t *fragments, int pe)
{
    for (size_t i = 0; i < fragments->count; i++) {
        const pwr_shmem_fragment_t *each = &fragments->items[i];
        if (each->bytes > 0) {
            shmem_ctx_putmem_nbi(ctx, each->dest, each->source, each->bytes, pe);
        }
    }
}

void pwr_way_copy(const pwr_shmem_fragments_t *fragments, ptrdiff_t distance)
{
    for (size_t i = 0; i < fragments->count; i++) {
        const pwr_shmem_fragment_t *each = &fragments->items[i];
        if (each->bytes > 0) {
            memcpy((char *)each->dest + distance, each->source, each->bytes);
        }
    }
    /* release: for the target, which reads after a signal of ours */
    atomic_thread_fence(memory_order_release);
}

/* ---- pack ---- */

static pthread_key_t buffers;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&buffers, free) == 0;
}

/* The calling thread's, NULL where there is no memory.  It is not symmetric: making it so would be
 * collective. */
static char *buffer_of_thread(void)
{
    pthread_once(&once, make_key);
    if (!has_key) {
        return NULL;
    }
    char *buffer = pthread_getspecific(buffers);
    if (buffer == NULL) {
        buffer = malloc(BUFFER);
        if (buffer != NULL && pthread_setspecific(buffers, buffer) != 0) {
            free(buffer);
            buffer = NULL;
        }
    }
    return buffer;
}

/* What is in the buffer, and where it goes. */
typedef struct packed {
    char *buffer;
    char *dest;
    size_t bytes;
} packed_t;

/* A blocking put: when it returns the buffer may be filled again. */
static void send(packed_t *packed, shmem_ctx_t ctx, int pe)
{
    if (packed->bytes > 0) {
        shmem_ctx_putmem(ctx, packed->dest, packed->buffer, packed->bytes, pe);
        packed->bytes = 0;
    }
}

static void pack(packed_t *packed, const pwr_shmem_fragment_t *each, shmem_ctx_t ctx, int pe)
{
    char *dest = each->dest;
    if (dest != packed->dest + packed->bytes || packed->bytes + each->bytes > BUFFER) {
        send(packed, ctx, pe);
    }
    if (each->bytes > BUFFER / 2) { /* what a copy would not gain anything for */
        send(packed, ctx, pe);
        shmem_ctx_putmem_nbi(ctx, dest, each->source, each->bytes, pe);
        return;
    }
    if (packed->bytes == 0) {
        packed->dest = dest;
    }
    memcpy(packed->buffer + packed->bytes, each->source, each->bytes);
    packed->bytes += each->bytes;
}

void pwr_way_pack(shmem_ctx_t ctx, const pwr_shmem_fragments_t *fragments, int pe)
{
    packed_t packed = {.buffer = buffer_of_thread()};
    if (packed.buffer == NULL) {
        pwr_way_fragments(ctx, fragments, pe);
        return;
    }
    for (size_t i = 0; i < fragments->count; i++) {
        if (fragments->items[i].bytes > 0) {
            pack(&packed, &fragments->items[i], ctx, pe);
        }
    }
    send(&packed, ctx, pe);
}
