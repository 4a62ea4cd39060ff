/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The slowdown audit.
 *
 *   1. Schedule, from the number of the call: two calls to warm up, pairs of stretches of 2, 4, 8,
 *      16 and 32 calls, then for ever pairs of 32, with a filler of 448 calls before each.  So a
 *      gross mistake is seen after 14 or 30 calls, and later 1 of 16 calls saves nothing.
 *   2. A pair gives a sample: the logarithm of (time while saving / time while not).  Samples of
 *      time are cut at a quarter up or down, so that a stall of the machine counts as any other
 *      large difference; older ones fade.
 *   3. Given up is a depth of which the whole confidence interval lies above the bound, or that
 *      made three pairs in a row slower by half, or two three times as slow.  (Noise with a
 *      deviation of a whole call does either to about one class in a hundred.)  Fillers run at
 *      a depth that has stood eight pairs, so what is only tried costs little.
 *   4. A depth that was given up is tried again, because conditions change: when so much time has
 *      passed that all trials, the next one included, have taken a quarter of the bound at most.
 */
#include "config.h"

#include <math.h>

#include "pwr/audit.h"

enum {
    WARM_UP_CALLS = 2, /* set up what later calls find */
    DENSE_PAIRS = 5,   /* of 2 << pair calls each */
    PART_CALLS = 32,
    FILLER_CALLS = 14 * PART_CALLS,
    FILLER_DOUBLINGS = 5,
    FILLER = 2,         /* audit->part */
    GROSS_IN_A_ROW = 3, /* one more when there is time */
    GROSSER_IN_A_ROW = 2,
    SAMPLES_TO_JUDGE = 8,
    SHARE_OF_BOUND = 4, /* what trials may cost: this part of it */
};

static const double cut = 0.25;            /* 2. */
static const double gross = 0.405465108;   /* ln 1.5 */
static const double grosser = 1.098612289; /* ln 3 */
static const double fading = 1.0 - 1.0 / 256.0;
static const double sigmas = 3.5; /* many looks at the same samples: more than the usual 2 */

/* splitmix64 */
static uint64_t scrambled(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* ---- 1. ---- */

static bool part_saves(const pwr_audit_t *a)
{
    bool reference_first = (scrambled(a->seed ^ a->pair) & 1) != 0;
    return (a->part == 0) != reference_first;
}

static uint32_t calls_of_part(const pwr_audit_t *a)
{
    return a->pair < DENSE_PAIRS ? 2u << a->pair : PART_CALLS;
}

static void begin_part(pwr_audit_t *a, unsigned part)
{
    a->part = (uint8_t)part;
    if (part == FILLER) {
        unsigned sparse = a->pair - DENSE_PAIRS;
        a->left = FILLER_CALLS << (sparse < FILLER_DOUBLINGS ? sparse : FILLER_DOUBLINGS);
        a->now = a->proven;
        return;
    }
    a->left = calls_of_part(a);
    a->now = part_saves(a) ? a->tested : PWR_AUDIT_REFERENCE;
}

/* ---- 2. ---- */

static void forget_samples(pwr_audit_t *a)
{
    a->time = a->cpu = a->energy = (pwr_audit_samples_t){0};
    a->gross = a->grosser = 0;
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

static void add_sample(pwr_audit_t *a)
{
    double x = log_ratio(a->part_ns);
    a->gross = x > gross ? (uint8_t)(a->gross + 1) : 0;
    a->grosser = x > grosser ? (uint8_t)(a->grosser + 1) : 0;
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
    return (GROSSER_IN_A_ROW + 1) * lost_ns * PART_CALLS / calls_of_part(a);
}

static void give_up(pwr_audit_t *a, pwr_audit_estimate_t found, bool is_gross)
{
    a->given_up_ns = fmax(a->trial_ns, is_gross ? next_trial_ns(a) : 0.0);
    a->lost_ns += fmax(a->trial_ns, 0.0);
    change(a, a->tested + 1u, as_ratio(found));
    a->proven = PWR_AUDIT_REFERENCE;
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

static void judge(pwr_audit_t *a)
{
    pwr_audit_estimate_t found = estimate(&a->time);
    int more = a->pair < DENSE_PAIRS ? 0 : 1;
    bool is_gross = a->gross >= GROSS_IN_A_ROW + more || a->grosser >= GROSSER_IN_A_ROW + more;
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
                    pwr_audit_depth_t deepest, uint64_t seed)
{
    *audit = (pwr_audit_t){
        .seed = scrambled(seed),
        .tested = (uint8_t)deepest,
        .proven = (uint8_t)deepest,
        .first = (uint8_t)deepest,
        .bound = log1p(max_slowdown),
        .begin_ns = clock->now_ns(clock->arg),
        .begin_cpu_ns = clock->cpu_ns(clock->arg),
    };
    audit->end_ns = audit->begin_ns;
    begin_part(audit, FILLER);
    audit->left = WARM_UP_CALLS;
}

/* Stretches like the last one: is it worth a look at the meter? */
static uint64_t energy_after(const pwr_audit_clock_t *clock, uint64_t took_ns)
{
    return clock->energy_uj && took_ns >= PWR_AUDIT_ENERGY_LEAST_NS ? clock->energy_uj(clock->arg)
                                                                    : 0;
}

void pwr_audit_end_stretch(pwr_audit_t *a, const pwr_audit_clock_t *clock)
{
    uint64_t now = clock->now_ns(clock->arg);
    uint64_t cpu = clock->cpu_ns(clock->arg);
    uint64_t took_ns = now > a->end_ns ? now - a->end_ns : 0;
    uint64_t uj = energy_after(clock, took_ns);
    uint64_t took_uj = uj > a->begin_uj && a->begin_uj != 0 ? uj - a->begin_uj : 0;
    uint64_t took_cpu_ns = cpu > a->begin_cpu_ns ? cpu - a->begin_cpu_ns : 0;
    a->end_ns = now;
    a->begin_cpu_ns = cpu;
    a->begin_uj = uj;
    if (a->part == FILLER) {
        begin_part(a, 0);
        return;
    }
    a->part_ns[part_saves(a) ? 0 : 1] = took_ns;
    a->part_cpu_ns[part_saves(a) ? 0 : 1] = took_cpu_ns;
    a->part_uj[part_saves(a) ? 0 : 1] = took_uj;
    if (a->part == 0) {
        begin_part(a, 1);
        return;
    }
    add_sample(a);
    judge(a);
    a->pair++;
    begin_part(a, a->pair < DENSE_PAIRS ? 0 : FILLER);
}

pwr_audit_result_t pwr_audit_result(const pwr_audit_t *audit)
{
    return (pwr_audit_result_t){
        .calls = audit->calls,
        .pairs = audit->pair,
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
