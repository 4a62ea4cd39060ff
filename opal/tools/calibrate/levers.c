/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What moving a lever costs: the call, and how long the hardware takes to obey after it.
 *
 * The call is timed by the clock.  The hardware is watched by a piece of work of known length that
 * is timed over and over (a "block"): arithmetic for levers of cores, loads from the shared cache
 * for those of packages.  Once blocks take as long as they do at the end of the window, the lever
 * is in force.  The resolution is one block.  Where blocks are as fast as before, nothing was seen,
 * and nothing is claimed: emulated hardware, a virtual machine, a ceiling that was low already.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

#include <stdio.h>
#include <stdlib.h>

#include "pwr/clock.h"

enum { BLOCK_NS = 20000, BEFORE_BLOCKS = 32, MIN_BLOCKS = 12, MAX_BLOCKS = 4096 };
/* 4 MiB: more than the caches of a core, less than those of a package. */
enum { CHAIN_LINKS = 1 << 16, LINK_BYTES = 64 };
/* Packages take up to 10 ms. */
enum { PACKAGE_WINDOWS = 3 };

/* A cache line that says which one comes next. */
typedef struct link {
    uint32_t next;
    char rest[LINK_BYTES - sizeof(uint32_t)];
} link_t;

typedef struct watch {
    uint64_t window_ns;
    link_t *chain;             /* [CHAIN_LINKS]; NULL: blocks are arithmetic */
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

/* Each load needs the one before, and no prefetcher guesses it. */
static uint32_t follow(const link_t *chain, uint32_t iterations)
{
    volatile uint32_t sink;
    uint32_t at = 0;
    for (uint32_t i = 0; i < iterations; i++) {
        at = chain[at].next;
    }
    sink = at;
    return sink;
}

/* One cycle through all links in random order (Sattolo's algorithm). */
static link_t *make_chain(void)
{
    link_t *chain = malloc(CHAIN_LINKS * sizeof *chain);
    uint64_t random = 1;
    for (uint32_t i = 0; chain && i < CHAIN_LINKS; i++) {
        chain[i].next = i;
    }
    for (uint32_t i = CHAIN_LINKS - 1; chain && i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t other = (uint32_t)((random >> 32) % i);
        uint32_t next = chain[i].next;
        chain[i].next = chain[other].next;
        chain[other].next = next;
    }
    return chain;
}

static calibrate_block_t take_block(const watch_t *watch)
{
    calibrate_block_t block = {.begin_ns = pwr_now_ns()};
    if (watch->chain) {
        follow(watch->chain, watch->iterations);
    } else {
        compute(watch->iterations);
    }
    block.took_ns = pwr_now_ns() - block.begin_ns;
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

static unsigned watch_window(watch_t *watch)
{
    uint64_t end = pwr_now_ns() + watch->window_ns;
    unsigned count = 0;
    while (count < MAX_BLOCKS && (count < MIN_BLOCKS || pwr_now_ns() < end)) {
        watch->blocks[count++] = take_block(watch);
    }
    return count;
}

static void take_transition(watch_t *watch, pwr_power_t *power, transition_t *transition)
{
    uint64_t before = current_level(watch);
    uint64_t begin = pwr_now_ns();
    pwr_power_move(power, transition->lever, transition->lower);
    uint64_t end = pwr_now_ns();
    unsigned count = watch_window(watch);
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
        take_transition(watch, power, entry);
        take_transition(watch, power, exit);
    }
    return pwr_power_has(power, entry->lever);
}

static bool init(const calibrate_plan_t *plan, watch_t *watch, transition_t *entry,
                 transition_t *exit)
{
    bool of_package = pwr_lever_type(entry->lever)->scope == PWR_SCOPE_PACKAGE;
    watch->window_ns = plan->settle_window_ns * (of_package ? PACKAGE_WINDOWS : 1);
    watch->chain = of_package ? make_chain() : NULL;
    watch->blocks = calloc(MAX_BLOCKS, sizeof *watch->blocks);
    return watch->blocks && (watch->chain || !of_package) &&
           calibrate_series_init(&watch->level, MAX_BLOCKS) &&
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
        *row = calibrate_series_row(&entry.call_ns, &exit.call_ns);
        row->entry_settle_ns = settle_time(&entry);
        row->exit_settle_ns = settle_time(&exit);
    }
    free(watch.blocks);
    free(watch.chain);
    calibrate_series_free(&watch.level);
    calibrate_series_free(&entry.call_ns);
    calibrate_series_free(&entry.settle_ns);
    calibrate_series_free(&exit.call_ns);
    calibrate_series_free(&exit.settle_ns);
}
