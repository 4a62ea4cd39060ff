/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The slowdown audit.
 *
 *   1. The schedule (pwr/schedule.h) has three pairs in each block.  The first one is measured, the
 *      others only after one that was much slower.  Where sleeps are counted, and all of them
 *      together cannot reach the bound, only every fourth block is measured: each sleep ends late
 *      by the cost of waking up, at most.
 *   2. A pair gives a sample: the logarithm of (time while saving / time while not).  Samples of
 *      time are cut at a quarter up or down, so that a stall of the machine counts as any other
 *      large difference; older ones fade.
 *   3. Given up is a depth of which the whole confidence interval lies above the bound, or that was
 *      much slower in pairs in a row: two that were eight times as slow, three that were three
 *      times as slow, four that were slower by half.  That takes 22, 30 or 46 calls.  (Noise with a
 *      deviation of a whole call does it to about one class in a hundred.)  Other calls run at a
 *      depth that has stood eight pairs, so what is only tried costs little.
 *   4. A depth that was given up is tried again, because conditions change: when so much time has
 *      passed that all trials, the next one included, have taken a quarter of the bound at most.
 *   5. Calls in which ranks sleep, and that follow each other in less time than lingering takes,
 *      linger from the first pair on: a sleep may double such a call, and lingering hardly takes
 *      more than the call.  A trial shows later whether sleeping at once is as fast.
 */
#include "config.h"

#include <math.h>

#include "pwr/audit.h"

enum {
    GROSS = 12, /* points, by which a depth is given up */
    SAMPLES_TO_JUDGE = 8,
    SHARE_OF_BOUND =
        4, /* what trials may cost, and sleeps that are not measured: this part of it */
    PAIRS_UNTIL_GROSS = 3, /* usually */
    BLOCKS_BOUNDED = 4     /* of so many, one is measured where sleeps keep the bound */
};

static const double cut = 0.25; /* 2. */
static const double fading = 1.0 - 1.0 / 256.0;
static const double sigmas = 3.5; /* many looks at the same samples: more than the usual 2 */

/* ---- 1. ---- */

/* The three pairs of a block, their parts in stretches one behind the other. */
typedef struct place {
    int pair; /* negative: none */
    bool second;
    bool begins; /* the part does */
} place_t;

static place_t place_of(const pwr_schedule_t *at)
{
    int behind = (int)at->stretch - PWR_SCHEDULE_DEPTH;
    for (int pair = 0; behind >= 0 && pair < PWR_SCHEDULE_DEPTH_PAIRS; pair++) {
        int part = 0 == pair ? 1 : 2; /* its stretches */
        if (behind < 2 * part) {
            return (place_t){pair, behind >= part, behind % part == 0};
        }
        behind -= 2 * part;
    }
    return (place_t){-1, false, true};
}

static bool saves(const pwr_audit_t *a, const pwr_schedule_t *at)
{
    place_t place = place_of(at);
    uint64_t pair = a->seed ^ ((uint64_t)at->block << 8 | (unsigned)place.pair);
    bool reference_first = (pwr_schedule_scrambled(pair) & 1) != 0;
    return place.second == reference_first;
}

static bool sleeps_keep_bound(const pwr_audit_t *a, uint64_t passed_ns)
{
    return (double)a->late_ns * SHARE_OF_BOUND <= expm1(a->bound) * (double)passed_ns;
}

static bool is_bounded(const pwr_audit_t *a, uint64_t passed_ns)
{
    return a->proven == a->tested && a->proven != PWR_AUDIT_LEVERS &&
           sleeps_keep_bound(a, passed_ns);
}

static bool wants_pair(const pwr_audit_t *a, int pair, uint64_t passed_ns)
{
    if (a->suspicious || pair > 0) {
        return a->suspicious;
    }
    return a->at.block % BLOCKS_BOUNDED == BLOCKS_BOUNDED - 1 || !is_bounded(a, passed_ns);
}

static void begin_part(pwr_audit_t *a, bool measures)
{
    a->measures = measures;
    a->now = !measures ? a->proven : saves(a, &a->at) ? a->tested : PWR_AUDIT_REFERENCE;
}

void pwr_audit_jump(pwr_audit_t *a, uint64_t call)
{
    pwr_schedule_at(&a->at, call);
    begin_part(a, false);
}

/* ---- 2. ---- */

static void forget_samples(pwr_audit_t *a)
{
    a->time = a->cpu = a->energy = (pwr_audit_samples_t){0};
    a->gross = 0;
    a->suspicious = false;
}

static void add_to(pwr_audit_samples_t *samples, double x)
{
    samples->weight = fading * samples->weight + 1.0;
    samples->weight2 = fading * fading * samples->weight2 + 1.0;
    samples->sum = fading * samples->sum + x;
    samples->sum2 = fading * samples->sum2 + x * x;
}

static double log_ratio(const uint64_t part[2])
{
    return log(((double)part[0] + 1.0) / ((double)part[1] + 1.0));
}

static int points_of(double x)
{
    static const struct {
        double more_than;
        int points;
    } steps[] = {{2.079441542, GROSS / 2}, {1.098612289, GROSS / 3}, {0.405465108, GROSS / 4}};
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (x > steps[i].more_than) { /* ln 8, ln 3, ln 1.5 */
            return steps[i].points;
        }
    }
    return 0;
}

static void add_sample(pwr_audit_t *a)
{
    double x = log_ratio(a->part_ns);
    int points = points_of(x);
    a->gross = (uint8_t)(points > 0 ? a->gross + points : 0);
    a->suspicious = points > 0;
    a->pairs++;
    add_to(&a->time, x > cut ? cut : x < -cut ? -cut : x);
    add_to(&a->cpu, log_ratio(a->part_cpu_ns));
    if (a->part_uj[0] != 0 && a->part_uj[1] != 0) {
        add_to(&a->energy, log_ratio(a->part_uj));
    }
    a->trial_ns += (double)a->part_ns[0] - (double)a->part_ns[1];
}

static double number_of(const pwr_audit_samples_t *samples)
{
    return samples->weight2 > 0.0 ? samples->weight * samples->weight / samples->weight2 : 0.0;
}

/* Of the logarithm. */
static pwr_audit_estimate_t estimate(const pwr_audit_samples_t *samples)
{
    double n = number_of(samples);
    double mean = n > 0.0 ? samples->sum / samples->weight : 0.0;
    if (n < 2.0) {
        return (pwr_audit_estimate_t){mean, -INFINITY, INFINITY};
    }
    double variance = samples->sum2 / samples->weight - mean * mean;
    double error = sigmas * sqrt((variance > 0.0 ? variance : 0.0) / (n - 1.0));
    return (pwr_audit_estimate_t){mean, mean - error, mean + error};
}

static pwr_audit_estimate_t as_ratio(pwr_audit_estimate_t logarithm)
{
    return (pwr_audit_estimate_t){expm1(logarithm.middle), expm1(logarithm.low),
                                  expm1(logarithm.high)};
}

/* ---- 3. and 4. ---- */

static void change(pwr_audit_t *a, unsigned to, pwr_audit_estimate_t slowdown)
{
    a->last = (pwr_audit_change_t){
        .call = a->calls,
        .from = (pwr_audit_depth_t)a->tested,
        .to = (pwr_audit_depth_t)to,
        .slowdown = slowdown,
    };
    a->changes++;
    a->tested = (uint8_t)to;
    a->trial_ns = 0.0;
    forget_samples(a);
}

/* What a gross mistake will lose before it is given up again.  Its first trial was short, in
   stretches of few calls; no later one is. */
static double next_trial_ns(const pwr_audit_t *a)
{
    double lost_ns = (double)a->part_ns[0] - (double)a->part_ns[1];
    return PAIRS_UNTIL_GROSS * lost_ns * PWR_SCHEDULE_LONGEST / pwr_schedule_length(a->at.block);
}

static void give_up(pwr_audit_t *a, pwr_audit_estimate_t found, bool is_gross)
{
    a->given_up_ns = fmax(a->trial_ns, is_gross ? next_trial_ns(a) : 0.0);
    a->lost_ns += fmax(a->trial_ns, 0.0);
    a->proven = a->proven == a->tested ? PWR_AUDIT_REFERENCE : a->proven;
    change(a, a->tested + 1u, as_ratio(found));
    a->suspicious = true;
}

static bool may_try_again(const pwr_audit_t *a)
{
    double passed_ns = (double)(a->end_ns - a->begin_ns);
    return a->tested > a->first && a->tested == a->proven &&
           a->lost_ns + a->given_up_ns < expm1(a->bound) / SHARE_OF_BOUND * passed_ns;
}

static void try_deeper(pwr_audit_t *a)
{
    change(a, a->tested - 1u, (pwr_audit_estimate_t){0});
}

/* ---- 5. ---- */

/* Nothing is known yet. */
static bool is_open(const pwr_audit_t *a)
{
    return a->tested == a->first && a->proven == a->first && number_of(&a->time) < SAMPLES_TO_JUDGE;
}

/* calls: of the part that saved; late_ns is its own. */
static bool is_brief(const pwr_audit_t *a, uint32_t calls)
{
    uint64_t ns = a->part_ns[0];
    return ns / calls < PWR_AUDIT_LINGER_LEAST_NS && !sleeps_keep_bound(a, ns);
}

/* A trial of what is deeper is said to lose as much as the pairs of one take. */
static void begin_lingering(pwr_audit_t *a)
{
    a->brief = true;
    a->given_up_ns = SAMPLES_TO_JUDGE * (double)a->part_ns[0];
    change(a, PWR_AUDIT_LINGER, (pwr_audit_estimate_t){0});
    a->proven = PWR_AUDIT_LINGER;
}

/* ---- after a pair, of so many calls in each part ---- */

static void judge(pwr_audit_t *a, uint32_t calls)
{
    if (is_open(a) && is_brief(a, calls)) {
        begin_lingering(a);
        return;
    }
    pwr_audit_estimate_t found = estimate(&a->time);
    bool is_gross = a->gross >= GROSS;
    bool enough = number_of(&a->time) >= SAMPLES_TO_JUDGE;
    if (a->tested < PWR_AUDIT_REFERENCE && (is_gross || (enough && found.low > a->bound))) {
        give_up(a, found, is_gross);
        return;
    }
    if (enough || a->tested == PWR_AUDIT_REFERENCE) {
        a->proven = a->tested;
        a->trial_ns = 0.0; /* it was no mistake */
    }
    if (may_try_again(a)) {
        try_deeper(a);
    }
}

/* ---- interface ---- */

void pwr_audit_init(pwr_audit_t *audit, const pwr_audit_clock_t *clock, double max_slowdown,
                    pwr_audit_depth_t deepest, pwr_audit_depth_t start, uint64_t seed)
{
    *audit = (pwr_audit_t){
        .seed = pwr_schedule_scrambled(seed),
        .tested = (uint8_t)start,
        .proven = (uint8_t)start,
        .first = (uint8_t)deepest,
        .bound = log1p(max_slowdown),
        .begin_ns = clock->now_ns(clock->arg),
    };
    audit->end_ns = audit->begin_ns;
    pwr_audit_jump(audit, 0);
}

void pwr_audit_start(pwr_audit_t *audit, pwr_audit_depth_t start)
{
    if (audit->pairs == 0 && start > audit->first) {
        audit->tested = audit->proven = (uint8_t)start;
        begin_part(audit, false);
    }
}

void pwr_audit_forget(pwr_audit_t *audit)
{
    forget_samples(audit);
    audit->tested = audit->proven = audit->brief ? PWR_AUDIT_LINGER : audit->first;
    audit->trial_ns = 0.0;
    audit->given_up_ns = audit->brief ? audit->given_up_ns : 0.0;
    begin_part(audit, false);
}

/* What has passed since the last look at the clocks. */
typedef struct passed {
    uint64_t ns, cpu_ns, uj; /* uj 0: unknown */
} passed_t;

/* Is it worth a look at the meter, for a stretch that lasts as long as calls did lately? */
static bool is_long(const pwr_audit_t *a, uint64_t passed_ns)
{
    uint64_t calls = a->at.call > a->end_call ? a->at.call - a->end_call : 1;
    return passed_ns / calls * pwr_schedule_length(a->at.block) >= PWR_AUDIT_ENERGY_LEAST_NS;
}

static uint64_t since(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

static passed_t look(pwr_audit_t *a, const pwr_audit_clock_t *clock)
{
    uint64_t now = clock->now_ns(clock->arg);
    uint64_t cpu = clock->cpu_ns(clock->arg);
    passed_t passed = {.ns = since(a->end_ns, now), .cpu_ns = since(a->end_cpu_ns, cpu)};
    uint64_t uj = clock->energy_uj && is_long(a, passed.ns) ? clock->energy_uj(clock->arg) : 0;
    passed.uj = a->end_uj != 0 ? since(a->end_uj, uj) : 0;
    a->end_ns = now;
    a->end_cpu_ns = cpu;
    a->end_uj = uj;
    a->end_call = a->at.call;
    return passed;
}

/* A part that was measured is over. */
static void end_part(pwr_audit_t *a, const pwr_schedule_t *ended, const passed_t *passed)
{
    int part = saves(a, ended) ? 0 : 1;
    a->part_ns[part] = passed->ns;
    a->part_cpu_ns[part] = passed->cpu_ns;
    a->part_uj[part] = passed->uj;
    place_t place = place_of(ended);
    if (place.second) {
        add_sample(a);
        judge(a, (place.pair == 0 ? 1 : 2) * pwr_schedule_length(ended->block));
    }
}

void pwr_audit_end_stretch(pwr_audit_t *a, const pwr_audit_clock_t *clock)
{
    place_t place = place_of(&a->at);
    bool may_measure = place.pair >= 0 && !place.second && (place.pair == 0 || a->suspicious);
    if (!place.begins || (!a->measures && !may_measure)) {
        return;
    }
    passed_t passed = look(a, clock);
    bool measures = place.second && a->measures;
    if (a->measures) {
        pwr_schedule_t ended = a->at;
        ended.stretch--; /* no part ends with a block */
        end_part(a, &ended, &passed);
    }
    if (place.pair >= 0 && !place.second) {
        measures = wants_pair(a, place.pair, passed.ns);
        a->late_ns = 0;
    }
    begin_part(a, measures);
}

uint32_t pwr_audit_quiet(const pwr_audit_t *audit)
{
    const pwr_schedule_t *at = &audit->at;
    if (audit->measures) {
        return 0;
    }
    return audit->suspicious                  ? at->left - 1
           : at->stretch < PWR_SCHEDULE_DEPTH ? pwr_schedule_until(at, PWR_SCHEDULE_DEPTH) - 1
                                              : pwr_schedule_until(at, PWR_SCHEDULE_STRETCHES) - 1;
}

pwr_audit_result_t pwr_audit_result(const pwr_audit_t *audit)
{
    return (pwr_audit_result_t){
        .calls = audit->calls,
        .pairs = audit->pairs,
        .depth = (pwr_audit_depth_t)audit->proven,
        .samples = number_of(&audit->time),
        .slowdown = as_ratio(estimate(&audit->time)),
        .cpu = as_ratio(estimate(&audit->cpu)),
        .energy_samples = number_of(&audit->energy),
        .energy = as_ratio(estimate(&audit->energy)),
        .changes = audit->changes,
        .last = audit->last,
    };
}

const char *pwr_audit_depth_name(pwr_audit_depth_t depth)
{
    static const char *const names[] = {
        [PWR_AUDIT_LEVERS] = "levers",
        [PWR_AUDIT_LADDER] = "ladder",
        [PWR_AUDIT_LINGER] = "linger",
        [PWR_AUDIT_REFERENCE] = "poll",
    };
    return names[depth];
}
