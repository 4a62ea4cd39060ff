/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Shrinking: run the program again, with less in it, as long as it still fails.  Leave out one name
 * after the other, then find the fewest elements of a call.  All PEs agree on every outcome.
 */
#include <stdio.h>

#include "parameters.h"
#include "run.h"

enum { TRIES = 3 }; /* a race does not show every time */

static bool fails(rsh_run_t *run, uint64_t index, const diff_limits_t *limits)
{
    uint64_t failures = 0;
    for (int i = 0; i < TRIES && 0 == failures; ++i) {
        failures = rsh_run_program(run, index, limits);
    }
    return failures > 0;
}

static void leave_names_out(rsh_run_t *run, uint64_t index, diff_limits_t *limits)
{
    for (int name = 0; name < RSH_NUM_NAMES; ++name) {
        diff_limits_t less = *limits;
        less.simpler |= UINT64_C(1) << name;
        if (less.simpler != limits->simpler && fails(run, index, &less)) {
            *limits = less;
        }
    }
}

static void make_smaller(rsh_run_t *run, uint64_t index, diff_limits_t *limits)
{
    enum { MOST_ELEMENTS = 1 << 20 };
    size_t fine = 0; /* as far as is known */
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

void rsh_shrink(rsh_run_t *run, uint64_t index)
{
    diff_limits_t limits = run->limits;
    char text[768];
    run->quiet = true;
    if (fails(run, index, &limits)) {
        leave_names_out(run, index, &limits);
        make_smaller(run, index, &limits);
        run->quiet = false;
        run->told = 0;
        if (0 == run->pe) {
            fprintf(stderr, "random_shmem: the smallest program that still fails:\n");
        }
        fails(run, index, &limits);
    } else if (0 == run->pe) {
        fprintf(stderr, "random_shmem: it did not fail again\n");
    }
    if (0 == run->pe) {
        rsh_run_describe(rsh_run_seed(run, index), &limits, text, sizeof text);
        fprintf(stderr, "random_shmem: repeat: oshrun -np %d", run->pes);
        diff_print_parameters();
        fprintf(stderr, " random_shmem %s\n", text);
    }
    run->quiet = false;
}
