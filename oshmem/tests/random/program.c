/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Drawing programs.  What is in a step is drawn by its kind.
 */
#include "program.h"

#include <string.h>

#include "run.h"

int rsh_set_index(const rsh_set_t *set, int pe)
{
    int distance = pe - set->start;
    int index = distance >> set->log_stride;
    bool in = distance >= 0 && index < set->size && rsh_set_pe(set, index) == pe;
    return in ? index : -1;
}

void rsh_program_draw(rsh_program_t *program, uint64_t seed, const diff_limits_t *limits, int pes)
{
    static const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED};
    diff_random_t random = {diff_mix(seed)};
    memset(program, 0, sizeof *program);
    program->seed = seed;
    program->without = limits->simpler;
    program->most_units = limits->most_units;
    program->pes = pes;
    program->epochs = 1 + (int)diff_draw(&random, 4);
    program->contexts = diff_chance(&random, 30) && !rsh_has(program->without, RSH_CONTEXTS);
    program->context_options = options[diff_draw(&random, 3)];
}

/* ---- what kinds draw with ---- */

bool rsh_may(rsh_draw_t *d, rsh_name_t name, unsigned percent)
{
    return diff_chance(&d->random, percent) && !rsh_has(d->program->without, name);
}

rsh_name_t rsh_draw_name(rsh_draw_t *d, rsh_name_t first, rsh_name_t end)
{
    rsh_name_t left[RSH_NUM_NAMES];
    unsigned num = 0;
    unsigned drawn = diff_draw(&d->random, 1u << 20);
    for (rsh_name_t name = first; name < end; ++name) {
        if (!rsh_has(d->program->without, name)) {
            left[num++] = name;
        }
    }
    return 0 == num ? RSH_NUM_NAMES : left[drawn % num];
}

int rsh_draw_pe(rsh_draw_t *d)
{
    return (int)diff_draw(&d->random, (unsigned)d->program->pes);
}

int rsh_draw_target(rsh_draw_t *d, int origin)
{
    int target = rsh_draw_pe(d);
    bool other = target == origin && rsh_has(d->program->without, RSH_SELF);
    return other ? (target + 1) % d->program->pes : target;
}

rsh_set_t rsh_draw_set(rsh_draw_t *d)
{
    int pes = d->program->pes;
    rsh_set_t set = {0, 0, pes};
    if (rsh_may(d, RSH_SETS, 60)) {
        set.start = rsh_draw_pe(d);
        set.log_stride = (int)diff_draw(&d->random, 3);
        int most = (pes - set.start - 1) / (1 << set.log_stride) + 1;
        set.size = 1 + (int)diff_draw(&d->random, (unsigned)most);
    }
    return set;
}

static size_t draw_bytes(rsh_draw_t *d)
{
    unsigned kind = diff_draw(&d->random, 100);
    bool large = rsh_may(d, RSH_LARGE, 4);
    size_t most = large ? (size_t)1 << 20 : kind < 50 ? 128 : kind < 85 ? 4096 : 65536;
    return 1 + diff_draw(&d->random, (unsigned)most);
}

size_t rsh_draw_count(rsh_draw_t *d, size_t bytes)
{
    size_t left = rsh_arena_bytes[RSH_HEAP] - d->epoch->used[RSH_HEAP];
    size_t wanted = draw_bytes(d);
    size_t count = (wanted < left / 8 ? wanted : left / 8) / (bytes > 0 ? bytes : 1);
    count = count < d->program->most_units ? count : d->program->most_units;
    count = count > 0 ? count : 1;
    return rsh_may(d, RSH_ZERO, 3) ? 0 : count;
}

rsh_where_t rsh_where(const rsh_draw_t *d, bool context)
{
    bool heap = context && rsh_has(d->program->without, RSH_CONTEXT_STATICS);
    return heap ? RSH_IN_HEAP : RSH_SYMMETRIC;
}

rsh_place_t rsh_draw_place(rsh_draw_t *d, size_t bytes, size_t align, rsh_where_t where)
{
    size_t gap = diff_draw(&d->random, 100);
    rsh_arena_t arena = RSH_HEAP;
    if (RSH_ANYWHERE == where && diff_chance(&d->random, 60)) {
        arena = RSH_PRIVATE;
    } else if (RSH_IN_HEAP != where && rsh_may(d, RSH_STATICS, 25)) {
        arena = RSH_STATIC;
    }
    size_t offset = (d->epoch->used[arena] + gap + align - 1) / align * align;
    if (offset + bytes > rsh_arena_bytes[arena]) {
        arena = RSH_HEAP;
        offset = (d->epoch->used[arena] + gap + align - 1) / align * align;
    }
    d->epoch->used[arena] = offset + bytes;
    return (rsh_place_t){arena, offset, bytes};
}

/* ---- epochs ---- */

static const rsh_kind_t *draw_kind(rsh_draw_t *d)
{
    unsigned all = 0;
    for (int i = 0; NULL != rsh_kinds[i]; ++i) {
        all += rsh_kinds[i]->weight;
    }
    unsigned drawn = diff_draw(&d->random, all);
    int i = 0;
    while (drawn >= rsh_kinds[i]->weight) {
        drawn -= rsh_kinds[i++]->weight;
    }
    return rsh_kinds[i];
}

/* Half of the heap is kept for steps that come. */
static bool is_full(const rsh_epoch_t *epoch)
{
    return epoch->used[RSH_HEAP] > rsh_arena_bytes[RSH_HEAP] / 2;
}

static void draw_step(rsh_draw_t *d)
{
    rsh_epoch_t *epoch = d->epoch;
    rsh_step_t *step = &epoch->steps[epoch->num_steps];
    const rsh_kind_t *kind = draw_kind(d);
    memset(step, 0, sizeof *step);
    step->kind = kind;
    step->seed = diff_mix(d->random.state);
    step->number = epoch->num_steps;
    step->name = rsh_draw_name(d, kind->first, kind->end);
    if (RSH_NUM_NAMES != step->name && kind->draw(d, step)) {
        epoch->calls += kind->calls(step);
        ++epoch->num_steps;
    }
}

void rsh_epoch_draw(rsh_epoch_t *epoch, const rsh_program_t *program, int number)
{
    memset(epoch, 0, sizeof *epoch);
    epoch->seed = diff_hash(program->seed, (uint64_t)number, 0x65706F);
    rsh_draw_t d = {program, epoch, {epoch->seed}};
    epoch->begins_with_sync = rsh_may(&d, RSH_SYNC_ALL, 50);
    int tries = 4 + (int)diff_draw(&d.random, RSH_MOST_STEPS - 4);
    for (int i = 0; i < tries && !is_full(epoch); ++i) {
        uint64_t before = d.random.state;
        draw_step(&d);
        d.random.state = diff_mix(before + 1); /* what a step draws changes no other */
    }
}
