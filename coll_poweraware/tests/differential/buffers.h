/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A buffer between two guards, beside what all of its bytes must be after the call.
 */
#ifndef DIFF_BUFFERS_H
#define DIFF_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct diff_buffer {
    unsigned char *base;
    unsigned char *expected_base;
    size_t bytes;            /* of both, guards included */
    unsigned char *data;     /* what MPI is given: aligned, byte 0 of the datatypes */
    unsigned char *expected; /* the same place in what is expected */
} diff_buffer_t;

/* Room for bytes [low, high) seen from data. */
void diff_buffer_make(diff_buffer_t *buffer, ptrdiff_t low, ptrdiff_t high);
void diff_buffer_free(diff_buffer_t *buffer);
/* Every byte, guards and gaps included. */
void diff_buffer_fill(diff_buffer_t *buffer, unsigned char pattern);
/* Returns whether all is as expected; otherwise *at is the first wrong byte, seen from data. */
bool diff_buffer_right(const diff_buffer_t *buffer, ptrdiff_t *at);

#endif
