/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Operators: MPI's handle beside the oracle's own arithmetic, and operands whose result is exact.
 *
 * Operands of predefined operators are such that no order of combining them overflows or rounds:
 * small whole numbers in floating point, and in integers of 8 and 16 bits, which Open MPI 4.1 adds
 * with saturation.  Only the inexact operator rounds, on purpose.
 */
#ifndef DIFF_OPERATORS_H
#define DIFF_OPERATORS_H

#include <stdbool.h>

#include "kinds.h"
#include "random.h"

typedef struct diff_operator {
    const char *name;
    MPI_Op op;        /* MPI_OP_NULL: one of ours, see diff_operator_handle */
    unsigned classes; /* bit c: fits kinds of class c */
    bool any_layout;  /* ours: derived datatypes, too */
    bool commutative;
    bool inexact;
    diff_value_t (*operand)(const diff_kind_t *kind, uint64_t random, int rank);
    diff_value_t (*combine)(const diff_kind_t *kind, diff_value_t left, diff_value_t right);
} diff_operator_t;

/* One that fits some kind; inexact: one that rounds. */
const diff_operator_t *diff_operator_draw(diff_random_t *random, bool inexact);
bool diff_operator_fits(const diff_operator_t *op, const diff_kind_t *kind);
/* What stands for an operator in the simplest call that can still show its fault. */
const diff_operator_t *diff_operator_simplest(bool commutative);
MPI_Op diff_operator_handle(const diff_operator_t *op);
/* Whether two results are as near as rounding in another order allows. */
bool diff_operator_near(const diff_kind_t *kind, diff_value_t a, diff_value_t b);

/* Once per process, around everything else. */
void diff_operators_start(void);
void diff_operators_stop(void);

#endif
