/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Experiments with candidates, in programs whose costs are known: several ranks, a clock that is
 * injected.  What exploring may cost (choose/trials.h) is checked on each.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "choose/trials.h"

enum { FIRST_NS = 1000000 /* what the first two calls of a candidate take longer */ };
enum { RANKS = 4, US = 1000, MOST = COLL_POWERAWARE_MOST_CANDIDATES };

typedef struct program {
    int num;
    double cost[MOST]; /* us of a call */
    double noise;      /* standard deviation of a call on a rank, as a part of it */
    double outliers;   /* share of calls in which all ranks take so much longer: */
    double longer;
    uint64_t random;
    uint64_t calls;
    double ns, best_ns; /* of all calls, as they were and as the best would have been */
    bool allowed[MOST]; /* to be a rival */
    uint64_t agreements;
    uint64_t sum_ns;         /* what they take; 0: not known */
    uint64_t taken[MOST];    /* calls */
    uint32_t quiet, skipped; /* of rank 1 */
    uint64_t told;           /* calls that it had to be told of */
    coll_poweraware_trials_t rank[RANKS];
} program_t;

static uint64_t draw(program_t *p)
{
    return p->random = pwr_schedule_scrambled(p->random);
}

static double uniform(program_t *p)
{
    return (double)(draw(p) >> 11) / 9007199254740992.0;
}

/* Four uniform ones of one draw, added up: of mean 0 and deviation 1. */
static double normal(program_t *p)
{
    uint64_t drawn = draw(p), sum = 0;
    for (int shift = 0; shift < 64; shift += 16) {
        sum += drawn >> shift & 0xffff;
    }
    return ((double)sum / 65536.0 - 2.0) * sqrt(3.0);
}

static void start_with(program_t *p, const double *cost, int num, double noise, bool long_calls,
                       uint64_t seed)
{
    static const int algorithms[MOST] = {10, 11, 12, 13, 14, 15, 16, 17};
    *p = (program_t){.num = num,
                     .noise = noise,
                     .random = seed,
                     .sum_ns = 1,
                     .calls = long_calls ? 0 : COLL_POWERAWARE_TRIALS_FROM};
    memcpy(p->cost, cost, (size_t)num * sizeof *cost);
    memset(p->allowed, true, sizeof p->allowed);
    for (int r = 0; r < RANKS; r++) {
        coll_poweraware_trials_init(&p->rank[r], algorithms, num, 10000, long_calls, seed);
    }
}

static void start(program_t *p, const double *cost, int num, double noise, uint64_t seed)
{
    start_with(p, cost, num, noise, false, seed);
}

static void tell(program_t *p, int64_t d_ppm)
{
    for (int r = 0; r < RANKS; r++) {
        coll_poweraware_trials_tell(&p->rank[r], d_ppm, 8);
    }
}

/* Each candidate, compared with the first one, to take so many times as long. */
static void expect(program_t *p, const double *times)
{
    for (int r = 0; r < RANKS; r++) {
        for (int i = 1; i < p->num; i++) {
            int64_t d_ppm =
                (int64_t)((times[i] - times[0]) / (times[i] + times[0]) * COLL_POWERAWARE_PPM);
            coll_poweraware_trials_expect(&p->rank[r], i, d_ppm);
        }
    }
}

static bool may(void *arg, int candidate)
{
    return ((program_t *)arg)->allowed[candidate];
}

/* All ranks add up what they have, or nobody has anything. */
static void agree(program_t *p)
{
    int64_t all[COLL_POWERAWARE_TRIALS_SUMS] = {0};
    int have = 0;
    for (int r = 0; r < RANKS; r++) {
        int64_t mine[COLL_POWERAWARE_TRIALS_SUMS];
        have += coll_poweraware_trials_have(&p->rank[r], mine);
        for (int i = 0; i < COLL_POWERAWARE_TRIALS_SUMS; i++) {
            all[i] += mine[i];
        }
    }
    assert_true(have == 0 || have == RANKS);
    p->agreements += have != 0;
    for (int r = 0; r < RANKS && have != 0; r++) {
        p->rank[r].sum_ns = p->sum_ns;
        coll_poweraware_trials_agree(&p->rank[r], all);
    }
}

static double cheapest(const program_t *p)
{
    double least = p->cost[0];
    for (int i = 1; i < p->num; i++) {
        least = p->cost[i] < least ? p->cost[i] : least;
    }
    return least;
}

/* Rank 1 skips the calls that need not be told. */
static void call_over(program_t *p, int r)
{
    coll_poweraware_trials_t *t = &p->rank[r];
    if (1 != r) {
        coll_poweraware_trials_over(t);
        return;
    }
    if (p->quiet > 0) {
        p->quiet--;
        p->skipped++;
        return;
    }
    p->told++;
    coll_poweraware_trials_over(t);
    p->quiet = coll_poweraware_trials_quiet(t);
}

static void wake(program_t *p)
{
    if (p->quiet == 0) {
        coll_poweraware_trials_skip(&p->rank[1], p->skipped);
        p->skipped = 0;
    }
}

static void call(program_t *p)
{
    wake(p);
    if (coll_poweraware_trials_meet(&p->rank[0]) || coll_poweraware_trials_begin(&p->rank[0])) {
        agree(p);
    }
    for (int r = 0; r < RANKS && coll_poweraware_trials_begin(&p->rank[0]); r++) {
        assert_true(coll_poweraware_trials_begin(&p->rank[r]));
        coll_poweraware_trials_find_rival(&p->rank[r], may, p);
    }
    int candidate = coll_poweraware_trials_candidate(&p->rank[0]);
    double times = uniform(p) < p->outliers ? p->longer : 1.0;
    for (int r = 0; r < RANKS; r++) {
        coll_poweraware_trials_t *t = &p->rank[r];
        double factor = times * (1.0 + p->noise * normal(p));
        bool asleep = 1 == r && p->quiet > 0;
        assert_int_equal(asleep ? t->best : coll_poweraware_trials_candidate(t), candidate);
        if (!asleep && coll_poweraware_trials_measure(t)) {
            uint64_t cold = p->taken[candidate] < 2 && candidate != 0 ? FIRST_NS : 0;
            coll_poweraware_trials_add(
                t, cold + (uint64_t)(p->cost[candidate] * US * (factor > 0.05 ? factor : 0.05)));
        }
        call_over(p, r);
    }
    p->taken[candidate]++;
    p->ns += p->cost[candidate] * US;
    p->best_ns += cheapest(p) * US;
    p->calls++;
}

static void run(program_t *p, uint64_t calls)
{
    for (uint64_t i = 0; i < calls; i++) {
        call(p);
    }
}

/* Time over that of the best candidate, in so many calls from now on. */
static double over_best(program_t *p, uint64_t calls)
{
    p->ns = p->best_ns = 0.0;
    run(p, calls);
    return p->ns / p->best_ns;
}

/* The first one is the worst of all: it is left within so many calls, and nothing is believed that
   was told.  told_ppm: by how much each rival is said to be slower; 0: nothing is said.  expected:
   that they are. */
static void leaves_the_worst(int64_t told_ppm, bool expected)
{
    static const double costs[][MOST] = {
        {20, 10}, {40, 10, 20}, {30, 12, 10, 20}, {100, 50, 80, 10, 60}};
    static const double slow[MOST] = {1, 1.2, 1.3, 1.4, 1.5};
    for (int k = 0; k < 4; k++) {
        for (uint64_t seed = 0; seed < 100; seed++) {
            program_t p;
            start(&p, costs[k], k + 2, 0.1, seed);
            if (told_ppm > 0) {
                tell(&p, told_ppm);
            }
            if (expected) {
                expect(&p, slow);
            }
            run(&p, k < 3 ? 200 : 300);
            double after = over_best(&p, 20000);
            if (after > 1.02) {
                fail_msg("%d candidates, seed %u: %.3f of the best", k + 2, (unsigned)seed, after);
            }
            assert_int_equal(p.rank[0].told, 0);
        }
    }
}

/* A wrong table, wrong knowledge of the best alone. */
static void test_wrong_start(void **state)
{
    (void)state;
    leaves_the_worst(0, false);
    leaves_the_worst(0, true);
}

static const double best_first[MOST] = {10, 30, 20, 12, 15};

/* What looking costs in the long run, and nothing else takes over. */
static void stays_with_the_first(program_t *p)
{
    assert_true(over_best(p, 100000) < 1.0 + 0.01 / 4);
    assert_int_equal(p->rank[0].best, 0);
}

/* The first one is the best: what looking costs, and nothing else takes over. */
static void test_right_start(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, best_first, 5, 0.1, seed);
        run(&p, 200 - COLL_POWERAWARE_TRIALS_FROM);
        assert_int_equal(p.rank[0].take_overs, 0);
        assert_true(p.agreements <= 3); /* of the first three pairs, and of each one behind */
        /* 4 (r - 1) and 3 (r - 1) calls for each rival, in about 200 */
        assert_true((p.ns - p.best_ns) / (10.0 * US) <= 7 * (2.0 + 1.0 + 0.2 + 0.5));
        stays_with_the_first(&p);
    }
}

/* That was expected: pairs wait until they take a 64th of the calls at most, and one is enough, but
   for the rival that is slower by little. */
static void test_expected(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, best_first, 5, 0.01, seed);
        expect(&p, best_first);
        run(&p, 120 - p.calls);
        assert_true(p.taken[1] == 0 && p.taken[2] == 0 && p.taken[4] == 0 && p.taken[3] == 4);
        run(&p, 380 - p.calls);
        assert_true(p.taken[1] == 0 && p.taken[2] == 0 && p.taken[4] == 0);
        run(&p, 500 - p.calls);
        assert_true(p.taken[1] == 0 && p.taken[2] == 0 && p.taken[4] == 4);
        run(&p, 760 - p.calls);
        assert_true(p.taken[1] == 0 && p.taken[2] == 4 && p.taken[4] == 4);
        run(&p, 2000);
        assert_true(p.taken[1] == 4 && p.taken[2] == 4 && p.taken[4] == 4);
        assert_true(p.taken[3] > 4);
        stays_with_the_first(&p);
    }
}

/* A rival that is as fast, as was expected, and noise that makes it look faster by a tenth now and
   then: little comes of it. */
static void test_expected_equal(void **state)
{
    static const double equal[MOST] = {10, 10};
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, equal, 2, 0.05, seed);
        expect(&p, equal);
        run(&p, 300 - p.calls);
        assert_true(p.taken[1] <= 4 + 2 * 4);
        assert_true(p.agreements <= 2);
    }
}

/* All rivals are faster than was expected, the best one was expected last. */
static void test_expected_wrongly(void **state)
{
    static const double cost[MOST] = {40, 30, 10}, expected[MOST] = {10, 20, 60};
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, cost, 3, 0.1, seed);
        expect(&p, expected);
        run(&p, 300);
        assert_true(over_best(&p, 20000) <= 1.02);
        assert_int_equal(p.rank[0].best, 2);
    }
}

/* To add up takes as long as twelve calls: it is a small part of all that happens, and what is best
   is found all the same. */
static void test_long_sums(void **state)
{
    static const double cost[MOST] = {20, 10, 15};
    enum { SUM_CALLS = 12 };
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, best_first, 5, 0.1, seed);
        p.sum_ns = 10 * US * SUM_CALLS;
        for (uint64_t calls = 0; calls < 5000; calls += 100) {
            run(&p, 100);
            assert_true(p.agreements <= 2 + p.calls / 64 / (SUM_CALLS - 1));
        }
        stays_with_the_first(&p);
        start(&p, cost, 3, 0.1, seed);
        p.sum_ns = 20 * US * SUM_CALLS;
        run(&p, 400);
        assert_true(p.agreements <= 2 + p.calls / 8 / (SUM_CALLS - 1));
        run(&p, 600);
        assert_true(over_best(&p, 20000) <= 1.02);
    }
}

/* The table was wrong, and the best one comes last: others have had their first pairs by then, and
   behind a take-over those are added up soon. */
static void test_sums_behind_take_over(void **state)
{
    static const double cost[MOST] = {100, 50, 80, 10, 60},
                        expected[MOST] = {1, 1.2, 1.3, 1.4, 1.5};
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, cost, 5, 0.1, seed);
        expect(&p, expected);
        p.sum_ns = 100 * US;
        run(&p, 300);
        assert_true(over_best(&p, 20000) <= 1.02);
        assert_int_equal(p.rank[0].best, 3);
    }
}

/* Calls that the best takes, as ever, need not be told: all but those of pairs and a few next to
   them, also where all pairs are as long as they can be. */
static void test_most_are_quiet(void **state)
{
    static const double equal[MOST] = {10, 10};
    program_t p;
    (void)state;
    start(&p, equal, 2, 0.0, 1);
    run(&p, 448 - p.calls);
    p.told = p.taken[1] = 0;
    run(&p, 2000);
    assert_true(p.told >= 2 * p.taken[1] && p.told < 2000 / 16);
    start(&p, best_first, 5, 0.01, 1);
    run(&p, 448 - p.calls);
    p.told = 0;
    run(&p, 2000);
    assert_true(p.told < 2000 / 16);
}

/* To agree may go to another block, before a call that would have begun an experiment. */
static void test_no_rival_elsewhere(void **state)
{
    static const double equal[MOST] = {10, 10};
    program_t p;
    (void)state;
    start(&p, equal, 2, 0.0, 1);
    run(&p, 448 - p.calls);
    assert_false(coll_poweraware_trials_begin(&p.rank[0]));
    coll_poweraware_trials_find_rival(&p.rank[0], may, &p);
    assert_int_equal(p.rank[0].rival, COLL_POWERAWARE_NO_RIVAL);
}

/* Nobody knows what adding up takes: the second time waits as if that were two calls, and so does
   the first one where times are expected. */
static void test_unknown_sums(void **state)
{
    enum { SUM_CALLS = 2 };
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, best_first, 5, 0.0, seed);
        p.sum_ns = 0;
        run(&p, 2 * 64 * SUM_CALLS - 1 - p.calls);
        assert_int_equal(p.agreements, 1);
        run(&p, 2 * 64 * SUM_CALLS);
        assert_true(p.agreements >= 2);
        start(&p, best_first, 5, 0.0, seed);
        expect(&p, best_first);
        p.sum_ns = 0;
        run(&p, 64 * SUM_CALLS - 1 - p.calls);
        assert_int_equal(p.agreements, 0);
        assert_int_equal(p.taken[3], 4);
        run(&p, 64 * SUM_CALLS);
        assert_true(p.agreements >= 1);
    }
}

/* A rival that seems faster hurries things until it seems so no more: here the machine was slow in
   one pair by chance, in the part of the best. */
static void test_surprised_for_a_while(void **state)
{
    enum { SUM_CALLS = 10 };
    static const double cost[MOST] = {10, 11};
    int surprised = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, cost, 2, 0.0, seed);
        p.sum_ns = 10 * US * SUM_CALLS;
        p.outliers = 0.2;
        p.longer = 2.0;
        for (int i = 0; i < 1000; i++) {
            run(&p, 1);
            surprised += p.rank[0].surprised;
        }
        p.outliers = 0.0;
        run(&p, 20000);
        assert_false(p.rank[0].surprised);
        uint64_t before = p.agreements;
        run(&p, 20000);
        assert_true(p.agreements - before <= p.calls / 64 / (SUM_CALLS - 1));
    }
    assert_true(surprised > 0);
}

/* Calls of 20 ms and more, of which there are few: the table's choice is left after two pairs, if
   it is much slower; the pairs with a rival that is slower cost five calls of that one. */
static void test_long_calls(void **state)
{
    static const double worst_first[MOST] = {40000, 20000};
    static const double right_first[MOST] = {20000, 40000, 30000};
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start_with(&p, worst_first, 2, 0.05, true, seed);
        run(&p, 17);
        assert_int_equal(p.rank[0].best, 1);
        assert_true(over_best(&p, 20000) <= 1.02);
        start_with(&p, right_first, 3, 0.05, true, seed);
        run(&p, 25);
        assert_int_equal(p.taken[1] + p.taken[2], 3);
        run(&p, 175);
        assert_true(p.taken[1] <= 3 + 2 && p.taken[2] <= 3 + 2);
        stays_with_the_first(&p);
    }
}

/* What earlier jobs have measured is right: one pair with one rival is all that looking costs at
   first. */
static void test_told(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, best_first, 5, 0.1, seed);
        tell(&p, 90000);
        run(&p, 200 - COLL_POWERAWARE_TRIALS_FROM);
        assert_int_equal(p.taken[1] + p.taken[2] + p.taken[3] + p.taken[4], 4);
        assert_true(p.rank[0].told > 0);
        stays_with_the_first(&p);
    }
}

/* It is wrong: the best is the worst by now.  That is found out as fast as if nothing were known.
 */
static void test_told_wrong(void **state)
{
    (void)state;
    leaves_the_worst(900000, false);
}

/* It is wrong of one rival, and not of the one that is looked at first. */
static void test_told_wrong_of_one(void **state)
{
    static const double cost[MOST] = {12, 30, 10};
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        program_t p;
        start(&p, cost, 3, 0.05, seed);
        tell(&p, 90000);
        run(&p, 2000);
        assert_true(over_best(&p, 20000) <= 1.02);
        assert_int_equal(p.rank[0].best, 2);
    }
}

/* It is wrong by a little: that takes long to see, and then nothing is believed any more. */
static void test_told_wrong_by_little(void **state)
{
    static const double cost[MOST] = {10.4, 10};
    program_t p;
    (void)state;
    start(&p, cost, 2, 0.01, 1);
    tell(&p, 20000);
    run(&p, 500000);
    assert_int_equal(p.rank[0].best, 1);
    assert_int_equal(p.rank[0].told, 0);
}

/* Small differences are found late, and large noise makes no wrong choice that lasts. */
static void test_noise(void **state)
{
    static const double cost[MOST] = {11, 10, 12};
    (void)state;
    double sum = 0.0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        program_t p;
        start(&p, cost, 3, 0.3, seed);
        p.outliers = 0.01;
        p.longer = 20.0;
        run(&p, 50000);
        sum += over_best(&p, 50000);
    }
    assert_true(sum / 50 < 1.02);
}

/* A machine that is three times as slow in every second call, by chance. */
static void test_bimodal(void **state)
{
    (void)state;
    double sum = 0.0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        static const double cost[MOST] = {20, 10, 30};
        program_t p;
        start(&p, cost, 3, 0.05, seed);
        p.outliers = 0.5;
        p.longer = 3.0;
        run(&p, 5000);
        sum += over_best(&p, 20000);
    }
    assert_true(sum / 50 < 1.05);
}

/* What was best becomes slower by and by, and another one faster. */
static void test_drift(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        static const double cost[MOST] = {10, 20, 15};
        program_t p;
        start(&p, cost, 3, 0.05, seed);
        run(&p, 10000);
        p.ns = p.best_ns = 0.0;
        for (int step = 0; step < 100; step++) {
            p.cost[0] += 0.2;
            p.cost[1] -= 0.1;
            run(&p, 10000);
        }
        assert_int_equal(p.rank[0].best, 1);
        assert_true(p.ns / p.best_ns < 1.05);
        assert_true(over_best(&p, 100000) < 1.0 + 0.01 / 4);
    }
}

/* Costs change places at once, again and again, when nobody expects it. */
static void test_changes(void **state)
{
    (void)state;
    double sum = 0.0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double cost[MOST] = {30, 10, 15};
        program_t p;
        start(&p, cost, 3, 0.05, seed);
        for (int i = 0; i < 10; i++) {
            run(&p, 100000 + (uint64_t)(100000 * uniform(&p)));
            double first = p.cost[0];
            memmove(p.cost, p.cost + 1, 2 * sizeof *p.cost);
            p.cost[2] = first;
        }
        sum += p.ns / p.best_ns;
    }
    assert_true(sum / 20 < 1.15);
}

/* Whatever becomes the best is made three times as slow at once: nobody can win that.  But no rival
   takes more calls than experiments may have, and it never ends in one place. */
static void test_adversary(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        static const double cost[MOST] = {30, 10, 10};
        program_t p;
        start(&p, cost, 3, 0.05, seed);
        uint64_t experiments = 0;
        for (int i = 0; i < 300000; i++) {
            experiments += coll_poweraware_trials_candidate(&p.rank[0]) != p.rank[0].best;
            call(&p);
            for (int c = 0; c < 3; c++) {
                p.cost[c] = c == p.rank[0].best ? 30 : 10;
            }
        }
        assert_true(p.rank[0].take_overs > 20);
        assert_true(experiments <= 2 * 300000 / PWR_SCHEDULE_STRETCHES);
    }
}

/* A rival that cannot run (no memory so far) is left out; nothing is decided by a spoilt pair. */
static void test_spoilt(void **state)
{
    static const double cost[MOST] = {20, 10};
    program_t p;
    (void)state;
    start(&p, cost, 2, 0.0, 1);
    p.allowed[1] = false;
    run(&p, 10000);
    assert_int_equal(p.taken[1], 0);
    assert_int_equal(p.agreements, 0);
    start(&p, cost, 2, 0.0, 1);
    for (int i = 0; i < 10000; i++) {
        for (int r = 0; r < RANKS; r++) {
            if (coll_poweraware_trials_measure(&p.rank[r])) {
                coll_poweraware_trials_spoil(&p.rank[r]);
            }
        }
        call(&p);
    }
    assert_int_equal(p.rank[0].pairs, 0);
    assert_int_equal(p.agreements, 0);
}

/* Sums that could not be added up; hours; nothing at all. */
static void test_odd_sums(void **state)
{
    static const int64_t sums[][2] = {
        {0, 0}, {INT64_MAX / 2, 1}, {1, INT64_MAX / 2}, {INT64_MAX / 2, INT64_MAX / 2}, {1, 1}};
    int64_t mine[COLL_POWERAWARE_TRIALS_SUMS];
    static const double cost[MOST] = {20, 10};
    (void)state;
    for (unsigned i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        program_t p;
        start(&p, cost, 2, 0.0, 1);
        coll_poweraware_trials_find_rival(&p.rank[0], may, &p);
        pwr_schedule_at(&p.rank[0].at, 64);
        assert_true(coll_poweraware_trials_have(&p.rank[0], mine));
        coll_poweraware_trials_agree(&p.rank[0], sums[i]);
        int64_t d = p.rank[0].candidates[1].d_ppm;
        assert_true(d >= -COLL_POWERAWARE_PPM && d <= COLL_POWERAWARE_PPM);
        assert_int_equal(d > 0, sums[i][0] > sums[i][1]);
    }
    program_t p;
    start(&p, cost, 2, 0.0, 1);
    coll_poweraware_trials_find_rival(&p.rank[0], may, &p);
    p.rank[0].ns[0] = UINT64_MAX;
    assert_true(coll_poweraware_trials_have(&p.rank[0], mine));
    assert_true(mine[0] > 0);
    assert_false(coll_poweraware_trials_agree(&p.rank[0], NULL));
    assert_int_equal(p.rank[0].pairs, 0);
    assert_false(coll_poweraware_trials_have(&p.rank[0], mine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_start),
        cmocka_unit_test(test_right_start),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_expected_equal),
        cmocka_unit_test(test_expected_wrongly),
        cmocka_unit_test(test_long_sums),
        cmocka_unit_test(test_sums_behind_take_over),
        cmocka_unit_test(test_most_are_quiet),
        cmocka_unit_test(test_no_rival_elsewhere),
        cmocka_unit_test(test_unknown_sums),
        cmocka_unit_test(test_surprised_for_a_while),
        cmocka_unit_test(test_long_calls),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_told_wrong),
        cmocka_unit_test(test_told_wrong_of_one),
        cmocka_unit_test(test_told_wrong_by_little),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_bimodal),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_adversary),
        cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_odd_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
