/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which way data go between the ranks of a node: learned from what that costs.
 *
 * shared   whoever has them copies them into shared memory while others copy them out
 * single   ranks tell where their memory is, and others copy from or to there
 *          (pwr_ompi/single_copy.h)
 *
 * Which one is faster depends on what lies between their cores, on sizes and on load.  On a virtual
 * machine of an AMD EPYC 9004, 4 MiB among two ranks took 120 us shared and 320 us single while the
 * virtual processors shared an L3, and 1270 and 320 while they did not.  So every rank measures
 * some of its work and tells what it costs, and one rank, the root if there is one, looks at that
 * every so often.  Now and then it takes the other way, so that it learns when that has changed.
 * The choice is that rank's alone: it tells the others with each message.
 */
#ifndef PWR_OMPI_COPY_COSTS_H
#define PWR_OMPI_COPY_COSTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/wait.h"

typedef enum pwr_copy_way { PWR_COPY_SHARED, PWR_COPY_SINGLE, PWR_COPY_WAYS } pwr_copy_way_t;

/* Classes of messages: what is done with them, by the caller's numbers, and bytes: up to 64 KiB,
   512 KiB, 4 MiB, more. */
enum {
    PWR_COPY_KINDS = 16,
    PWR_COPY_SIZES = 4,
    PWR_COPY_CLASSES = PWR_COPY_KINDS * PWR_COPY_SIZES
};

/* Shared, per rank: its nanoseconds for 64 KiB of a message, a mean of the last ones; 0: not known.
 */
typedef struct pwr_copy_costs {
    _Alignas(PWR_CACHE_LINE) _Atomic uint32_t copy[PWR_COPY_CLASSES][PWR_COPY_WAYS];
} pwr_copy_costs_t;

/* What a rank has chosen for a class of messages. */
typedef struct pwr_copy_choice {
    pwr_copy_way_t way;
    uint32_t messages;
    uint32_t explore_at; /* the first message that takes the other way */
} pwr_copy_choice_t;

/* A rank's view. */
typedef struct pwr_copier {
    pwr_copy_costs_t *costs; /* [num_local], shared */
    int num_local;
    int my_local;
    pwr_copy_choice_t choices[PWR_COPY_CLASSES];
} pwr_copier_t;

/* Costs are zeroed memory. */
void pwr_copier_enter(pwr_copier_t *copier, pwr_copy_costs_t *costs, int num_local, int my_local);

int pwr_copy_class(int kind, size_t message_bytes);

/* The way of the next message. */
pwr_copy_way_t pwr_copier_choose(pwr_copier_t *copier, int class);
/* Whether it is to be measured: those that explore are, and some others.  To read the clock takes
   as long as to copy some hundred bytes. */
bool pwr_copier_measures(const pwr_copier_t *copier, int class);
/* A rank's: what its work on a message took, without waits; bytes > 0: of the message. */
void pwr_copier_took(const pwr_copier_t *copier, int class, pwr_copy_way_t way, size_t bytes,
                     uint64_t ns);

#endif
