/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies to targets that are too large for the caches: stores that pass them by need not read a
 * line before it is written.  Elsewhere memcpy.
 */
#include "node.h"

#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>

/* bytes: of all targets of the node.  Measured with bench/shnode, 2 CPUs with 32 MiB of L3 cache:
   fcollect of 64 MiB takes 0.84 of the time; at 16 MiB and below it is no faster. */
bool shnode_streams(size_t bytes)
{
    static size_t cache;
    if (cache == 0) {
        long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
        cache = l3 > 0 ? (size_t)l3 : (size_t)32 * 1024 * 1024;
    }
    return bytes > cache;
}

void shnode_copy(void *to, const void *from, size_t bytes, bool streams)
{
    size_t head = -(uintptr_t)to % LINE;
    if (!streams || bytes < head + LINE) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    char *t = (char *)to + head;
    const char *f = (const char *)from + head;
    size_t lines = (bytes - head) / LINE;
    for (size_t i = 0; i < lines; i++, t += LINE, f += LINE) {
        __m128i a = _mm_loadu_si128((const __m128i *)f),
                b = _mm_loadu_si128((const __m128i *)f + 1);
        __m128i c = _mm_loadu_si128((const __m128i *)f + 2),
                d = _mm_loadu_si128((const __m128i *)f + 3);
        _mm_stream_si128((__m128i *)t, a);
        _mm_stream_si128((__m128i *)t + 1, b);
        _mm_stream_si128((__m128i *)t + 2, c);
        _mm_stream_si128((__m128i *)t + 3, d);
    }
    memcpy(t, f, bytes - head - lines * LINE);
}

/* What has been streamed is seen by who sees what is stored next. */
void shnode_end_copies(bool streamed)
{
    if (streamed) {
        _mm_sfence();
    }
}
#else
bool shnode_streams(size_t bytes)
{
    (void)bytes;
    return false;
}

void shnode_copy(void *to, const void *from, size_t bytes, bool streams)
{
    (void)streams;
    memcpy(to, from, bytes);
}

void shnode_end_copies(bool streams)
{
    (void)streams;
}
#endif
