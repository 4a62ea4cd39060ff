/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Shrinking: make the call again, simpler, as long as it still fails.
 *
 * 1. Does the call fail alone?  If not, which calls before it are needed?
 * 2. Leave out one feature after the other.
 * 3. Find the smallest block that fails.  As long as that made a difference, 2 and 3 again: a
 *    smaller message may take another algorithm, which allows for other simplifications.
 *
 * All ranks take the same steps, because they agree on every outcome.
 */
#include "shrink.h"

#include <inttypes.h>
#include <stdlib.h>

#include "parameters.h"

enum { TRIES = 3 }; /* a race does not show every time */

static bool fails(diff_run_t *run, uint64_t first, uint64_t last, diff_limits_t limits)
{
    diff_limits_t before = run->limits;
    run->limits = limits;
    diff_verdict_t verdict = {0};
    for (int i = 0; i < TRIES && 0 == verdict.failures; ++i) {
        diff_run_calls(run, first, last, &verdict);
    }
    run->limits = before;
    return verdict.failures > 0;
}

/* ---- the command that repeats it ---- */

static void print_command(const diff_run_t *run)
{
    char options[1024];
    diff_options_format(run->options, options, sizeof options);
    fprintf(stderr, "check_collectives: repeat: mpirun -np %d", run->world_size);
    diff_print_parameters();
    fprintf(stderr, " check_collectives%s", options);
}

/* ---- 1. ---- */

static bool fails_alone(diff_run_t *run, uint64_t first, uint64_t index)
{
    if (fails(run, index, index, run->limits)) {
        return true;
    }
    uint64_t low = first;
    uint64_t high = index;
    bool again = low < high && fails(run, low, index, run->limits);
    while (again && high - low > 1) { /* fails from low on, not from high on */
        uint64_t middle = low + (high - low) / 2;
        if (fails(run, middle, index, run->limits)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (0 == run->world_rank) {
        fprintf(stderr,
                again ? "check_collectives: call %" PRIu64 " fails only after calls before it\n"
                      : "check_collectives: call %" PRIu64 " did not fail again\n",
                index);
        print_command(run);
        fprintf(stderr,
                " --seed 0x%" PRIx64 " --threads %d --first %" PRIu64 " --calls %" PRIu64 "\n",
                run->options->seed, run->options->threads, low, index - low + 1);
    }
    return false;
}

/* ---- 2. ---- */

static void leave_features_out(diff_run_t *run, uint64_t index, diff_limits_t *limits)
{
    for (unsigned bit = 1; bit < DIFF_SIMPLER_END; bit <<= 1) {
        diff_limits_t simpler = *limits;
        simpler.simpler |= bit;
        if (simpler.simpler != limits->simpler && fails(run, index, index, simpler)) {
            *limits = simpler;
        }
    }
}

/* ---- 3. ---- */

static void make_smaller(diff_run_t *run, uint64_t index, diff_limits_t *limits)
{
    diff_plan_t plan;
    diff_plan_draw(&plan, diff_run_seed(run, index), &run->options->choice, limits);
    diff_limits_t smaller = *limits;
    size_t fine = 0; /* as far as is known */
    size_t bad = plan.small_units > plan.bytes ? plan.small_units : plan.bytes;
    bad = limits->most_units < bad ? limits->most_units : bad;
    smaller.most_units = 0;
    if (fails(run, index, index, smaller)) {
        *limits = smaller;
        return;
    }
    while (bad - fine > 1) {
        smaller.most_units = fine + (bad - fine) / 2;
        if (fails(run, index, index, smaller)) {
            bad = smaller.most_units;
        } else {
            fine = smaller.most_units;
        }
    }
    limits->most_units = bad;
}

void diff_shrink(diff_run_t *run, uint64_t first, uint64_t index)
{
    diff_limits_t limits = run->limits;
    run->quiet = true;
    if (fails_alone(run, first, index)) {
        diff_limits_t before;
        do {
            before = limits;
            leave_features_out(run, index, &limits);
            make_smaller(run, index, &limits);
        } while (limits.simpler != before.simpler || limits.most_units != before.most_units);
        if (0 == run->world_rank) {
            fprintf(stderr, "check_collectives: the smallest call that still fails:\n");
        }
        run->quiet = false;
        run->told = 0;
        fails(run, index, index, limits);
        if (0 == run->world_rank) {
            print_command(run);
            fprintf(stderr, " --call 0x%" PRIx64 " --simpler 0x%" PRIx64 " --most-units %zu\n",
                    diff_run_seed(run, index), limits.simpler, limits.most_units);
        }
    }
    run->quiet = false;
}
