/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which way a message goes between a root and the other ranks of its node: learned from what copies
 * cost.
 *
 * through  whoever has it copies it into shared memory while others copy it out
 * lent     the root tells where its memory is, and the others copy from or to there
 *          (pwr_ompi/single_copy.h)
 *
 * Which one is faster depends on what lies between their cores, on sizes and on load.  On a virtual
 * machine of an AMD EPYC 9004, 4 MiB among two ranks took 120 us through and 320 us lent while the
 * virtual processors shared an L3, and 1270 and 320 while they did not.  So every rank measures
 * some of its copies and tells what they cost, and the root looks at that every so often.  Now and
 * then it takes the other way, so that it learns when that has changed.  The choice is the root's
 * alone: it tells the others with each message.
 */
#ifndef PWR_OMPI_COPY_COSTS_H
#define PWR_OMPI_COPY_COSTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/wait.h"

typedef enum pwr_copy_way { PWR_COPY_THROUGH, PWR_COPY_LENT, PWR_COPY_WAYS } pwr_copy_way_t;

/* By bytes of the message: up to 64 KiB, 512 KiB, 4 MiB, more. */
enum { PWR_COPY_CLASSES = 4 };

/* Shared, per rank: nanoseconds that it takes to copy 64 KiB, a mean of the last ones; 0: not
   known. */
typedef struct pwr_copy_costs {
    _Alignas(PWR_CACHE_LINE) _Atomic uint32_t copy[PWR_COPY_CLASSES][PWR_COPY_WAYS];
} pwr_copy_costs_t;

/* What a rank has chosen as root, for a class of messages. */
typedef struct pwr_copy_choice {
    pwr_copy_way_t way;
    uint32_t messages;
    uint32_t explore_at; /* the first message that takes the other way */
    uint32_t gap;        /* messages until that happens again */
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

int pwr_copy_class(size_t message_bytes);

/* The root's: for a message, of which I copy my_copies times as much as each of the others when it
   goes through. */
pwr_copy_way_t pwr_copier_choose(pwr_copier_t *copier, int class, int my_copies);

/* What a copy of mine took; bytes > 0.  To read the clock takes as long as to copy some hundred
   bytes. */
void pwr_copier_copied(const pwr_copier_t *copier, int class, pwr_copy_way_t way, size_t bytes,
                       uint64_t ns);

#endif
