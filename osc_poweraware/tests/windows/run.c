/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Running programs one after the other.
 */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>

#include "epochs.h"
#include "random.h"
#include "watch.h"

void rma_run_open(rma_run_t *run, const rma_options_t *options, int thread)
{
    *run = (rma_run_t){.options = options, .thread = thread, .limits = options->limits};
    MPI_Comm_dup(MPI_COMM_WORLD, &run->parent);
    MPI_Comm_dup(MPI_COMM_WORLD, &run->control);
    MPI_Comm_rank(run->parent, &run->world_rank);
    MPI_Comm_size(run->parent, &run->world_size);
    for (int family = 0; family < DIFF_NUM_FAMILIES; ++family) {
        diff_comm_make(&run->comms[family], run->parent, (diff_family_t)family);
    }
}

void rma_run_close(rma_run_t *run)
{
    for (int family = 0; family < DIFF_NUM_FAMILIES; ++family) {
        diff_comm_free(&run->comms[family]);
    }
    MPI_Comm_free(&run->control);
    MPI_Comm_free(&run->parent);
}

uint64_t rma_run_seed(const rma_run_t *run, uint64_t index)
{
    return 0 != run->options->only_program
               ? run->options->only_program
               : diff_hash(run->options->seed, (uint64_t)run->thread, index);
}

void rma_run_describe(uint64_t seed, const diff_limits_t *limits, char *text, size_t size)
{
    char names[512];
    rma_program_t program;
    rma_program_draw(&program, seed, limits);
    rma_options_format(limits->simpler, names, sizeof names);
    size_t used = (size_t)snprintf(text, size, "--program 0x%" PRIx64 "%s", seed, names);
    if (SIZE_MAX != limits->most_units && used < size) {
        used += (size_t)snprintf(text + used, size - used, " --most-units %zu", limits->most_units);
    }
    for (int w = 0; w < program.windows && used < size; ++w) {
        const rma_window_plan_t *plan = &program.window[w];
        used += (size_t)snprintf(text + used, size - used, "%s %s on %s", 0 == w ? ":" : ",",
                                 rma_name(plan->flavour), diff_family_name(plan->family));
    }
}

static void describe_call(const rma_call_t *call, char *text, size_t size)
{
    static const char *const hows[] = {"", " by MPI_REPLACE", " by MPI_NO_OP"};
    const rma_slot_t *slot = call->slot;
    const char *op = NULL == slot->op || RMA_COMBINING != call->how ? "" : slot->op->name;
    snprintf(text, size, ", %s %s%s of rank %d to rank %d: elements %zu to %zu of %s %s",
             rma_name(call->name), op, hows[call->how], call->origin, slot->target, call->first,
             call->first + call->count, slot->signature.kind[0]->name,
             diff_style_name(slot->layout.style));
}

void rma_run_fail(rma_run_t *run, const rma_window_t *window, rma_name_t sync,
                  const rma_call_t *call, const char *text)
{
    enum { ENOUGH = 3 };
    char which[256] = "";
    char program[768];
    ++run->failures;
    if (run->quiet || run->told++ >= ENOUGH) {
        return;
    }
    if (NULL != call) {
        describe_call(call, which, sizeof which);
    }
    rma_run_describe(run->program.seed, &run->limits, program, sizeof program);
    fprintf(stderr,
            "random_windows: wrong: seed 0x%" PRIx64 ", program %" PRIu64
            ", epoch %d (%s), %s window on %s, "
            "rank %d of %d%s: %s (%s)\n",
            run->options->seed, run->index, run->step, rma_name(sync),
            rma_name(window->plan->flavour), window->comm->name, window->comm->rank,
            window->comm->size, which, text, program);
}

/* ---- a program ---- */

static void enter(const rma_run_t *run)
{
    diff_watch_enter(run->thread, run->index, run->program.seed, &run->limits);
}

static void step_apart(rma_run_t *run, rma_window_t *windows, int w)
{
    rma_open_t open;
    rma_epoch_prepare(&open, run, &windows[w], w, run->step);
    rma_epoch_begin(&open);
    while (rma_epoch_call(&open)) {
        continue;
    }
    rma_epoch_end(&open);
    rma_epoch_check(&open);
    enter(run);
}

/* Both windows' epochs are open at the same time, calls alternate; but nobody holds a lock while
   waiting for another, which may be held by who waits for the first. */
static void step_together(rma_run_t *run, rma_window_t *windows)
{
    rma_open_t open[RMA_MOST_WINDOWS];
    bool more = true;
    for (int w = 0; w < RMA_MOST_WINDOWS; ++w) {
        rma_epoch_prepare(&open[w], run, &windows[w], w, run->step);
    }
    for (int w = 0; w < RMA_MOST_WINDOWS; ++w) {
        rma_epoch_begin(&open[w]);
    }
    bool alternate = RMA_LOCK != open[0].epoch.sync || RMA_LOCK != open[1].epoch.sync;
    while (more) {
        bool one = rma_epoch_call(&open[0]);
        more = ((alternate || !one) && rma_epoch_call(&open[1])) || one;
    }
    for (int w = 0; w < RMA_MOST_WINDOWS; ++w) {
        rma_epoch_end(&open[w]);
    }
    for (int w = 0; w < RMA_MOST_WINDOWS; ++w) {
        rma_epoch_check(&open[w]);
    }
    enter(run);
}

static void run_steps(rma_run_t *run, rma_window_t *windows, const bool *member)
{
    bool both = 2 == run->program.windows && member[0] && member[1];
    for (run->step = 0; run->step < run->program.steps; ++run->step) {
        if (both && run->program.overlap) {
            step_together(run, windows);
            continue;
        }
        for (int w = 0; w < run->program.windows; ++w) {
            if (member[w]) {
                step_apart(run, windows, w);
            }
        }
    }
}

static void make_window(rma_run_t *run, rma_window_t *window, int number, const diff_comm_t *comm)
{
    int rc = rma_window_make(window, &run->program, number, comm);
    if (MPI_SUCCESS != rc) {
        char why[MPI_MAX_ERROR_STRING] = "";
        char text[768];
        int length;
        MPI_Error_string(rc, why, &length);
        rma_run_describe(run->program.seed, &run->limits, text, sizeof text);
        fprintf(stderr, "random_windows: no window: %s (%s)\n", why, text);
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
}

uint64_t rma_run_program(rma_run_t *run, uint64_t index, const diff_limits_t *limits)
{
    rma_window_t windows[RMA_MOST_WINDOWS];
    bool member[RMA_MOST_WINDOWS] = {false};
    run->index = index;
    run->limits = *limits;
    run->calls = 0;
    run->failures = 0;
    rma_program_draw(&run->program, rma_run_seed(run, index), limits);
    enter(run);
    for (int w = 0; w < run->program.windows; ++w) {
        const diff_comm_t *comm = &run->comms[run->program.window[w].family];
        member[w] = MPI_COMM_NULL != comm->comm &&
                    !(1 == comm->size && rma_has(limits->simpler, RMA_ALONE));
        if (member[w]) {
            make_window(run, &windows[w], w, comm);
        }
    }
    run_steps(run, windows, member);
    for (int w = 0; w < run->program.windows; ++w) {
        if (member[w]) {
            rma_window_free(&windows[w]);
        }
    }
    uint64_t ours[2] = {run->calls, run->failures};
    uint64_t all[2];
    MPI_Allreduce(ours, all, 2, MPI_UINT64_T, MPI_SUM, run->control);
    run->all_calls += all[0];
    return all[1];
}

void rma_run_all(rma_run_t *run)
{
    const rma_options_t *o = run->options;
    uint64_t enough = (o->calls + (uint64_t)o->threads - 1) / (uint64_t)o->threads;
    const diff_limits_t limits = o->limits;
    uint64_t first_without_calls = o->first;
    for (uint64_t index = o->first; run->all_calls < enough; ++index) {
        uint64_t before = run->all_calls;
        run->all_failures += rma_run_program(run, index, &limits);
        if (run->all_failures > 0 && !o->stay) {
            rma_shrink(run, index);
        }
        first_without_calls = run->all_calls > before ? index + 1 : first_without_calls;
        bool none_will_come = index > first_without_calls + 1000;
        if (run->all_failures > 0 || 0 != o->only_program || none_will_come) {
            return;
        }
    }
}
