/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What random programs are made of, by names that can be left out.
 */
#ifndef RSH_NAMES_H
#define RSH_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* X(constant, name, what it is); calls first, those of a kind of step together */
#define RSH_NAMES(X)                                                                               \
    X(PUT, put, "shmem_put, of all types and sizes")                                               \
    X(GET, get, "shmem_get")                                                                       \
    X(PUT_NBI, put_nbi, "shmem_put_nbi")                                                           \
    X(GET_NBI, get_nbi, "shmem_get_nbi")                                                           \
    X(IPUT, iput, "shmem_iput")                                                                    \
    X(IGET, iget, "shmem_iget")                                                                    \
    X(P, p, "shmem_p")                                                                             \
    X(G, g, "shmem_g")                                                                             \
    X(SET, set, "shmem_atomic_set")                                                                \
    X(FETCH, fetch, "shmem_atomic_fetch")                                                          \
    X(SWAP, swap, "shmem_atomic_swap")                                                             \
    X(COMPARE_SWAP, compare_swap, "shmem_atomic_compare_swap")                                     \
    X(ADD, add, "shmem_atomic_add")                                                                \
    X(FETCH_ADD, fetch_add, "shmem_atomic_fetch_add")                                              \
    X(INC, inc, "shmem_atomic_inc")                                                                \
    X(FETCH_INC, fetch_inc, "shmem_atomic_fetch_inc")                                              \
    X(AND, and, "shmem_atomic_and")                                                                \
    X(FETCH_AND, fetch_and, "shmem_atomic_fetch_and")                                              \
    X(OR, or, "shmem_atomic_or")                                                                   \
    X(FETCH_OR, fetch_or, "shmem_atomic_fetch_or")                                                 \
    X(XOR, xor, "shmem_atomic_xor")                                                                \
    X(FETCH_XOR, fetch_xor, "shmem_atomic_fetch_xor")                                              \
    X(WAIT_UNTIL, wait_until, "shmem_wait_until")                                                  \
    X(TEST, test, "shmem_test, until it is true")                                                  \
    X(SET_LOCK, set_lock, "shmem_set_lock")                                                        \
    X(TEST_LOCK, test_lock, "shmem_test_lock, until the lock is held")                             \
    X(QUIET, quiet, "shmem_quiet (but not where results need one)")                                \
    X(FENCE, fence, "shmem_fence (shmem_quiet then)")                                              \
    X(BARRIER_ALL, barrier_all, "shmem_barrier_all (but not at the ends of an epoch)")             \
    X(BARRIER, barrier, "shmem_barrier")                                                           \
    X(SYNC_ALL, sync_all, "shmem_sync_all")                                                        \
    X(SYNC, sync, "shmem_sync")                                                                    \
    X(BROADCAST, broadcast, "shmem_broadcast32, 64")                                               \
    X(COLLECT, collect, "shmem_collect32, 64")                                                     \
    X(FCOLLECT, fcollect, "shmem_fcollect32, 64")                                                  \
    X(ALLTOALL, alltoall, "shmem_alltoall32, 64")                                                  \
    X(ALLTOALLS, alltoalls, "shmem_alltoalls32, 64")                                               \
    X(AND_TO_ALL, and_to_all, "shmem_and_to_all")                                                  \
    X(OR_TO_ALL, or_to_all, "shmem_or_to_all")                                                     \
    X(XOR_TO_ALL, xor_to_all, "shmem_xor_to_all")                                                  \
    X(MAX_TO_ALL, max_to_all, "shmem_max_to_all")                                                  \
    X(MIN_TO_ALL, min_to_all, "shmem_min_to_all")                                                  \
    X(SUM_TO_ALL, sum_to_all, "shmem_sum_to_all")                                                  \
    X(PROD_TO_ALL, prod_to_all, "shmem_prod_to_all")                                               \
    X(CONTEXTS, contexts, "contexts other than the default one")                                   \
    X(STATICS, statics, "symmetric data outside the heap")                                         \
    X(STORES, stores, "loads and stores through shmem_ptr")                                        \
    X(SELF, self, "the own PE as target")                                                          \
    X(LATE, late, "PEs that come late")                                                            \
    X(LARGE, large, "up to 1 MiB")                                                                 \
    X(IN_PLACE, in_place, "reductions whose target is the source")                                 \
    X(ZERO, zero, "no elements at all")                                                            \
    X(SETS, sets, "active sets that are not all PEs")                                              \
    X(CONTENDED, contended, "atomics of several PEs at one place")                                 \
    X(UNEVEN, uneven, "collect of different counts")                                               \
    X(COMPLEX, complex, "reductions of complex numbers")                                           \
    X(LONG_DOUBLE, long_double, "long double")                                                     \
    X(BYTES, bytes, "elements of 1 and 2 bytes")                                                   \
    X(FAN_IN, fan_in, "several PEs that signal to one")                                            \
    X(SWAP_32, swap_32, "shmem_atomic_compare_swap of 4 bytes")                                    \
    X(CONTEXT_STATICS, context_statics, "data outside the heap in contexts")                       \
    X(STATIC_NBI, static_nbi, "shmem_put_nbi to data outside the heap")                            \
    X(APART, apart, "shmem_fence between data and a flag, one of them in the heap")                \
    X(BARE, bare, "loops of shmem_test or shmem_test_lock (20 turns then, and a wait)")

typedef enum rsh_name {
#define RSH_CONSTANT(constant, name, what) RSH_##constant,
    RSH_NAMES(RSH_CONSTANT)
#undef RSH_CONSTANT
        RSH_NUM_NAMES,
    RSH_NUM_CALLS = RSH_CONTEXTS,
} rsh_name_t;

_Static_assert(RSH_NUM_NAMES <= 64, "sets of names have 64 bits");

/* A set of names. */
static inline bool rsh_has(uint64_t set, rsh_name_t name)
{
    return 0 != (set >> name & 1u);
}

const char *rsh_name(rsh_name_t name);
const char *rsh_name_what(rsh_name_t name);

/* A list with commas between them; returns whether all are known. */
bool rsh_names_parse(const char *list, uint64_t *set);

#endif
