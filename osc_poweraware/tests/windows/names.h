/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What random programs are made of, by names that can be left out.
 */
#ifndef RMA_NAMES_H
#define RMA_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* X(constant, name, what it is); calls first */
#define RMA_NAMES(X)                                                                               \
    X(PUT, put, "MPI_Put")                                                                         \
    X(GET, get, "MPI_Get")                                                                         \
    X(ACCUMULATE, accumulate, "MPI_Accumulate")                                                    \
    X(GET_ACCUMULATE, get_accumulate, "MPI_Get_accumulate")                                        \
    X(FETCH_AND_OP, fetch_and_op, "MPI_Fetch_and_op")                                              \
    X(COMPARE_AND_SWAP, compare_and_swap, "MPI_Compare_and_swap")                                  \
    X(RPUT, rput, "MPI_Rput")                                                                      \
    X(RGET, rget, "MPI_Rget")                                                                      \
    X(RACCUMULATE, raccumulate, "MPI_Raccumulate")                                                 \
    X(RGET_ACCUMULATE, rget_accumulate, "MPI_Rget_accumulate")                                     \
    X(FENCE, fence, "epochs of MPI_Win_fence")                                                     \
    X(PSCW, pscw, "of post, start, complete, wait or test")                                        \
    X(LOCK, lock, "of MPI_Win_lock")                                                               \
    X(LOCK_ALL, lock_all, "of MPI_Win_lock_all")                                                   \
    X(CREATE, create, "windows of MPI_Win_create")                                                 \
    X(ALLOCATE, allocate, "of MPI_Win_allocate")                                                   \
    X(SHARED, shared, "of MPI_Win_allocate_shared")                                                \
    X(DYNAMIC, dynamic, "of MPI_Win_create_dynamic")                                               \
    X(EXCLUSIVE, exclusive, "exclusive locks (shared ones then)")                                  \
    X(CONTENDED, contended, "accumulates of several ranks at one place")                           \
    X(ORDERED, ordered, "accumulates at one place that MPI keeps in order")                        \
    X(CHAINED, chained, "conflicting calls with a flush in between")                               \
    X(LOCAL, local, "MPI_Win_flush_local, flush_local_all")                                        \
    X(DERIVED, derived, "derived datatypes")                                                       \
    X(LARGE, large, "slots of up to 256 KiB")                                                      \
    X(SELF, self, "the own window as target")                                                      \
    X(NOBODY, nobody, "MPI_PROC_NULL as target")                                                   \
    X(ASSERTS, asserts, "assertions of fence, post and start")                                     \
    X(NOCHECK, nocheck, "MPI_MODE_NOCHECK")                                                        \
    X(INFO, info, "info keys")                                                                     \
    X(ALONE, alone, "windows of a single rank")                                                    \
    X(COMPLEX, complex, "operators on complex numbers and pairs")                                  \
    X(LOGICAL, logical, "logical operators")                                                       \
    X(BITWISE, bitwise, "bitwise operators")                                                       \
    X(EXTREMES, extremes, "MPI_MAX, MPI_MIN, MPI_MAXLOC, MPI_MINLOC")                              \
    X(REPLACE, replace, "MPI_REPLACE")                                                             \
    X(NO_OP, no_op, "MPI_NO_OP")                                                                   \
    X(UNITS, units, "displacement units other than 1")                                             \
    X(OVERLAP, overlap, "two windows at a time")

typedef enum rma_name {
#define RMA_CONSTANT(constant, name, what) RMA_##constant,
    RMA_NAMES(RMA_CONSTANT)
#undef RMA_CONSTANT
        RMA_NUM_NAMES,
    RMA_NUM_CALLS = RMA_FENCE,
    RMA_NO_NAME = RMA_NUM_NAMES,
} rma_name_t;

_Static_assert(RMA_NUM_NAMES < 64, "sets of names have 64 bits");

/* A set of names. */
static inline bool rma_has(uint64_t set, rma_name_t name)
{
    return 0 != (set >> name & 1u);
}

const char *rma_name(rma_name_t name);
const char *rma_name_what(rma_name_t name);

/* A list with commas between them; returns whether all are known. */
bool rma_names_parse(const char *list, uint64_t *set);

#endif
