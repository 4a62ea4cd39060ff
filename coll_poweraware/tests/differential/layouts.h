/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Datatypes: an MPI datatype beside the oracle's own table of where its items lie.
 *
 * A signature is a short sequence of items; an element of a layout holds `units` of it.  Layouts of
 * one signature describe the same message, so that sender and receiver may use different ones.
 *
 * Every layout tiles memory: the items of one element lie in different residues modulo the extent,
 * so no two elements overlap however many there are, although an element may reach over its
 * neighbours (negative lower bounds, interleaved elements).
 */
#ifndef DIFF_LAYOUTS_H
#define DIFF_LAYOUTS_H

#include "kinds.h"
#include "random.h"

enum { DIFF_MAX_SIGNATURE = 4, DIFF_MAX_ITEMS = 24, DIFF_MAX_UNITS = 12 };

typedef struct diff_signature {
    int num; /* 0: messages without bytes */
    const diff_kind_t *kind[DIFF_MAX_SIGNATURE];
} diff_signature_t;

/* Bytes of data of one unit. */
size_t diff_signature_size(const diff_signature_t *signature);

typedef enum diff_style {
    DIFF_PLAIN, /* a predefined datatype; where there is none, items in order */
    DIFF_CONTIGUOUS,
    DIFF_VECTOR,
    DIFF_GAPS,
    DIFF_PACKED, /* items at odd addresses */
    DIFF_DESCENDING,
    DIFF_SHUFFLED,
    DIFF_NEGATIVE,    /* in front of the address that MPI is given */
    DIFF_INTERLEAVED, /* elements reach over their neighbours */
    DIFF_NUM_STYLES,
    DIFF_WIDE = DIFF_NUM_STYLES, /* an extent of 64 KiB to 1 MiB: for few elements */
} diff_style_t;

const char *diff_style_name(diff_style_t style);

typedef struct diff_layout {
    diff_style_t style;
    int units;
    int num;                          /* items of an element */
    ptrdiff_t offset[DIFF_MAX_ITEMS]; /* bytes, of each item in the order of the signature */
    const diff_kind_t *kind[DIFF_MAX_ITEMS];
    ptrdiff_t extent;
    ptrdiff_t low; /* bytes of an element: [low, high) */
    ptrdiff_t high;
    MPI_Datatype type;
} diff_layout_t;

/* units * signature->num is at most DIFF_MAX_ITEMS.  The layout must stay where it is. */
void diff_layout_make(diff_layout_t *layout, const diff_signature_t *signature, int units,
                      diff_style_t style, diff_random_t *random);
void diff_layout_free(diff_layout_t *layout);

/* What an operator is called with: a layout, or NULL and *kind for a predefined datatype. */
const diff_layout_t *diff_layout_of(MPI_Datatype type, const diff_kind_t **kind);

/* Once per process, around everything else. */
void diff_layouts_start(void);
void diff_layouts_stop(void);

#endif
