/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The oracle's own arithmetic on items.
 */
#ifndef DIFF_ARITHMETIC_H
#define DIFF_ARITHMETIC_H

#include <stdbool.h>

#include "kinds.h"

/* ---- a part's bits as numbers ---- */
uint64_t diff_low_bits(uint64_t bits, int width);
double diff_to_real(uint64_t bits, int width);
uint64_t diff_from_real(double number, int width);
/* A whole number as bits of the kind's first part. */
uint64_t diff_from_whole(const diff_kind_t *kind, int64_t number);
bool diff_is_real(const diff_kind_t *kind);

/* ---- MPI's operators ---- */
diff_value_t diff_maximum(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_minimum(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_maxloc(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_minloc(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_sum(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_product(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_logical_and(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_logical_or(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_logical_xor(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_bits_and(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_bits_or(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
diff_value_t diff_bits_xor(const diff_kind_t *kind, diff_value_t left, diff_value_t right);

/* ---- ours ---- */
/* Parts are unsigned numbers, added modulo their size. */
diff_value_t diff_add(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
/* The halves of a part are a and b of x -> a x + b; composing such functions is associative, but
   not commutative. */
diff_value_t diff_compose(const diff_kind_t *kind, diff_value_t left, diff_value_t right);

#endif
