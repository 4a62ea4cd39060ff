/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Drawing a call.
 */
#include "plan.h"

#include <stdio.h>
#include <string.h>

#include "known_faults.h"

/* ---- what kind of call ---- */

static diff_collective_t draw_collective(diff_random_t *random, unsigned allowed)
{
    /* the component's own are the subject: three in four calls */
    bool ours = diff_chance(random, 75);
    for (;;) {
        unsigned which = diff_draw(random, DIFF_NUM_COLLECTIVES);
        bool fits = ours == (which < DIFF_NUM_HANDLED);
        if (0 != (allowed >> which & 1) && (fits || diff_chance(random, 20))) {
            return (diff_collective_t)which;
        }
    }
}

static diff_mode_t draw_mode(diff_random_t *random, unsigned allowed)
{
    static const diff_mode_t modes[20] = {DIFF_NONBLOCKING, DIFF_NONBLOCKING, DIFF_PERSISTENT,
                                          DIFF_BIG_COUNT,   DIFF_BIG_COUNT,   DIFF_BIG_COUNT,
                                          DIFF_BIG_COUNT}; /* and thirteen of DIFF_BLOCKING, which
                                                              is 0 */
    for (;;) {
        diff_mode_t mode = modes[diff_draw(random, 20)];
        if (0 == (allowed >> mode & 1)) {
            mode = (diff_mode_t)diff_draw(random, DIFF_NUM_MODES);
        } else if (!diff_mode_exists(mode)) {
            mode = DIFF_BLOCKING;
        }
        if (0 != (allowed >> mode & 1) && diff_mode_exists(mode)) {
            return mode;
        }
    }
}

bool diff_plan_reduces(const diff_plan_t *plan)
{
    switch (plan->collective) {
    case DIFF_ALLREDUCE:
    case DIFF_REDUCE:
    case DIFF_REDUCE_SCATTER:
    case DIFF_REDUCE_SCATTER_BLOCK:
    case DIFF_SCAN:
    case DIFF_EXSCAN:
        return true;
    default:
        return false;
    }
}

static bool may_be_in_place(diff_collective_t collective)
{
    return DIFF_BARRIER != collective && DIFF_BCAST != collective &&
           DIFF_NEIGHBOR_ALLTOALL != collective;
}

/* Of each block. */
static bool takes_counts(diff_collective_t collective)
{
    switch (collective) {
    case DIFF_ALLGATHERV:
    case DIFF_ALLTOALLV:
    case DIFF_ALLTOALLW:
    case DIFF_GATHERV:
    case DIFF_SCATTERV:
    case DIFF_REDUCE_SCATTER:
        return true;
    default:
        return false;
    }
}

/* ---- datatypes ---- */

static void draw_signature(diff_signature_t *signature, diff_random_t *random)
{
    unsigned kind = diff_draw(random, 100);
    signature->num = kind < 3 ? 0 : kind < 70 ? 1 : 2 + (int)diff_draw(random, 3);
    for (int i = 0; i < signature->num; ++i) {
        signature->kind[i] = &diff_kinds[diff_draw(random, (unsigned)diff_num_kinds)];
    }
}

static void draw_reduction(diff_plan_t *plan, diff_random_t *random, bool inexact)
{
    plan->op = diff_operator_draw(random, inexact);
    if (plan->op->any_layout) {
        return;
    }
    do {
        plan->signature[0].num = 1;
        plan->signature[0].kind[0] = &diff_kinds[diff_draw(random, (unsigned)diff_num_kinds)];
    } while (!diff_operator_fits(plan->op, plan->signature[0].kind[0]));
    plan->style = DIFF_PLAIN;
    plan->units[0] = 1;
    plan->units[1] = 1;
}

static diff_style_t draw_style(diff_random_t *random)
{
    diff_style_t style;
    do {
        style = (diff_style_t)diff_draw(random, DIFF_NUM_STYLES);
    } while (diff_known_fault_style(style));
    return style;
}

/* Units of an element: often one, else few; signatures of many items have less room. */
static int draw_units(const diff_plan_t *plan, diff_random_t *random)
{
    static const int units[] = {1, 1, 1, 2, 3, 4, 6, DIFF_MAX_UNITS};
    int wanted = units[diff_draw(random, 8)];
    for (int i = 0; i < plan->num_signatures; ++i) {
        while (wanted > 1 && wanted * plan->signature[i].num > DIFF_MAX_ITEMS) {
            --wanted;
        }
    }
    return wanted;
}

/* Without the component, blocking calls would meet them; the others always do. */
static void avoid_known_faults(diff_plan_t *plan, diff_random_t *random, bool beyond_stock)
{
    bool ours = beyond_stock && (DIFF_BLOCKING == plan->mode || DIFF_BIG_COUNT == plan->mode);
    diff_style_t style = (diff_style_t)diff_draw(random, DIFF_VECTOR + 1);
    if (!ours && diff_known_fault_sizes(plan->collective)) {
        plan->units[1] = plan->units[0];
    }
    if (!ours && diff_known_fault_layouts(plan->collective, plan->mode)) {
        plan->style = style;
        plan->units[1] = plan->units[0];
        plan->alike = true;
    }
    for (int i = 0; i < 2; ++i) {
        diff_signature_t *signature = &plan->signature[i];
        if (0 == signature->num && diff_known_fault_empty(plan->mode)) {
            *signature = (diff_signature_t){1, {diff_kind_of(MPI_INT)}};
        }
        for (int k = 0; k < signature->num && diff_known_fault_complex(); ++k) {
            bool is_complex = DIFF_COMPLEX == signature->kind[k]->class;
            signature->kind[k] = is_complex ? diff_kind_of(MPI_DOUBLE) : signature->kind[k];
        }
    }
    if (diff_known_fault_in_place(plan->collective, plan->mode)) {
        plan->in_place = false;
    }
}

static void draw_datatypes(diff_plan_t *plan, diff_random_t *random, const diff_choice_t *choice)
{
    plan->num_signatures = DIFF_ALLTOALLW == plan->collective ? 2 : 1;
    draw_signature(&plan->signature[0], random);
    draw_signature(&plan->signature[1], random);
    plan->style = draw_style(random);
    plan->units[0] = draw_units(plan, random);
    plan->units[1] = draw_units(plan, random);
    plan->alike = diff_chance(random, 50);
    if (0 == diff_draw(random, 150)) {
        plan->style = DIFF_WIDE;
        plan->units[1] = plan->units[0];
        plan->alike = true;
    }
    avoid_known_faults(plan, random, choice->beyond_stock);
    if (diff_plan_reduces(plan)) {
        draw_reduction(plan, random, choice->inexact);
        plan->alike = true; /* MPI wants one datatype on all ranks */
    }
}

static void draw_size(diff_plan_t *plan, diff_random_t *random, size_t most_bytes)
{
    size_t most = 0 == diff_draw(random, 200) ? 8 * most_bytes : most_bytes;
    size_t part = 1 + diff_draw(random, 1000);
    switch (diff_draw(random, 8)) {
    case 0: /* empty messages */
        break;
    case 1:
        plan->small_units = 1;
        break;
    case 2:
    case 3:
    case 4:
        plan->small_units = 1 + 2 * diff_draw(random, 50);
        break;
    case 5:
    case 6:
        plan->bytes = most / 16 * part / 1000 + 1;
        break;
    default:
        plan->bytes = most * part / 1000 + 1;
        break;
    }
    if (DIFF_WIDE == plan->style) {
        plan->small_units = 1 + diff_draw(random, 2);
    }
}

/* ---- simplifying ---- */

static void simplify_datatypes(diff_plan_t *plan, uint64_t simpler)
{
    if (0 != (simpler & (DIFF_SIMPLER_LAYOUT | DIFF_SIMPLER_INT))) {
        plan->units[0] = 1;
        plan->units[1] = 1;
    }
    if (0 != (simpler & DIFF_SIMPLER_LAYOUT)) {
        plan->style = DIFF_PLAIN;
        plan->alike = true;
    }
    if (0 != (simpler & DIFF_SIMPLER_INT)) {
        for (int i = 0; i < 2; ++i) {
            plan->signature[i] = (diff_signature_t){1, {diff_kind_of(MPI_INT)}};
        }
        if (NULL != plan->op && !plan->op->inexact) {
            plan->op = diff_operator_simplest(plan->op->commutative);
        }
    }
}

static void simplify(diff_plan_t *plan, uint64_t simpler)
{
    plan->mode = 0 != (simpler & DIFF_SIMPLER_BLOCKING) ? DIFF_BLOCKING : plan->mode;
    if (0 != (simpler & DIFF_SIMPLER_DUP)) {
        plan->family = DIFF_NEIGHBOR_ALLTOALL == plan->collective ? DIFF_GRID : DIFF_DUP;
    }
    plan->late = plan->late && 0 == (simpler & DIFF_SIMPLER_PUNCTUAL);
    plan->root = 0 != (simpler & DIFF_SIMPLER_ROOT) ? 0 : plan->root;
    plan->in_place = plan->in_place && 0 == (simpler & DIFF_SIMPLER_APART);
    plan->uneven = plan->uneven && 0 == (simpler & DIFF_SIMPLER_EVEN);
    plan->scattered = plan->scattered && 0 == (simpler & DIFF_SIMPLER_PLACED);
    plan->alike = plan->alike || 0 != (simpler & DIFF_SIMPLER_ALIKE);
    simplify_datatypes(plan, simpler);
}

void diff_plan_draw(diff_plan_t *plan, uint64_t seed, const diff_choice_t *choice,
                    const diff_limits_t *limits)
{
    diff_random_t random = {seed};
    *plan =
        (diff_plan_t){.seed = seed, .most_units = SIZE_MAX, .beyond_stock = choice->beyond_stock};
    plan->collective = draw_collective(&random, choice->collectives);
    plan->mode = draw_mode(&random, choice->modes);
    plan->family = (diff_family_t)diff_draw(&random, DIFF_NUM_FAMILIES);
    plan->family = diff_chance(&random, 2) || choice->fresh ? DIFF_FRESH : plan->family;
    if (DIFF_NEIGHBOR_ALLTOALL == plan->collective) {
        plan->family = DIFF_GRID;
    }
    plan->root = diff_draw(&random, 1u << 30);
    plan->late = diff_chance(&random, DIFF_BARRIER == plan->collective ? 50 : 5);
    plan->in_place = diff_chance(&random, 30) && may_be_in_place(plan->collective);
    plan->uneven = diff_chance(&random, 75) && takes_counts(plan->collective);
    plan->scattered = diff_chance(&random, 75) && takes_counts(plan->collective) &&
                      DIFF_REDUCE_SCATTER != plan->collective;
    plan->null_where_ignored = diff_chance(&random, 50);
    draw_datatypes(plan, &random, choice);
    draw_size(plan, &random, choice->most_bytes);
    simplify(plan, limits->simpler);
    plan->most_units =
        limits->most_units < plan->most_units ? limits->most_units : plan->most_units;
}

/* ---- what follows from a plan ---- */

static size_t common_multiple(const diff_plan_t *plan)
{
    size_t a = (size_t)plan->units[0];
    size_t b = (size_t)plan->units[1];
    size_t multiple = a;
    while (0 != multiple % b) {
        multiple += a;
    }
    return multiple;
}

/* Blocks that share a rank's buffer. */
static int blocks_of(const diff_plan_t *plan, int size)
{
    switch (plan->collective) {
    case DIFF_BCAST:
    case DIFF_ALLREDUCE:
    case DIFF_REDUCE:
    case DIFF_SCAN:
    case DIFF_EXSCAN:
        return 1;
    case DIFF_NEIGHBOR_ALLTOALL:
        return 2 * DIFF_GRID_DIMENSIONS;
    default:
        return size;
    }
}

/* 0 stays 0, what is more is at least one element. */
size_t diff_plan_most_units(const diff_plan_t *plan, int size)
{
    size_t step = common_multiple(plan);
    size_t bytes = diff_signature_size(&plan->signature[0]);
    size_t other = diff_signature_size(&plan->signature[1]);
    bytes = plan->num_signatures > 1 && other > bytes ? other : bytes;
    size_t units = plan->small_units;
    if (0 == units) {
        units = plan->bytes / ((0 == bytes ? 16 : bytes) * (size_t)blocks_of(plan, size));
    }
    units = units < plan->most_units ? units : plan->most_units;
    return units > 0 && units < step ? step : units / step * step;
}

size_t diff_plan_units(const diff_plan_t *plan, int size, int from, int to)
{
    size_t most = diff_plan_most_units(plan, size);
    size_t step = common_multiple(plan);
    if (!plan->uneven || 0 == most) {
        return most;
    }
    uint64_t random = diff_hash(plan->seed ^ 0x756E6974, (uint64_t)from, (uint64_t)to);
    switch (random % 5) {
    case 0:
        return 0;
    case 1:
        return step;
    case 2:
        return most;
    default:
        return (size_t)(random >> 8) % (most / step + 1) * step;
    }
}

int diff_plan_signature(const diff_plan_t *plan, int from, int to)
{
    uint64_t random = diff_hash(plan->seed ^ 0x7369676E, (uint64_t)from, (uint64_t)to);
    return plan->num_signatures > 1 ? (int)(random % 2) : 0;
}

void diff_plan_layouts(const diff_plan_t *plan, int rank, int side, diff_layout_t layouts[2])
{
    uint64_t who = plan->alike ? 0 : (uint64_t)(2 * rank + side + 1);
    diff_random_t random = {diff_hash(plan->seed, who, 0x6C61)};
    diff_style_t style = plan->style;
    int units = plan->units[0];
    if (!plan->alike) {
        style = draw_style(&random);
        units = plan->units[diff_draw(&random, 2)];
    }
    for (int i = 0; i < plan->num_signatures; ++i) {
        diff_layout_make(&layouts[i], &plan->signature[i], units, style, &random);
    }
}

static void describe_signature(const diff_signature_t *signature, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "{");
    for (int i = 0; i < signature->num && used < size; ++i) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", 0 == i ? "" : ", ",
                                 signature->kind[i]->name + 4); /* without MPI_ */
    }
    if (used < size) {
        snprintf(text + used, size - used, "}");
    }
}

void diff_plan_describe(const diff_plan_t *plan, char *text, size_t size)
{
    char signatures[2][128];
    describe_signature(&plan->signature[0], signatures[0], sizeof signatures[0]);
    describe_signature(&plan->signature[1], signatures[1], sizeof signatures[1]);
    bool two = plan->num_signatures > 1;
    bool layouts_differ = !plan->alike;
    snprintf(
        text, size, "%s %s, on %s, %s%s%s, %s%s%s%s%s%s%s", diff_mode_name(plan->mode),
        diff_collective_name(plan->collective), diff_family_name(plan->family), signatures[0],
        two ? " and " : "", two ? signatures[1] : "", layouts_differ ? "layouts differ" : "layout ",
        layouts_differ ? "" : diff_style_name(plan->style), NULL == plan->op ? "" : ", operator ",
        NULL == plan->op ? "" : plan->op->name, plan->in_place ? ", in place" : "",
        plan->uneven ? ", uneven counts" : "", plan->scattered ? ", scattered blocks" : "");
}
