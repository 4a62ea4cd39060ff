/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Predefined datatypes as the oracle knows them: where their bytes lie and what they mean.
 *
 * An item is one value of a predefined datatype.  It has one part, or two (complex numbers, pairs
 * of a value and an index).  A part is 1, 2, 4 or 8 bytes without gaps.
 */
#ifndef DIFF_KINDS_H
#define DIFF_KINDS_H

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>

typedef enum diff_class {
    DIFF_TEXT, /* MPI_CHAR: moved, never reduced */
    DIFF_BITS, /* MPI_BYTE */
    DIFF_LOGICAL,
    DIFF_SIGNED,
    DIFF_UNSIGNED,
    DIFF_REAL,
    DIFF_COMPLEX,
    DIFF_SIGNED_PAIR, /* signed value, int index */
    DIFF_REAL_PAIR,
} diff_class_t;

typedef struct diff_kind {
    const char *name;
    MPI_Datatype type;
    diff_class_t class;
    int extent; /* bytes from one to the next, padding included */
    int parts;
    int offset[2]; /* of each part, bytes */
    int width[2];
} diff_kind_t;

extern const diff_kind_t diff_kinds[];
extern const int diff_num_kinds;

/* Returns NULL when it is none of ours. */
const diff_kind_t *diff_kind_of(MPI_Datatype type);
/* Bytes of data, without padding. */
int diff_kind_size(const diff_kind_t *kind);

/* One item: the bits of each part, from the lowest on. */
typedef struct diff_value {
    uint64_t part[2];
} diff_value_t;

void diff_put(unsigned char *at, const diff_kind_t *kind, const diff_value_t *value);
diff_value_t diff_get(const unsigned char *at, const diff_kind_t *kind);
/* Arbitrary bits, what is moved and never computed with: item `index` of message `key`. */
diff_value_t diff_arbitrary(uint64_t key, size_t index);

#endif
