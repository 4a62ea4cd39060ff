/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The slowdown audit against programs whose slowdown is known.
 */
#include "config.h"

#include "fixture.h"

#include <math.h>

#include "pwr/audit.h"

enum { US = 1000, MS = 1000 * US, PERIOD_NS = 20 * MS, BRIEF_NS = 30 * US };

/* A program that makes one call after the other; its clocks stand still otherwise. */
typedef struct program {
    uint64_t now_ns, cpu_ns;
    uint64_t random;
    uint64_t period_ns;
    uint64_t meter_reads;
    double noise;    /* standard deviation of the time between calls, as a part of it */
    double extra[4]; /* by depth: a call makes the program so much slower */
    pwr_audit_clock_t clock;
    pwr_audit_t audit;
    uint64_t late_ns; /* by sleeps, per call */
    uint64_t calls_at[4];
    uint64_t reads;
} program_t;

static uint64_t now_ns(void *arg)
{
    program_t *p = arg;
    p->reads++;
    return p->now_ns;
}

static uint64_t cpu_ns(void *arg)
{
    return ((program_t *)arg)->cpu_ns;
}

static double uniform(program_t *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (double)(p->random >> 11) / 9007199254740992.0;
}

static double normal(program_t *p)
{
    double sum = 0.0;
    for (int i = 0; i < 12; i++) {
        sum += uniform(p);
    }
    return sum - 6.0;
}

static void start(program_t *p, double noise, double ladder, uint64_t seed)
{
    *p = (program_t){.now_ns = 12345,
                     .period_ns = PERIOD_NS,
                     .random = 88172645463325252u + seed,
                     .late_ns = PWR_AUDIT_LATE_UNKNOWN_NS,
                     .noise = noise};
    p->extra[PWR_AUDIT_LADDER] = ladder;
    p->clock = (pwr_audit_clock_t){.now_ns = now_ns, .cpu_ns = cpu_ns, .arg = p};
    pwr_audit_init(&p->audit, &p->clock, 0.01, PWR_AUDIT_LADDER, PWR_AUDIT_LADDER, seed);
}

static void make_call(program_t *p)
{
    pwr_audit_depth_t depth = pwr_audit_depth(&p->audit);
    double factor = 1.0 + p->extra[depth] + p->noise * normal(p);
    uint64_t took = (uint64_t)((double)p->period_ns * (factor > 0.01 ? factor : 0.01));
    p->now_ns += took;
    p->cpu_ns += depth == PWR_AUDIT_REFERENCE ? took : took / 4;
    p->calls_at[depth]++;
    pwr_audit_late(&p->audit, depth == PWR_AUDIT_REFERENCE ? 0 : p->late_ns);
}

/* Returns whether the audit changed its mind. */
static bool call(program_t *p)
{
    make_call(p);
    return pwr_audit_call_over(&p->audit, &p->clock);
}

/* Of the whole run, against one in which nothing is saved. */
static double slowdown(const program_t *p, uint64_t calls)
{
    return (double)(p->now_ns - 12345) / ((double)calls * (double)p->period_ns) - 1.0;
}

/* All measure in the first pair of a block, those who are suspicious in the others, too. */
static void test_ranks_agree_without_talking(void **state)
{
    program_t quick, slow;
    (void)state;
    start(&quick, 0.0, 0.0, 7);
    start(&slow, 0.3, 0.0, 7);
    for (int i = 0; i < 20000; i++) {
        unsigned stretch = quick.audit.at.stretch;
        bool reference = pwr_audit_depth(&quick.audit) == PWR_AUDIT_REFERENCE;
        bool other = pwr_audit_depth(&slow.audit) == PWR_AUDIT_REFERENCE;
        assert_true(reference == other || stretch >= PWR_SCHEDULE_DEPTH + 2);
        assert_false(other && (stretch < PWR_SCHEDULE_DEPTH || stretch >= PWR_SCHEDULE_DEPTH + 10));
        call(&quick);
        call(&slow);
    }
    assert_int_equal(slow.audit.changes, 0);
    /* other classes take turns at other times */
    program_t other;
    start(&quick, 0.0, 0.0, 7);
    start(&other, 0.0, 0.0, 8);
    int different = 0;
    for (int i = 0; i < 2000; i++) {
        different += pwr_audit_depth(&quick.audit) != pwr_audit_depth(&other.audit);
        call(&quick);
        call(&other);
    }
    assert_true(different > 0);
}

static void run(program_t *p, int calls)
{
    for (int i = 0; i < calls; i++) {
        call(p);
    }
}

static void test_price_of_measuring(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.0, 0.0, 1);
    run(&p, 10);
    assert_int_equal(p.calls_at[PWR_AUDIT_REFERENCE], 0); /* it saves from the first call on */
    run(&p, 1984 - 10);
    assert_int_equal(p.calls_at[PWR_AUDIT_REFERENCE], 1984 / 16);
    run(&p, 17856 - 1984); /* behind pauses of 0, 512, 1536, 3584, 7680 calls */
    uint64_t before = p.reads;
    uint64_t reference = p.calls_at[PWR_AUDIT_REFERENCE];
    run(&p, 10 * (512 << 5));
    assert_int_equal(p.calls_at[PWR_AUDIT_REFERENCE] - reference, 10 * 32);
    assert_int_equal(p.reads - before, 3 * 10);
}

/* Sleeps that together cannot reach the bound are measured in one block of four. */
static void test_sleeps_that_keep_the_bound(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.0, 0.0, 1);
    p.late_ns = PERIOD_NS / 500;
    run(&p, 1984);
    assert_int_equal(p.calls_at[PWR_AUDIT_REFERENCE], 2 + 4 + 8 + 16);
    start(&p, 0.0, 0.0, 1);
    p.late_ns = PERIOD_NS / 300;
    run(&p, 1984);
    assert_int_equal(p.calls_at[PWR_AUDIT_REFERENCE], 1984 / 16);
    start(&p, 0.0, 0.0, 1);
    pwr_audit_init(&p.audit, &p.clock, 0.01, PWR_AUDIT_LEVERS, PWR_AUDIT_LEVERS, 1);
    p.late_ns = 0; /* levers slow down otherwise */
    run(&p, 1984);
    assert_int_equal(p.calls_at[PWR_AUDIT_REFERENCE], 1984 / 16);
}

/* Somebody else counts the calls: pairs that a jump has torn do not count. */
static void test_calls_counted_by_others(void **state)
{
    program_t p;
    (void)state;
    for (uint64_t to = 0; to < 64; to++) {
        start(&p, 0.0, 5.0, 1);
        run(&p, 11); /* in the middle of the first pair */
        pwr_audit_at(&p.audit, to);
        pwr_audit_at(&p.audit, to);
        assert_int_equal(pwr_audit_depth(&p.audit), PWR_AUDIT_LADDER);
        assert_int_equal(p.audit.pairs, 0);
        run(&p, 36);
        assert_true(p.audit.pairs >= 1);
        assert_int_equal(p.audit.at.call, to + 36);
        assert_true(p.audit.changes <= 1);
    }
}

/* An audit that is not told of quiet calls does as one that is told of each. */
static void follow(double noise, double ladder, uint64_t late_ns)
{
    enum { CALLS = 40000 };
    program_t told, quiet;
    uint32_t skipped = 0, left = 0, most = 0;
    start(&told, noise, ladder, 3);
    start(&quiet, noise, ladder, 3);
    told.late_ns = quiet.late_ns = late_ns;
    for (int i = 0; i < CALLS; i++) {
        call(&told);
        if (left > 0) {
            left--;
            make_call(&quiet);
        } else {
            pwr_audit_skip(&quiet.audit, skipped);
            call(&quiet);
            assert_int_equal(quiet.audit.at.call, told.audit.at.call);
            left = skipped = pwr_audit_quiet(&quiet.audit);
            most = left > most ? left : most;
        }
        assert_int_equal(pwr_audit_depth(&quiet.audit), pwr_audit_depth(&told.audit));
        assert_int_equal(quiet.now_ns, told.now_ns);
    }
    assert_int_equal(quiet.audit.pairs, told.audit.pairs);
    assert_int_equal(quiet.audit.changes, told.audit.changes);
    assert_int_equal(quiet.audit.last.call, told.audit.last.call);
    assert_true(most > PWR_SCHEDULE_LONGEST * (PWR_SCHEDULE_STRETCHES / 2));
}

static void test_quiet_calls(void **state)
{
    (void)state;
    follow(0.0, 0.0, 0);
    follow(0.1, 0.0, PWR_AUDIT_LATE_UNKNOWN_NS);
    follow(0.3, 0.2, PWR_AUDIT_LATE_UNKNOWN_NS);
    follow(0.3, 2.0, PWR_AUDIT_LATE_UNKNOWN_NS);
}

/* What is probably right comes first; what is deeper is tried once that has been measured. */
static void test_start(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.0, 0.0, 1);
    pwr_audit_init(&p.audit, &p.clock, 0.01, PWR_AUDIT_LADDER, PWR_AUDIT_LINGER, 1);
    run(&p, 10);
    assert_int_equal(p.calls_at[PWR_AUDIT_LINGER], 10);
    run(&p, 2000);
    assert_int_equal(pwr_audit_result(&p.audit).depth, PWR_AUDIT_LADDER);
}

static void start_brief(program_t *p, double ladder)
{
    start(p, 0.0, ladder, 1);
    p->period_ns = BRIEF_NS;
}

/* A sleep may double them, so they linger until there is time for a trial. */
static void test_brief_calls(void **state)
{
    program_t p;
    (void)state;
    start_brief(&p, 1.0);
    run(&p, 3000);
    assert_int_equal(p.calls_at[PWR_AUDIT_LADDER], 12);
    assert_int_equal(p.calls_at[PWR_AUDIT_LINGER], 3000 - 12 - p.calls_at[PWR_AUDIT_REFERENCE]);
    assert_int_equal(p.audit.changes, 1);
    assert_int_equal(p.audit.last.call, 14);
    assert_int_equal(p.audit.last.to, PWR_AUDIT_LINGER);
    for (int i = 3000; i < 100000; i++) {
        if (call(&p) && p.audit.last.to == PWR_AUDIT_LINGER) { /* what was proven stays */
            assert_int_equal(pwr_audit_result(&p.audit).depth, PWR_AUDIT_LINGER);
        }
    }
    assert_int_equal(p.audit.changes, 3);
    assert_true(p.calls_at[PWR_AUDIT_LADDER] > 12);
    assert_true(slowdown(&p, 100000) < 0.01);
    assert_int_equal(pwr_audit_result(&p.audit).depth, PWR_AUDIT_LINGER);
    p.extra[PWR_AUDIT_LADDER] = 0.0;
    pwr_audit_forget(&p.audit);
    assert_int_equal(pwr_audit_depth(&p.audit), PWR_AUDIT_LINGER);
    run(&p, 300000);
    assert_int_equal(pwr_audit_result(&p.audit).depth, PWR_AUDIT_LADDER);
}

static void test_brief_calls_that_need_not_linger(void **state)
{
    static const uint64_t late_ns[] = {0, BRIEF_NS / 500};
    program_t p;
    (void)state;
    for (unsigned i = 0; i < sizeof late_ns / sizeof late_ns[0]; i++) {
        start_brief(&p, 0.0);
        p.late_ns = late_ns[i];
        run(&p, 3000);
        assert_int_equal(p.calls_at[PWR_AUDIT_LINGER], 0);
    }
    /* measured before they became brief */
    start(&p, 0.0, 0.0, 1);
    run(&p, 3000);
    p.period_ns = BRIEF_NS;
    run(&p, 3000);
    assert_int_equal(p.calls_at[PWR_AUDIT_LINGER], 0);
}

/* Set-up, and computing between some of them, do not make them look long. */
static void test_brief_calls_behind_long_pauses(void **state)
{
    program_t p;
    (void)state;
    start_brief(&p, 1.0);
    p.now_ns += 5 * MS;
    for (int i = 0; i < 5; i++) {
        run(&p, 10);
        p.now_ns += 5 * MS;
    }
    assert_true(p.audit.brief);
    assert_int_equal(p.audit.last.to, PWR_AUDIT_LINGER);
    assert_int_equal(p.audit.changes, 1);
}

static void test_forget(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.0, 5.0, 1);
    run(&p, 1000);
    assert_true(pwr_audit_result(&p.audit).depth > PWR_AUDIT_LADDER);
    p.extra[PWR_AUDIT_LADDER] = 0.0;
    pwr_audit_at(&p.audit, 0);
    pwr_audit_forget(&p.audit);
    assert_int_equal(pwr_audit_depth(&p.audit), PWR_AUDIT_LADDER);
    run(&p, 1000);
    assert_int_equal(pwr_audit_result(&p.audit).depth, PWR_AUDIT_LADDER);
}

/* A table on which every rung is free: all calls sleep, and are 20 times as slow. */
static void test_gross_mistake(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        enum { CALLS = 200000 };
        program_t p;
        start(&p, 0.1, 20.0, seed);
        int seen = -1;
        for (int i = 0; i < CALLS; i++) {
            if (call(&p) && seen < 0) {
                seen = i;
            }
        }
        assert_int_equal(seen, 21);
        assert_true(slowdown(&p, CALLS) < 0.015);
        pwr_audit_result_t result = pwr_audit_result(&p.audit);
        assert_int_equal(result.depth, PWR_AUDIT_LINGER);
    }
}

/* Twice as slow may be a noisy machine: one pair more is asked. */
static void test_large_mistake(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        program_t p;
        start(&p, 0.05, 1.0, seed);
        int i = 0;
        while (!call(&p)) {
            i++;
        }
        assert_int_equal(i, 45);
    }
}

static void test_small_mistake(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        enum { CALLS = 400000 };
        program_t p;
        start(&p, 0.05, 0.04, seed);
        int i = 0;
        while (i < CALLS && !call(&p)) {
            i++;
        }
        assert_true(i < CALLS);
        assert_int_equal(p.audit.last.from, PWR_AUDIT_LADDER);
        assert_int_equal(p.audit.last.to, PWR_AUDIT_LINGER);
        assert_true(p.audit.last.slowdown.low > 0.01);
        assert_true(p.audit.last.slowdown.low < 0.04 && p.audit.last.slowdown.high > 0.04);
    }
}

/* Nothing is given up that keeps the bound, however noisy the machine is. */
static void test_no_mistake(void **state)
{
    static const double noises[] = {0.0, 0.05, 0.3, 1.0};
    static const double extras[] = {-0.2, 0.0, 0.005};
    (void)state;
    for (int n = 0; n < 4; n++) {
        for (int e = 0; e < 3; e++) {
            for (uint64_t seed = 0; seed < 10; seed++) {
                program_t p;
                start(&p, noises[n], extras[e], seed);
                for (int i = 0; i < 100000; i++) {
                    if (call(&p)) {
                        fail_msg("noise %g, slowdown %g, seed %u: given up at call %d", noises[n],
                                 extras[e], (unsigned)seed, i);
                    }
                }
                pwr_audit_result_t result = pwr_audit_result(&p.audit);
                if (noises[n] < 0.1) { /* else many samples of time are cut */
                    double cpu = 0.25 * (1.0 + extras[e]) - 1.0;
                    if (result.slowdown.low > extras[e] + 2e-5 ||
                        result.slowdown.high < extras[e] - 2e-5 || result.cpu.low > cpu + 2e-5 ||
                        result.cpu.high < cpu - 2e-5) {
                        fail_msg("noise %g: slowdown %g is said to be %g (%g to %g), CPU time %g",
                                 noises[n], extras[e], result.slowdown.middle, result.slowdown.low,
                                 result.slowdown.high, result.cpu.middle);
                    }
                }
            }
        }
    }
}

/* Rungs that are all too slow are left one after the other, up to where nothing is saved. */
static void test_up_to_the_top(void **state)
{
    enum { CALLS = 300000 };
    program_t p;
    (void)state;
    start(&p, 0.1, 3.0, 5);
    p.extra[PWR_AUDIT_LEVERS] = 5.0;
    p.extra[PWR_AUDIT_LINGER] = 2.0;
    pwr_audit_init(&p.audit, &p.clock, 0.01, PWR_AUDIT_LEVERS, PWR_AUDIT_LEVERS, 5);
    for (int i = 0; i < CALLS; i++) {
        call(&p);
    }
    assert_true(p.audit.changes >= 3);
    assert_true(p.calls_at[PWR_AUDIT_REFERENCE] > CALLS * 9 / 10);
    assert_true(slowdown(&p, CALLS) < 0.02);
}

static void test_better_times(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.05, 0.5, 3);
    for (int i = 0; i < 100000; i++) {
        call(&p);
    }
    assert_true(pwr_audit_result(&p.audit).depth > PWR_AUDIT_LADDER); /* it may be on trial */
    p.extra[PWR_AUDIT_LADDER] = 0.0;
    for (int i = 0; i < 2000000 && pwr_audit_result(&p.audit).depth != PWR_AUDIT_LADDER; i++) {
        call(&p);
    }
    assert_int_equal(pwr_audit_result(&p.audit).depth, PWR_AUDIT_LADDER);
    assert_true(slowdown(&p, p.audit.at.call) < 0.015);
}

/* 10 W while nothing is saved, 4 W else; asked only of long stretches. */
static uint64_t energy_uj(void *arg)
{
    program_t *p = arg;
    uint64_t reference_ns = p->calls_at[PWR_AUDIT_REFERENCE] * p->period_ns;
    uint64_t other_ns = p->calls_at[PWR_AUDIT_LADDER] * p->period_ns;
    p->meter_reads++;
    return 5 + (10 * reference_ns + 4 * other_ns) / 1000;
}

static void test_energy(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.0, 0.0, 4);
    p.clock.energy_uj = energy_uj;
    p.period_ns = 500 * US;
    for (int i = 0; i < 10000; i++) {
        call(&p);
    }
    assert_int_equal(p.meter_reads, 0); /* no stretch is long enough */
    assert_true(pwr_audit_result(&p.audit).energy_samples == 0.0);
    p.period_ns = 5 * MS;
    for (int i = 0; i < 200000; i++) {
        call(&p);
    }
    pwr_audit_result_t result = pwr_audit_result(&p.audit);
    assert_true(result.energy_samples > 10.0);
    assert_true(fabs(result.energy.middle + 0.6) < 0.01);
    assert_true(result.energy.low <= result.energy.middle);
}

static void test_clock_that_stands_still(void **state)
{
    program_t p;
    (void)state;
    start(&p, 0.0, 0.0, 1);
    for (int i = 0; i < 10000; i++) {
        pwr_audit_call_over(&p.audit, &p.clock);
    }
    assert_int_equal(p.audit.changes, 0);
    assert_true(pwr_audit_result(&p.audit).slowdown.middle == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_agree_without_talking),
        cmocka_unit_test(test_price_of_measuring),
        cmocka_unit_test(test_sleeps_that_keep_the_bound),
        cmocka_unit_test(test_calls_counted_by_others),
        cmocka_unit_test(test_quiet_calls),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_brief_calls),
        cmocka_unit_test(test_brief_calls_that_need_not_linger),
        cmocka_unit_test(test_brief_calls_behind_long_pauses),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_gross_mistake),
        cmocka_unit_test(test_large_mistake),
        cmocka_unit_test(test_small_mistake),
        cmocka_unit_test(test_no_mistake),
        cmocka_unit_test(test_up_to_the_top),
        cmocka_unit_test(test_better_times),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_clock_that_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
