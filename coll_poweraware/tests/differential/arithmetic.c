/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What MPI's operators and ours compute, written again without MPI.
 */
#include "arithmetic.h"

#include <string.h>

typedef const diff_kind_t kind_t;
typedef diff_value_t value_t;

/* ---- the bits of a part as numbers ---- */

uint64_t diff_low_bits(uint64_t bits, int width)
{
    return width >= 8 ? bits : bits & ((UINT64_C(1) << (8 * width)) - 1);
}

static int64_t to_signed(uint64_t bits, int width)
{
    int unused = 64 - 8 * width;
    return (int64_t)(bits << unused) >> unused;
}

double diff_to_real(uint64_t bits, int width)
{
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    if (4 == width) {
        memcpy(&single, &low, sizeof single);
        return (double)single;
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

uint64_t diff_from_real(double number, int width)
{
    float single = (float)number;
    uint32_t low;
    uint64_t bits;
    if (4 == width) {
        memcpy(&low, &single, sizeof low);
        return low;
    }
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

bool diff_is_real(kind_t *kind)
{
    return DIFF_REAL == kind->class || DIFF_COMPLEX == kind->class || DIFF_REAL_PAIR == kind->class;
}

static bool is_signed(kind_t *kind)
{
    return DIFF_SIGNED == kind->class || DIFF_SIGNED_PAIR == kind->class;
}

uint64_t diff_from_whole(kind_t *kind, int64_t number)
{
    return diff_is_real(kind) ? diff_from_real((double)number, kind->width[0])
                              : diff_low_bits((uint64_t)number, kind->width[0]);
}

/* ---- arithmetic ---- */

/* -1, 0, 1: how the first parts compare */
static int compare(kind_t *kind, value_t left, value_t right)
{
    int width = kind->width[0];
    if (diff_is_real(kind)) {
        double a = diff_to_real(left.part[0], width);
        double b = diff_to_real(right.part[0], width);
        return (a > b) - (a < b);
    }
    if (is_signed(kind)) {
        int64_t a = to_signed(left.part[0], width);
        int64_t b = to_signed(right.part[0], width);
        return (a > b) - (a < b);
    }
    return (left.part[0] > right.part[0]) - (left.part[0] < right.part[0]);
}

value_t diff_maximum(kind_t *kind, value_t left, value_t right)
{
    return compare(kind, left, right) >= 0 ? left : right;
}

value_t diff_minimum(kind_t *kind, value_t left, value_t right)
{
    return compare(kind, left, right) <= 0 ? left : right;
}

/* Of equal values the lower index. */
static value_t lower_index(value_t left, value_t right)
{
    return to_signed(left.part[1], 4) <= to_signed(right.part[1], 4) ? left : right;
}

value_t diff_maxloc(kind_t *kind, value_t left, value_t right)
{
    return 0 == compare(kind, left, right) ? lower_index(left, right)
                                           : diff_maximum(kind, left, right);
}

value_t diff_minloc(kind_t *kind, value_t left, value_t right)
{
    return 0 == compare(kind, left, right) ? lower_index(left, right)
                                           : diff_minimum(kind, left, right);
}

value_t diff_sum(kind_t *kind, value_t left, value_t right)
{
    value_t result = {{0, 0}};
    for (int p = 0; p < kind->parts; ++p) {
        int width = kind->width[p];
        result.part[p] = diff_is_real(kind) ? diff_from_real(diff_to_real(left.part[p], width) +
                                                                 diff_to_real(right.part[p], width),
                                                             width)
                                            : diff_low_bits(left.part[p] + right.part[p], width);
    }
    return result;
}

static value_t complex_product(kind_t *kind, value_t left, value_t right)
{
    int width = kind->width[0];
    double a = diff_to_real(left.part[0], width);
    double b = diff_to_real(left.part[1], width);
    double c = diff_to_real(right.part[0], width);
    double d = diff_to_real(right.part[1], width);
    return (value_t){{diff_from_real(a * c - b * d, width), diff_from_real(a * d + b * c, width)}};
}

value_t diff_product(kind_t *kind, value_t left, value_t right)
{
    int width = kind->width[0];
    if (DIFF_COMPLEX == kind->class) {
        return complex_product(kind, left, right);
    }
    if (diff_is_real(kind)) {
        double number = diff_to_real(left.part[0], width) * diff_to_real(right.part[0], width);
        return (value_t){{diff_from_real(number, width), 0}};
    }
    return (value_t){{diff_low_bits(left.part[0] * right.part[0], width), 0}};
}

value_t diff_logical_and(kind_t *kind, value_t left, value_t right)
{
    (void)kind;
    return (value_t){{0 != left.part[0] && 0 != right.part[0], 0}};
}

value_t diff_logical_or(kind_t *kind, value_t left, value_t right)
{
    (void)kind;
    return (value_t){{0 != left.part[0] || 0 != right.part[0], 0}};
}

value_t diff_logical_xor(kind_t *kind, value_t left, value_t right)
{
    (void)kind;
    return (value_t){{(0 != left.part[0]) != (0 != right.part[0]), 0}};
}

value_t diff_bits_and(kind_t *kind, value_t left, value_t right)
{
    (void)kind;
    return (value_t){{left.part[0] & right.part[0], 0}};
}

value_t diff_bits_or(kind_t *kind, value_t left, value_t right)
{
    (void)kind;
    return (value_t){{left.part[0] | right.part[0], 0}};
}

value_t diff_bits_xor(kind_t *kind, value_t left, value_t right)
{
    (void)kind;
    return (value_t){{left.part[0] ^ right.part[0], 0}};
}

value_t diff_add(kind_t *kind, value_t left, value_t right)
{
    value_t result = {{0, 0}};
    for (int p = 0; p < kind->parts; ++p) {
        result.part[p] = diff_low_bits(left.part[p] + right.part[p], kind->width[p]);
    }
    return result;
}

value_t diff_compose(kind_t *kind, value_t left, value_t right)
{
    value_t result = {{0, 0}};
    for (int p = 0; p < kind->parts; ++p) {
        int half = 4 * kind->width[p];
        uint64_t mask = (UINT64_C(1) << half) - 1;
        uint64_t a1 = left.part[p] >> half & mask;
        uint64_t a2 = right.part[p] >> half & mask;
        uint64_t b1 = left.part[p] & mask;
        uint64_t b2 = right.part[p] & mask;
        result.part[p] = (a1 * a2 & mask) << half | ((a1 * b2 + b1) & mask);
    }
    return result;
}
