/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Shrinking: run the program again, with less in it, as long as it still fails.  Leave out one name
 * after the other, then find the fewest elements of a call.  All ranks agree on every outcome.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "parameters.h"

enum { TRIES = 3 }; /* a race does not show every time */

static bool fails(rma_run_t *run, uint64_t index, const diff_limits_t *limits)
{
    uint64_t failures = 0;
    for (int i = 0; i < TRIES && 0 == failures; ++i) {
        failures = rma_run_program(run, index, limits);
    }
    return failures > 0;
}

/* Windows are of some flavour, epochs of some kind. */
static bool leaves_none(uint64_t without, int first, int end)
{
    uint64_t group = (UINT64_C(1) << end) - (UINT64_C(1) << first);
    return group == (group & without);
}

static void leave_names_out(rma_run_t *run, uint64_t index, diff_limits_t *limits)
{
    for (int name = 0; name < RMA_NUM_NAMES; ++name) {
        diff_limits_t less = *limits;
        less.simpler |= UINT64_C(1) << name;
        if (leaves_none(less.simpler, RMA_FENCE, RMA_CREATE) ||
            leaves_none(less.simpler, RMA_CREATE, RMA_DYNAMIC + 1)) {
            continue;
        }
        if (less.simpler != limits->simpler && fails(run, index, &less)) {
            *limits = less;
        }
    }
}

static void make_smaller(rma_run_t *run, uint64_t index, diff_limits_t *limits)
{
    enum { MOST_ELEMENTS = 1 << 19 }; /* more than a slot has */
    size_t fine = 0;                  /* as far as is known */
    size_t bad = limits->most_units < MOST_ELEMENTS ? limits->most_units : MOST_ELEMENTS;
    while (bad - fine > 1) {
        diff_limits_t less = *limits;
        less.most_units = fine + (bad - fine) / 2;
        if (fails(run, index, &less)) {
            bad = less.most_units;
        } else {
            fine = less.most_units;
        }
    }
    limits->most_units = bad;
}

void rma_shrink(rma_run_t *run, uint64_t index)
{
    diff_limits_t limits = run->limits;
    char text[768];
    run->quiet = true;
    if (fails(run, index, &limits)) {
        leave_names_out(run, index, &limits);
        make_smaller(run, index, &limits);
        run->quiet = false;
        run->told = 0;
        if (0 == run->world_rank) {
            fprintf(stderr, "random_windows: the smallest program that still fails:\n");
        }
        fails(run, index, &limits);
    } else if (0 == run->world_rank) {
        fprintf(stderr, "random_windows: it did not fail again\n");
    }
    if (0 == run->world_rank) {
        rma_run_describe(rma_run_seed(run, index), &limits, text, sizeof text);
        fprintf(stderr, "random_windows: repeat: mpirun -np %d", run->world_size);
        diff_print_parameters();
        fprintf(stderr, " random_windows %s\n", text);
    }
    run->quiet = false;
}
