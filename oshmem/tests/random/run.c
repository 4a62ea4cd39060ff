/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Running programs one after the other.
 */
#include "run.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch.h"

const rsh_kind_t *const rsh_kinds[] = {
    &rsh_transfers, &rsh_atomics,  &rsh_contests,    &rsh_chains,     &rsh_fans, &rsh_locks,
    &rsh_fences,    &rsh_barriers, &rsh_collectives, &rsh_reductions, NULL,
};

/* Longs of a pSync that does for all calls. */
enum {
    SYNC_LONGS = SHMEM_BARRIER_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE +
                 SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE
};

static const char *const arena_names[RSH_ARENAS] = {"the heap", "static data", "private memory"};

/* ---- a run ---- */

static void *symmetric(size_t num, size_t size)
{
    void *memory = shmem_calloc(num, size);
    if (NULL == memory) {
        fprintf(stderr, "random_shmem: no symmetric memory\n");
        shmem_global_exit(3);
    }
    return memory;
}

void rsh_run_open(rsh_run_t *run, const rsh_options_t *options)
{
    memset(run, 0, sizeof *run);
    run->options = options;
    run->limits = options->limits;
    run->pe = shmem_my_pe();
    run->pes = shmem_n_pes();
    run->locks = symmetric(RSH_LOCKS, sizeof(long));
    run->syncs = symmetric(RSH_MOST_STEPS * SYNC_LONGS, sizeof(long));
    run->failed = symmetric((size_t)run->pes, sizeof(long));
    for (int i = 0; i < RSH_MOST_STEPS * SYNC_LONGS; ++i) {
        run->syncs[i] = SHMEM_SYNC_VALUE;
    }
    if (!rsh_memory_open(&run->memory, run->pe, run->pes)) {
        fprintf(stderr, "random_shmem: no memory\n");
        shmem_global_exit(3);
    }
    shmem_barrier_all();
}

void rsh_run_close(rsh_run_t *run)
{
    shmem_barrier_all();
    rsh_memory_close(&run->memory);
    shmem_free(run->failed);
    shmem_free(run->syncs);
    shmem_free(run->locks);
}

uint64_t rsh_run_seed(const rsh_run_t *run, uint64_t index)
{
    return 0 != run->options->only_program ? run->options->only_program
                                           : diff_hash(run->options->seed, 0, index);
}

void rsh_run_describe(uint64_t seed, const diff_limits_t *limits, char *text, size_t size)
{
    char names[640];
    rsh_options_format(limits->simpler, names, sizeof names);
    size_t used = (size_t)snprintf(text, size, "--program 0x%" PRIx64 "%s", seed, names);
    if (SIZE_MAX != limits->most_units && used < size) {
        snprintf(text + used, size - used, " --most-units %zu", limits->most_units);
    }
}

/* Where this PE is, for the thread that watches it; step 0: it begins the epoch, one more than there
 * are: it ends it. */
static atomic_int current_epoch, current_step;

void rsh_run_describe_place(uint64_t seed, const diff_limits_t *limits, char *text, size_t size)
{
    int used =
        snprintf(text, size,
                 "epoch %d, step %d: ", atomic_load_explicit(&current_epoch, memory_order_relaxed),
                 atomic_load_explicit(&current_step, memory_order_relaxed));
    rsh_run_describe(seed, limits, text + used, size - (size_t)used);
}

static void enter_step(int number)
{
    atomic_store_explicit(&current_step, number, memory_order_relaxed);
}

/* ---- for steps ---- */

void rsh_fail(rsh_run_t *run, const rsh_step_t *step, const char *text)
{
    enum { ENOUGH = 3 };
    char which[256] = "no step";
    char program[768];
    ++run->failures;
    if (run->quiet || run->told++ >= ENOUGH) {
        return;
    }
    if (NULL != step) {
        step->kind->describe(step, which, sizeof which);
    }
    rsh_run_describe(run->program.seed, &run->limits, program, sizeof program);
    fprintf(stderr,
            "random_shmem: wrong: seed 0x%" PRIx64 ", program %" PRIu64 ", epoch %d, step %d (%s), "
            "PE %d of %d: %s (%s)\n",
            run->options->seed, run->index, run->number, NULL != step ? step->number : -1, which,
            run->pe, run->pes, text, program);
}

bool rsh_check(rsh_run_t *run, const rsh_step_t *step, const rsh_place_t *place)
{
    const unsigned char *have = rsh_at(&run->memory, place);
    const unsigned char *want = rsh_expected(&run->memory, place);
    size_t at = 0;
    if (rsh_memory_right(have, want, place->bytes, &at)) {
        return true;
    }
    char text[192];
    snprintf(text, sizeof text, "after the call byte %zu (in %s) is 0x%02x, expected 0x%02x", at,
             arena_names[place->arena], have[at], want[at]);
    rsh_fail(run, step, text);
    return false;
}

void rsh_be_late(const rsh_run_t *run, const rsh_step_t *step, unsigned percent, int salt)
{
    uint64_t drawn = diff_hash(step->seed, (uint64_t)run->pe << 16 | (uint64_t)salt, 71);
    if (drawn % 100 < percent && !rsh_left_out(run, RSH_LATE)) {
        usleep((useconds_t)(drawn >> 20) % 2000);
    }
}

bool rsh_loops_on(const rsh_run_t *run, int *turns)
{
    enum { ENOUGH = 20 };
    if (*turns > 0) {
        sched_yield();
    }
    return ++*turns <= ENOUGH || !rsh_left_out(run, RSH_BARE);
}

const shmem_ctx_t *rsh_context(const rsh_run_t *run, const rsh_step_t *step)
{
    return step->context && run->has_context ? &run->context : NULL;
}

bool rsh_is_lost(const rsh_run_t *run, rsh_name_t name)
{
    return 0 == run->pe && RSH_LOSE == run->options->fault && name == run->options->lost;
}

void rsh_quiet(const shmem_ctx_t *context)
{
    if (NULL != context) {
        shmem_ctx_quiet(*context);
    } else {
        shmem_quiet();
    }
}

void rsh_fence(const shmem_ctx_t *context)
{
    if (NULL != context) {
        shmem_ctx_fence(*context);
    } else {
        shmem_fence();
    }
}

bool rsh_left_out(const rsh_run_t *run, rsh_name_t name)
{
    return rsh_has(run->program.without, name);
}

long *rsh_sync_array(const rsh_run_t *run, const rsh_step_t *step)
{
    return &run->syncs[step->number * SYNC_LONGS];
}

/* ---- an epoch ---- */

static void prepare(rsh_run_t *run)
{
    rsh_memory_fill(&run->memory, &run->epoch);
    for (int i = 0; i < run->epoch.num_steps; ++i) {
        const rsh_step_t *step = &run->epoch.steps[i];
        if (NULL != step->kind->begin) {
            step->kind->begin(&run->memory, step);
        }
        step->kind->expect(&run->memory, step);
    }
}

static void do_steps(rsh_run_t *run)
{
    for (int i = 0; i < run->epoch.num_steps; ++i) {
        const rsh_step_t *step = &run->epoch.steps[i];
        enter_step(i + 1);
        rsh_be_late(run, step, 2, 0);
        step->kind->run(run, step);
    }
    enter_step(run->epoch.num_steps + 1);
}

static bool is_in(const rsh_place_t *place, rsh_arena_t arena, size_t at)
{
    return arena == place->arena && at >= place->offset && at < place->offset + place->bytes;
}

static const rsh_step_t *step_at(const rsh_run_t *run, rsh_arena_t arena, size_t at)
{
    for (int i = 0; i < run->epoch.num_steps; ++i) {
        const rsh_step_t *step = &run->epoch.steps[i];
        if (is_in(&step->from, arena, at) || is_in(&step->to, arena, at) ||
            is_in(&step->extra, arena, at)) {
            return step;
        }
    }
    return NULL;
}

static const char *role_of(const rsh_step_t *step, rsh_arena_t arena, size_t at)
{
    return NULL == step                    ? "between places"
           : is_in(&step->from, arena, at) ? "of the source"
           : is_in(&step->to, arena, at)   ? "of the target"
                                           : "of the flag or pWrk";
}

static void compare(rsh_run_t *run, rsh_arena_t arena)
{
    const unsigned char *have = run->memory.base[arena];
    const unsigned char *want = run->memory.expected[arena];
    size_t at = 0;
    if (!rsh_memory_right(have, want, run->memory.used[arena], &at)) {
        const rsh_step_t *step = step_at(run, arena, at);
        char text[192];
        snprintf(text, sizeof text, "at the end byte %zu of %s (%s) is 0x%02x, expected 0x%02x", at,
                 arena_names[arena], role_of(step, arena, at), have[at], want[at]);
        rsh_fail(run, step, text);
    }
}

static void check_syncs(rsh_run_t *run)
{
    for (int i = 0; i < RSH_MOST_STEPS * SYNC_LONGS; ++i) {
        int step = i / SYNC_LONGS;
        if (SHMEM_SYNC_VALUE != run->syncs[i]) {
            rsh_fail(run, step < run->epoch.num_steps ? &run->epoch.steps[step] : NULL,
                     "pSync is not as it was");
            run->syncs[i] = SHMEM_SYNC_VALUE;
        }
    }
}

static void apply_fault(rsh_run_t *run)
{
    if (0 == run->pe && RSH_FLIP_MEMORY == run->options->fault) {
        run->memory.base[RSH_HEAP][run->memory.used[RSH_HEAP] / 2] ^= 0x10;
    }
    while (0 == run->pe && RSH_HANG == run->options->fault) {
        pause();
    }
}

static void conclude(rsh_run_t *run)
{
    for (int i = 0; i < run->epoch.num_steps; ++i) {
        const rsh_step_t *step = &run->epoch.steps[i];
        if (NULL != step->kind->settle) {
            step->kind->settle(run, step);
        }
    }
    for (int arena = 0; arena < RSH_ARENAS; ++arena) {
        compare(run, (rsh_arena_t)arena);
    }
    check_syncs(run);
}

static void run_epoch(rsh_run_t *run, int number)
{
    run->number = number;
    atomic_store_explicit(&current_epoch, number, memory_order_relaxed);
    enter_step(0);
    rsh_epoch_draw(&run->epoch, &run->program, number);
    diff_watch_enter(0, run->index, run->program.seed, &run->limits);
    prepare(run);
    if (run->epoch.begins_with_sync) {
        shmem_sync_all();
    } else {
        shmem_barrier_all();
    }
    do_steps(run);
    if (run->has_context) {
        shmem_ctx_quiet(run->context);
    }
    shmem_barrier_all();
    apply_fault(run);
    conclude(run);
    run->calls += run->epoch.calls;
}

/* ---- programs ---- */

/* Failures of all PEs.  All have left the epochs before when one writes again. */
static uint64_t agree(rsh_run_t *run)
{
    uint64_t all = 0;
    for (int pe = 0; pe < run->pes; ++pe) {
        shmem_long_p(&run->failed[run->pe], (long)run->failures, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < run->pes; ++pe) {
        all += (uint64_t)run->failed[pe];
    }
    return all;
}

uint64_t rsh_run_program(rsh_run_t *run, uint64_t index, const diff_limits_t *limits)
{
    run->index = index;
    run->limits = *limits;
    run->failures = 0;
    rsh_program_draw(&run->program, rsh_run_seed(run, index), limits, run->pes);
    run->has_context =
        run->program.contexts && 0 == shmem_ctx_create(run->program.context_options, &run->context);
    for (int number = 0; number < run->program.epochs; ++number) {
        run_epoch(run, number);
    }
    if (run->has_context) {
        shmem_ctx_destroy(run->context);
    }
    return agree(run);
}

void rsh_run_all(rsh_run_t *run)
{
    const rsh_options_t *o = run->options;
    const diff_limits_t limits = o->limits;
    uint64_t first_without_calls = o->first;
    for (uint64_t index = o->first; run->calls < o->calls; ++index) {
        uint64_t before = run->calls;
        run->all_failures += rsh_run_program(run, index, &limits);
        if (run->all_failures > 0 && !o->stay) {
            rsh_shrink(run, index);
        }
        first_without_calls = run->calls > before ? index + 1 : first_without_calls;
        bool none_will_come = index > first_without_calls + 1000;
        if (run->all_failures > 0 || 0 != o->only_program || none_will_come) {
            return;
        }
    }
}
