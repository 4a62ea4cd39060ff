/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Steps that order and complete others: quiet and fence of one PE; barriers and syncs of many.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

/* ---- quiet and fence ---- */

static bool draw_fence(rsh_draw_t *d, rsh_step_t *step)
{
    step->origin = rsh_draw_pe(d);
    step->context = d->program->contexts && diff_chance(&d->random, 50);
    return true;
}

static uint64_t one_call(const rsh_step_t *step)
{
    (void)step;
    return 1;
}

static void expect_nothing(rsh_memory_t *memory, const rsh_step_t *step)
{
    (void)memory;
    (void)step;
}

/* Quiet completes earlier gets of this PE. */
static void check_gets(rsh_run_t *r, const rsh_step_t *step)
{
    for (int i = 0; i < step->number; ++i) {
        const rsh_step_t *earlier = &r->epoch.steps[i];
        if (RSH_GET_NBI == earlier->name && r->pe == earlier->origin &&
            step->context == earlier->context) {
            rsh_check(r, earlier, &earlier->to);
        }
    }
}

static void run_fence(rsh_run_t *r, const rsh_step_t *step)
{
    if (r->pe != step->origin) {
        return;
    }
    if (RSH_FENCE == step->name) {
        rsh_fence(rsh_context(r, step));
    } else if (!rsh_is_lost(r, RSH_QUIET)) {
        rsh_quiet(rsh_context(r, step));
        check_gets(r, step);
    }
}

static void describe_fence(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size, "%s of PE %d%s", rsh_name(step->name), step->origin,
             step->context ? ", in a context" : "");
}

const rsh_kind_t rsh_fences = {RSH_QUIET, RSH_BARRIER_ALL, 6,         draw_fence, one_call,
                               NULL,      expect_nothing,  run_fence, NULL,       describe_fence};

/* ---- barriers: each PE puts a word to the next (barrier), or stores one that the PE before gets
   (sync) ---- */

static bool draw(rsh_draw_t *d, rsh_step_t *step)
{
    bool all = RSH_BARRIER_ALL == step->name || RSH_SYNC_ALL == step->name;
    step->set = all ? (rsh_set_t){0, 0, d->program->pes} : rsh_draw_set(d);
    step->repeat = all ? 1 : 1 + (int)diff_draw(&d->random, 3);
    step->from = rsh_draw_place(d, sizeof(long), sizeof(long), RSH_SYMMETRIC);
    step->to = rsh_draw_place(d, sizeof(long), sizeof(long), RSH_SYMMETRIC);
    return true;
}

static uint64_t calls(const rsh_step_t *step)
{
    return (uint64_t)(1 + step->repeat) * (uint64_t)step->set.size;
}

static bool is_sync(const rsh_step_t *step)
{
    return RSH_SYNC == step->name || RSH_SYNC_ALL == step->name;
}

static long word_of(const rsh_step_t *step, int pe)
{
    return (long)diff_hash(step->seed, (uint64_t)pe, 41);
}

static int neighbour(const rsh_step_t *step, int index, int distance)
{
    return rsh_set_pe(&step->set, (index + distance + step->set.size) % step->set.size);
}

static void expect(rsh_memory_t *memory, const rsh_step_t *step)
{
    int index = rsh_set_index(&step->set, memory->pe);
    if (index < 0) {
        return;
    }
    long own = word_of(step, memory->pe);
    long got = word_of(step, neighbour(step, index, is_sync(step) ? 1 : -1));
    if (is_sync(step)) {
        memcpy(rsh_expected(memory, &step->from), &own, sizeof own);
    }
    memcpy(rsh_expected(memory, &step->to), &got, sizeof got);
}

static void call(rsh_run_t *r, const rsh_step_t *step)
{
    const rsh_set_t *set = &step->set;
    long *array = rsh_sync_array(r, step);
    switch (step->name) {
    case RSH_BARRIER_ALL:
        shmem_barrier_all();
        break;
    case RSH_SYNC_ALL:
        shmem_sync_all();
        break;
    case RSH_BARRIER:
        shmem_barrier(set->start, set->log_stride, set->size, array);
        break;
    default:
        shmem_sync(set->start, set->log_stride, set->size, array);
        break;
    }
}

/* Puts of the set's PEs that this barrier completes. */
static void check_puts(rsh_run_t *r, const rsh_step_t *step)
{
    for (int i = 0; i < step->number; ++i) {
        const rsh_step_t *earlier = &r->epoch.steps[i];
        bool put =
            RSH_PUT == earlier->name || RSH_PUT_NBI == earlier->name || RSH_IPUT == earlier->name;
        if (put && r->pe == earlier->target && !earlier->context &&
            rsh_set_index(&step->set, earlier->origin) >= 0) {
            rsh_check(r, earlier, &earlier->to);
        }
    }
}

static void run(rsh_run_t *r, const rsh_step_t *step)
{
    int index = rsh_set_index(&step->set, r->pe);
    long *from = (long *)rsh_at(&r->memory, &step->from);
    long *to = (long *)rsh_at(&r->memory, &step->to);
    if (index < 0) {
        return;
    }
    rsh_be_late(r, step, 10, 1);
    if (is_sync(step)) {
        atomic_store((_Atomic(long) *)from, word_of(step, r->pe));
    } else {
        shmem_long_p(to, word_of(step, r->pe), neighbour(step, index, 1));
    }
    for (int i = 0; i < step->repeat && !rsh_is_lost(r, step->name); ++i) {
        call(r, step);
    }
    if (is_sync(step)) {
        *to = shmem_long_g(from, neighbour(step, index, 1));
    } else {
        check_puts(r, step);
    }
    rsh_check(r, step, &step->to);
}

static void describe(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size, "%s of PEs from %d on, stride %d, %d PEs", rsh_name(step->name),
             step->set.start, 1 << step->set.log_stride, step->set.size);
}

const rsh_kind_t rsh_barriers = {RSH_BARRIER_ALL, RSH_BROADCAST, 10,   draw,    calls, NULL,
                                 expect,          run,           NULL, describe};
