/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of operators, their operands, and ours as MPI calls them.
 */
#include "operators.h"

#include <stdio.h>

#include "arithmetic.h"
#include "layouts.h"

typedef const diff_kind_t kind_t;
typedef diff_value_t value_t;

/* ---- operands ---- */

static value_t any_bits(kind_t *kind, uint64_t random, int rank)
{
    (void)rank;
    value_t value = diff_arbitrary(random, 0);
    for (int p = 0; p < kind->parts; ++p) {
        value.part[p] = diff_low_bits(value.part[p], kind->width[p]);
    }
    return value;
}

/* a is odd: a factor that is even would forget what comes later. */
static value_t a_function(kind_t *kind, uint64_t random, int rank)
{
    value_t value = any_bits(kind, random, rank);
    for (int p = 0; p < kind->parts; ++p) {
        value.part[p] |= UINT64_C(1) << (4 * kind->width[p]);
    }
    return value;
}

static value_t any_number(kind_t *kind, uint64_t random, int rank)
{
    return diff_is_real(kind)
               ? (value_t){{diff_from_whole(kind, (int64_t)(random % 2001) - 1000), 0}}
               : any_bits(kind, random, rank);
}

/* Sums of 64 of them are exact. */
static value_t a_summand(kind_t *kind, uint64_t random, int rank)
{
    static const int64_t most[] = {[1] = 1, [2] = 250, [4] = 1 << 24, [8] = 1 << 24};
    if (DIFF_UNSIGNED == kind->class) {
        return kind->width[0] >= 4
                   ? any_bits(kind, random, rank)
                   : (value_t){{random % (uint64_t)(2 * most[kind->width[0]] + 1), 0}};
    }
    int64_t range = diff_is_real(kind) ? 1000 : most[kind->width[0]];
    value_t value = {{0, 0}};
    for (int p = 0; p < kind->parts; ++p) {
        int64_t number = (int64_t)((random >> (20 * p)) % (uint64_t)(2 * range + 1)) - range;
        value.part[p] = diff_from_whole(kind, number);
    }
    return value;
}

/* The first six ranks' may be 2, two ranks' of a complex product 1 + i: exact, without a zero whose
   sign would depend on the order. */
static value_t a_factor(kind_t *kind, uint64_t random, int rank)
{
    if (DIFF_COMPLEX == kind->class) {
        bool one_and_i = 1 == rank || 2 == rank;
        return (value_t){{diff_from_whole(kind, 1), diff_from_whole(kind, one_and_i)}};
    }
    if (DIFF_UNSIGNED == kind->class && kind->width[0] >= 4) {
        return any_bits(kind, random | 1, rank);
    }
    int64_t number = rank < 6 && 0 == random % 3 ? 2 : 1;
    bool negative = DIFF_UNSIGNED != kind->class && 0 != (random & 64);
    return (value_t){{diff_from_whole(kind, negative ? -number : number), 0}};
}

static value_t a_truth(kind_t *kind, uint64_t random, int rank)
{
    if (0 == random % 4) {
        return (value_t){{0, 0}};
    }
    return DIFF_LOGICAL == kind->class ? (value_t){{1, 0}} : any_bits(kind, random, rank);
}

/* Few values, so that many are equal. */
static value_t a_place(kind_t *kind, uint64_t random, int rank)
{
    (void)rank;
    return (value_t){{diff_from_whole(kind, (int64_t)(random % 5) - 2), (random >> 8) % 1000}};
}

/* Positive, of many magnitudes and with a full mantissa: every order rounds differently. */
static value_t a_rough_number(kind_t *kind, uint64_t random, int rank)
{
    (void)rank;
    value_t value = diff_arbitrary(random, 0);
    for (int p = 0; p < kind->parts; ++p) {
        double mantissa = 1.0 + (double)(value.part[p] >> 12) / 4503599627370496.0;
        double scale = (double)(1u << (value.part[p] & 7));
        value.part[p] = diff_from_real(mantissa * scale, kind->width[p]);
    }
    return value;
}

/* ---- the table ---- */

#define BIT(class) (1u << (class))
enum {
    INTEGERS = BIT(DIFF_SIGNED) | BIT(DIFF_UNSIGNED),
    NUMBERS = INTEGERS | BIT(DIFF_REAL),
    ADDABLE = NUMBERS | BIT(DIFF_COMPLEX),
    TRUTHS = INTEGERS | BIT(DIFF_LOGICAL),
    BITWISE = INTEGERS | BIT(DIFF_BITS),
    PAIRS = BIT(DIFF_SIGNED_PAIR) | BIT(DIFF_REAL_PAIR),
    ROUNDED = BIT(DIFF_REAL) | BIT(DIFF_COMPLEX),
    ANY = (1u << (DIFF_REAL_PAIR + 1)) - 1,
};

static const diff_operator_t operators[] = {
    /* ours first: every third is one of them */
    {"ours, commutative", MPI_OP_NULL, ANY, true, true, false, any_bits, diff_add},
    {"ours, not commutative", MPI_OP_NULL, ANY, true, false, false, a_function, diff_compose},
    {"MPI_MAX", MPI_MAX, NUMBERS, false, true, false, any_number, diff_maximum},
    {"MPI_MIN", MPI_MIN, NUMBERS, false, true, false, any_number, diff_minimum},
    {"MPI_SUM", MPI_SUM, ADDABLE, false, true, false, a_summand, diff_sum},
    {"MPI_PROD", MPI_PROD, ADDABLE, false, true, false, a_factor, diff_product},
    {"MPI_LAND", MPI_LAND, TRUTHS, false, true, false, a_truth, diff_logical_and},
    {"MPI_LOR", MPI_LOR, TRUTHS, false, true, false, a_truth, diff_logical_or},
    {"MPI_LXOR", MPI_LXOR, TRUTHS, false, true, false, a_truth, diff_logical_xor},
    {"MPI_BAND", MPI_BAND, BITWISE, false, true, false, any_bits, diff_bits_and},
    {"MPI_BOR", MPI_BOR, BITWISE, false, true, false, any_bits, diff_bits_or},
    {"MPI_BXOR", MPI_BXOR, BITWISE, false, true, false, any_bits, diff_bits_xor},
    {"MPI_MAXLOC", MPI_MAXLOC, PAIRS, false, true, false, a_place, diff_maxloc},
    {"MPI_MINLOC", MPI_MINLOC, PAIRS, false, true, false, a_place, diff_minloc},
    {"MPI_SUM, inexact", MPI_SUM, ROUNDED, false, true, true, a_rough_number, diff_sum},
};
enum { NUM_OPERATORS = sizeof operators / sizeof operators[0], OURS = 2 };
static const diff_operator_t *const inexact_sum = &operators[NUM_OPERATORS - 1];

const diff_operator_t *diff_operator_draw(diff_random_t *random, bool inexact)
{
    bool ours = diff_chance(random, 35);
    unsigned which =
        ours ? diff_draw(random, OURS) : OURS + diff_draw(random, NUM_OPERATORS - 1 - OURS);
    return inexact ? inexact_sum : &operators[which];
}

bool diff_operator_fits(const diff_operator_t *op, const diff_kind_t *kind)
{
    return 0 != (op->classes & BIT(kind->class));
}

const diff_operator_t *diff_operator_simplest(bool commutative)
{
    return &operators[commutative ? 0 : 1];
}

bool diff_operator_near(const diff_kind_t *kind, diff_value_t a, diff_value_t b)
{
    for (int p = 0; p < kind->parts; ++p) {
        double x = diff_to_real(a.part[p], kind->width[p]);
        double y = diff_to_real(b.part[p], kind->width[p]);
        double difference = x > y ? x - y : y - x;
        double epsilon = 4 == kind->width[p] ? 1.2e-7 : 2.3e-16;
        if (!(difference <= 64 * epsilon * (x > 0 ? x : -x))) { /* also when one is not a number */
            return false;
        }
    }
    return true;
}

/* ---- ours, as MPI calls them ---- */

static MPI_Op handles[OURS];

static void apply_to_item(const diff_operator_t *op, kind_t *kind, const unsigned char *in,
                          unsigned char *inout)
{
    value_t result = op->combine(kind, diff_get(in, kind), diff_get(inout, kind));
    diff_put(inout, kind, &result);
}

static void apply(const diff_operator_t *op, const unsigned char *in, unsigned char *inout,
                  int count, MPI_Datatype type)
{
    kind_t *kind;
    const diff_layout_t *layout = diff_layout_of(type, &kind);
    if (NULL == layout && NULL == kind) {
        fprintf(stderr, "check_collectives: operator called with a datatype that is not ours\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (ptrdiff_t e = 0; e < count; ++e) {
        if (NULL == layout) {
            apply_to_item(op, kind, in + e * kind->extent, inout + e * kind->extent);
            continue;
        }
        for (int i = 0; i < layout->num; ++i) {
            ptrdiff_t at = e * layout->extent + layout->offset[i];
            apply_to_item(op, layout->kind[i], in + at, inout + at);
        }
    }
}

static void mpi_add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply(&operators[0], in, inout, *count, *type);
}

static void mpi_compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply(&operators[1], in, inout, *count, *type);
}

MPI_Op diff_operator_handle(const diff_operator_t *op)
{
    return MPI_OP_NULL == op->op ? handles[op - operators] : op->op;
}

void diff_operators_start(void)
{
    MPI_Op_create(mpi_add, 1, &handles[0]);
    MPI_Op_create(mpi_compose, 0, &handles[1]);
}

void diff_operators_stop(void)
{
    MPI_Op_free(&handles[0]);
    MPI_Op_free(&handles[1]);
}
