/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What moving a lever costs: the call, and how long the hardware takes to obey after it.
 *
 * The call is timed by the clock.  The hardware is watched by a piece of arithmetic of known length
 * that is timed over and over (a "block"): once blocks take as long as they do at the end of the
 * window, the lever is in force.  The resolution is one block.  Where blocks are as fast as before,
 * nothing was seen, and nothing is claimed: emulated hardware, a virtual machine, a ceiling that
 * was low already.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_NS = 20000, BEFORE_BLOCKS = 32, MIN_BLOCKS = 12, MAX_BLOCKS = 4096 };

typedef struct watch {
    uint32_t iterations;       /* of one block */
    calibrate_block_t *blocks; /* [MAX_BLOCKS] */
    calibrate_series_t level;
} watch_t;

/* One direction of a lever. */
typedef struct transition {
    pwr_lever_id_t lever;
    bool lower;
    calibrate_series_t call_ns;
    calibrate_series_t settle_ns; /* of the rounds in which something was seen */
} transition_t;

/* ---- watching ---- */

/* Each step needs the one before: nothing but the clock makes it faster. */
static uint64_t compute(uint32_t iterations)
{
    volatile uint64_t sink;
    uint64_t value = iterations;
    for (uint32_t i = 0; i < iterations; i++) {
        value = value * 6364136223846793005u + 1442695040888963407u;
    }
    sink = value;
    return sink;
}

static calibrate_block_t take_block(const watch_t *watch)
{
    calibrate_block_t block = {.begin_ns = calibrate_now_ns()};
    compute(watch->iterations);
    block.took_ns = calibrate_now_ns() - block.begin_ns;
    return block;
}

static void size_block(watch_t *watch)
{
    watch->iterations = 256;
    while (take_block(watch).took_ns < BLOCK_NS && watch->iterations < UINT32_MAX / 2) {
        watch->iterations *= 2;
    }
}

static uint64_t current_level(watch_t *watch)
{
    calibrate_block_t blocks[BEFORE_BLOCKS];
    for (unsigned i = 0; i < BEFORE_BLOCKS; i++) {
        blocks[i] = take_block(watch);
    }
    return calibrate_level(blocks, BEFORE_BLOCKS, &watch->level);
}

static unsigned watch_for(watch_t *watch, uint64_t window_ns)
{
    uint64_t end = calibrate_now_ns() + window_ns;
    unsigned count = 0;
    while (count < MAX_BLOCKS && (count < MIN_BLOCKS || calibrate_now_ns() < end)) {
        watch->blocks[count++] = take_block(watch);
    }
    return count;
}

static void take_transition(watch_t *watch, uint64_t window_ns, pwr_power_t *power,
                            transition_t *transition)
{
    uint64_t before = current_level(watch);
    uint64_t begin = calibrate_now_ns();
    pwr_power_move(power, transition->lever, transition->lower);
    uint64_t end = calibrate_now_ns();
    unsigned count = watch_for(watch, window_ns);
    uint64_t settle_ns;
    calibrate_series_add(&transition->call_ns, end - begin);
    if (calibrate_settling(watch->blocks, count, before, end, &watch->level, &settle_ns)) {
        calibrate_series_add(&transition->settle_ns, settle_ns);
    }
}

/* ---- one lever ---- */

/* Seen in three rounds of four, or it was noise. */
static uint64_t settle_time(transition_t *transition)
{
    return 4 * transition->settle_ns.count >= 3 * transition->call_ns.count
               ? calibrate_series_median(&transition->settle_ns)
               : PWR_POLICY_NS_UNKNOWN;
}

static bool take_rounds(const calibrate_plan_t *plan, pwr_power_t *power, watch_t *watch,
                        transition_t *entry, transition_t *exit)
{
    size_block(watch);
    for (unsigned round = 0; round < plan->lever_rounds && pwr_power_has(power, entry->lever);
         round++) {
        take_transition(watch, plan->settle_window_ns, power, entry);
        take_transition(watch, plan->settle_window_ns, power, exit);
    }
    return pwr_power_has(power, entry->lever);
}

static void sum_up(transition_t *entry, transition_t *exit, pwr_policy_row_t *row)
{
    *row = (pwr_policy_row_t){
        .origin = PWR_POLICY_MEASURED,
        .samples = entry->call_ns.count,
        .entry_ns = calibrate_series_median(&entry->call_ns),
        .exit_ns = calibrate_series_median(&exit->call_ns),
        .entry_spread_ns = calibrate_series_spread(&entry->call_ns),
        .exit_spread_ns = calibrate_series_spread(&exit->call_ns),
        .entry_settle_ns = settle_time(entry),
        .exit_settle_ns = settle_time(exit),
        .power_w = PWR_POLICY_W_UNKNOWN,
    };
}

static bool init(const calibrate_plan_t *plan, watch_t *watch, transition_t *entry,
                 transition_t *exit)
{
    watch->blocks = calloc(MAX_BLOCKS, sizeof *watch->blocks);
    return watch->blocks && calibrate_series_init(&watch->level, MAX_BLOCKS) &&
           calibrate_series_init(&entry->call_ns, plan->lever_rounds) &&
           calibrate_series_init(&entry->settle_ns, plan->lever_rounds) &&
           calibrate_series_init(&exit->call_ns, plan->lever_rounds) &&
           calibrate_series_init(&exit->settle_ns, plan->lever_rounds);
}

void calibrate_lever(const calibrate_plan_t *plan, pwr_power_t *power, pwr_lever_id_t lever,
                     char *why, unsigned why_size, pwr_policy_row_t *row)
{
    watch_t watch = {0};
    transition_t entry = {.lever = lever, .lower = true};
    transition_t exit = {.lever = lever};
    if (!pwr_power_has(power, lever)) {
        snprintf(why, why_size, "off"); /* pwr_power_why_off has the reason */
    } else if (!init(plan, &watch, &entry, &exit)) {
        snprintf(why, why_size, "out of memory");
    } else if (!take_rounds(plan, power, &watch, &entry, &exit)) {
        snprintf(why, why_size, "given up while it was measured");
    } else {
        sum_up(&entry, &exit, row);
    }
    free(watch.blocks);
    calibrate_series_free(&watch.level);
    calibrate_series_free(&entry.call_ns);
    calibrate_series_free(&entry.settle_ns);
    calibrate_series_free(&exit.call_ns);
    calibrate_series_free(&exit.settle_ns);
}
