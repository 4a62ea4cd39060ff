/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Drawing windows and epochs.  calls.c draws what is done with a slot.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

/* One of the names [first, end) that are not left out; else the first. */
static rma_name_t choose(diff_random_t *random, uint64_t without, rma_name_t first, rma_name_t end)
{
    rma_name_t left[RMA_NUM_NAMES];
    unsigned num = 0;
    unsigned drawn = diff_draw(random, 1u << 20);
    for (rma_name_t name = first; name < end; ++name) {
        if (!rma_has(without, name)) {
            left[num++] = name;
        }
    }
    return 0 == num ? first : left[drawn % num];
}

static bool may(diff_random_t *random, uint64_t without, rma_name_t name, unsigned percent)
{
    return diff_chance(random, percent) && !rma_has(without, name);
}

static size_t draw_slot_bytes(diff_random_t *random, bool large)
{
    size_t usual = (size_t)64 << (2 * diff_draw(random, 4)); /* 64 B to 4 KiB */
    size_t much = (size_t)32768 << diff_draw(random, 4);
    return large ? much : usual;
}

static void draw_window(rma_window_plan_t *plan, uint64_t seed, uint64_t without)
{
    static const diff_family_t families[] = {DIFF_DUP,          DIFF_DUP,   DIFF_REVERSED,
                                             DIFF_ODD_EVEN,     DIFF_GROUP, DIFF_ALONE,
                                             DIFF_ALL_BUT_LAST, DIFF_NODE};
    diff_random_t random = {seed};
    plan->seed = seed;
    plan->flavour = choose(&random, without, RMA_CREATE, RMA_DYNAMIC + 1);
    plan->family = families[diff_draw(&random, sizeof families / sizeof families[0])];
    if (RMA_SHARED == plan->flavour) {
        plan->family = DIFF_NODE;
    }
    bool large = may(&random, without, RMA_LARGE, 4);
    plan->slot_bytes = draw_slot_bytes(&random, large);
    plan->most_slots = 1 + (int)diff_draw(&random, large ? 1 : 6);
    plan->same_size = diff_chance(&random, 40);
    plan->same_unit = diff_chance(&random, 40);
    plan->no_locks = may(&random, without, RMA_INFO, 20);
    plan->unordered = may(&random, without, RMA_INFO, 20);
    plan->says_the_usual = may(&random, without, RMA_INFO, 40);
}

void rma_program_draw(rma_program_t *program, uint64_t seed, const diff_limits_t *limits)
{
    diff_random_t random = {diff_mix(seed)};
    memset(program, 0, sizeof *program);
    program->seed = seed;
    program->without = limits->simpler;
    program->most_units = limits->most_units;
    program->steps = 2 + (int)diff_draw(&random, 6);
    program->overlap = diff_chance(&random, 70);
    program->windows = may(&random, program->without, RMA_OVERLAP, 35) ? 2 : 1;
    for (int w = 0; w < program->windows; ++w) {
        draw_window(&program->window[w], diff_hash(seed, (uint64_t)w, 0x77696E), program->without);
    }
}

int rma_window_slots(const rma_window_plan_t *plan, int rank)
{
    unsigned drawn = (unsigned)(diff_hash(plan->seed, (uint64_t)rank, 1) >> 20);
    return plan->same_size ? plan->most_slots : (int)(drawn % ((unsigned)plan->most_slots + 1));
}

int rma_window_unit(const rma_window_plan_t *plan, uint64_t without, int rank)
{
    if (RMA_DYNAMIC == plan->flavour || rma_has(without, RMA_UNITS)) {
        return 1;
    }
    return 1 << (diff_hash(plan->seed, plan->same_unit ? 0 : (uint64_t)rank, 2) % 5); /* 1 to 16 */
}

/* ---- epochs ---- */

bool rma_epoch_passive(rma_name_t sync)
{
    return RMA_LOCK == sync || RMA_LOCK_ALL == sync;
}

rma_name_t rma_epoch_sync(const rma_program_t *program, int window, int step)
{
    const rma_window_plan_t *plan = &program->window[window];
    diff_random_t random = {diff_hash(plan->seed, (uint64_t)step, 3)};
    uint64_t locks = UINT64_C(1) << RMA_LOCK | UINT64_C(1) << RMA_LOCK_ALL;
    return choose(&random, program->without | (plan->no_locks ? locks : 0), RMA_FENCE,
                  RMA_LOCK_ALL + 1);
}

bool rma_epoch_access(const rma_epoch_t *epoch, int origin, int target)
{
    uint64_t pair = (uint64_t)origin * (uint64_t)epoch->size + (uint64_t)target;
    return RMA_PSCW != epoch->sync || 0 != diff_hash(epoch->seed, pair, 4) % 3;
}

bool rma_epoch_exclusive(const rma_epoch_t *epoch, uint64_t without, int origin, int target)
{
    uint64_t pair = (uint64_t)origin * (uint64_t)epoch->size + (uint64_t)target;
    return !rma_has(without, RMA_EXCLUSIVE) && 0 == diff_hash(epoch->seed, pair, 5) % 3;
}

void rma_epoch_free(rma_epoch_t *epoch)
{
    for (int i = 0; i < epoch->num_slots; ++i) {
        if (RMA_UNUSED != epoch->slots[i].use) {
            diff_layout_free(&epoch->slots[i].layout);
        }
    }
    free(epoch->slots);
    free(epoch->calls);
}
