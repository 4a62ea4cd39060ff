/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Steps of a lock: each PE of a set takes it some times, and changes a number that nothing else
 * protects.
 */
#include <stdio.h>
#include <string.h>

#include "run.h"

static bool draw(rsh_draw_t *d, rsh_step_t *step)
{
    step->set = rsh_draw_set(d);
    step->target = rsh_draw_pe(d);
    step->repeat = 1 + (int)diff_draw(&d->random, 3);
    step->detail = (int)diff_draw(&d->random, RSH_LOCKS);
    step->to = rsh_draw_place(d, sizeof(long), sizeof(long), RSH_SYMMETRIC);
    return true;
}

static uint64_t calls(const rsh_step_t *step)
{
    return 5 * (uint64_t)step->repeat * (uint64_t)step->set.size;
}

static long addend(const rsh_step_t *step, int pe)
{
    return (long)(diff_hash(step->seed, (uint64_t)pe, 31) >> 20);
}

static void expect(rsh_memory_t *memory, const rsh_step_t *step)
{
    unsigned long number;
    if (memory->pe != step->target) {
        return;
    }
    rsh_initial(memory, step->target, &step->to, 0, sizeof number, &number);
    for (int i = 0; i < step->set.size; ++i) {
        number +=
            (unsigned long)step->repeat * (unsigned long)addend(step, rsh_set_pe(&step->set, i));
    }
    memcpy(rsh_expected(memory, &step->to), &number, sizeof number);
}

static void take(const rsh_run_t *r, const rsh_step_t *step, long *lock)
{
    int turns = 0;
    while (RSH_TEST_LOCK == step->name && rsh_loops_on(r, &turns)) {
        if (0 == shmem_test_lock(lock)) {
            return;
        }
    }
    shmem_set_lock(lock);
}

static void run(rsh_run_t *r, const rsh_step_t *step)
{
    long *number = (long *)rsh_at(&r->memory, &step->to);
    long *lock = &r->locks[step->detail];
    bool takes_part = rsh_set_index(&step->set, r->pe) >= 0;
    for (int i = 0; i < step->repeat && takes_part; ++i) {
        bool lost = rsh_is_lost(r, step->name);
        if (!lost) {
            take(r, step, lock);
        }
        unsigned long old = (unsigned long)shmem_long_g(number, step->target);
        rsh_be_late(r, step, lost ? 100 : 10, i); /* with the lock held */
        shmem_long_p(number, (long)(old + (unsigned long)addend(step, r->pe)), step->target);
        shmem_quiet();
        if (!lost) {
            shmem_clear_lock(lock);
        }
    }
}

static void describe(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size, "%s of lock %d, a number of PE %d, by PEs from %d on, stride %d, %d PEs",
             rsh_name(step->name), step->detail, step->target, step->set.start,
             1 << step->set.log_stride, step->set.size);
}

const rsh_kind_t rsh_locks = {RSH_SET_LOCK, RSH_QUIET, 4,   draw, calls,
                              NULL,         expect,    run, NULL, describe};
