/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which of several candidates is fastest for the calls of one class, by experiment while the
 * program runs (scheme auto).  Nothing here knows MPI.
 *
 * One candidate is the *best* so far, and takes all calls but those of experiments.  Once in a
 * block of the schedule (pwr/schedule.h) a *rival* takes a few calls, and the best takes as many
 * next to them, in random order.  The first one of them does not count, nor the first two of a
 * rival that is new: ranks may have run ahead of each other, and memory is touched for the first
 * time.  Each rank adds up its time in both.  In the first call behind them the ranks add their
 * sums up, so all of them know the same numbers, and decide the same.  All other calls are as if
 * there were no experiments, but for two before a pair: those that repeat others take the short way
 * (repeat.h).
 *
 * To add up takes as long as many calls.  So that is done for the first pairs of several rivals at
 * once, COLL_POWERAWARE_TRIALS_TOGETHER at most, while none seems faster than the best.  From the
 * second time on, and from the first on where times are expected, it waits until adding up has
 * taken a 64th of all calls at most; an 8th while some rival seems faster, and for first pairs
 * behind a take-over.  How long it took, the ranks add up the next time; until then that counts as
 * two calls.
 *
 *   d = (rival - best) / (rival + best)        of the sums over all ranks; -1 .. 1
 *
 *   - A call counts for at most six times the shortest one of the best: what stalls the machine is
 *     nobody's fault.
 *   - A rival takes over after two pairs at least, if the mean of its d is three standard errors
 *     below 0.  No error is believed to be smaller than 5 % for pairs of two calls.
 *   - One whose last pair was promising comes again, the most promising first: the next block
 *     begins at once, and blocks are short again.
 *   - One that was slower comes again when the calls since then, times b / 4 over the number of
 *     rivals, pay for what it will lose; b: coll_poweraware_max_slowdown.  It then takes as many
 *     calls of its part as they pay for, and three at least.
 *
 * Where calls are long, programs make few of them.  So experiments begin earlier, and one call of
 * each may be a pair.
 *
 * Regret.  Let a rival take r times as long as the best.  Its first pair loses 4 (r - 1) calls;
 * with up to five rivals those are made in the first 192 calls, those of rivals that come later
 * (choose/learn.h) when they come.  One that is expected to be r times as slow, or equal, waits
 * until that, and four calls for the pair itself, are a 64th of the calls so far; the first one of
 * all until 4 (r - 1) are a 16th; not while some rival seems faster, one that is expected to be
 * equal by a fifth, nor behind a take-over.  One that seemed less than nine times as slow has a
 * second pair on credit, of 3 (r - 1) calls; one that is expected to be slower, only if it seemed
 * so by less than a fifth. Long calls, which do not wait: 3 (r - 1) and 2 (r - 1).  Later pairs of
 * all rivals together lose at most b / 4 of all calls, as far as the latest d of each holds.  A
 * rival that is faster is found after 9 (v + 0.005) / d^2 calls of pairs (v: variance of d in pairs
 * of one call), and until then each call of the best loses 2 d / (1 + d) of itself.  When costs
 * change, it begins anew, from the next block on: after 16,384 calls at most.
 *
 * What earlier jobs have measured is believed until it is refuted.  One rival has one pair, to see
 * whether things are as they were: 4 (r - 1) calls.  The others come when the calls pay for what
 * they are said to lose.  If that rival, or a later one, is the faster one in its first pair, all
 * begin as if nothing had been told.
 */
#ifndef COLL_POWERAWARE_TRIALS_H
#define COLL_POWERAWARE_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/schedule.h"

enum {
    COLL_POWERAWARE_MOST_CANDIDATES = 8,
    COLL_POWERAWARE_TRIALS_FROM = 32,    /* calls of a class before its first experiment */
    COLL_POWERAWARE_TRIALS_BEFORE = 2,   /* calls of an experiment before its pair */
    COLL_POWERAWARE_TRIALS_TOGETHER = 3, /* pairs that are added up at once */
    COLL_POWERAWARE_TRIALS_SUM_NS = 2 * COLL_POWERAWARE_TRIALS_TOGETHER,
    COLL_POWERAWARE_TRIALS_SUMS,
    COLL_POWERAWARE_NO_RIVAL = -1,
    COLL_POWERAWARE_PPM = 1000000
};

typedef struct coll_poweraware_candidate {
    int algorithm;        /* the caller's */
    uint32_t pairs;       /* measured against the best, or told */
    int64_t calls;        /* of those measured, on each side; older ones fade */
    int64_t expected_ppm; /* its d, as far as is known before: above 0; 0: nothing is */
    int64_t d_ppm;        /* mean, in millionths */
    int64_t d2_ppm2;      /* its variance, for a pair of one call */
    uint64_t measured;    /* the call behind the last pair */
} coll_poweraware_candidate_t;

/* One that is over. */
typedef struct coll_poweraware_pair {
    int rival;
    uint32_t take;  /* calls that count, of each */
    uint64_t ns[2]; /* my own: rival, best */
} coll_poweraware_pair_t;

typedef struct coll_poweraware_trials {
    /* the same on all ranks */
    pwr_schedule_t at;
    uint64_t seed;
    int64_t bound_ppm; /* share of all calls that later experiments may lose */
    bool long_calls;   /* there are few, so experiments are short */
    int num_candidates;
    coll_poweraware_candidate_t candidates[COLL_POWERAWARE_MOST_CANDIDATES];
    int best;
    int rival;          /* of this block; COLL_POWERAWARE_NO_RIVAL: none */
    uint32_t take;      /* calls of it that count, and of the best */
    uint32_t skip;      /* calls of it before those */
    bool spoilt;        /* somebody else has taken a call of the pair */
    bool more;          /* another rival will have its first pair after it */
    bool surprised;     /* some rival seems faster: in its last pair, or in all of its */
    uint32_t sum_calls; /* calls that take as long as to add up; 0: not known, or few */
    uint32_t sums;      /* how often that was done */
    int num_kept;       /* pairs that are over and have not been added up */
    coll_poweraware_pair_t kept[COLL_POWERAWARE_TRIALS_TOGETHER];
    uint32_t pairs; /* of all, with those of candidates that have been the best */
    uint32_t take_overs;
    uint32_t told;    /* pairs of earlier jobs, behind what is believed; 0: nothing is */
    uint8_t looks;    /* close ones, since the last take-over */
    uint64_t lost_ns; /* in experiments; of all ranks */
    /* my own */
    uint64_t sum_ns;   /* what it took me to add up: the caller's; 0: not known */
    uint64_t ns[2];    /* of this pair: rival, best */
    uint64_t least_ns; /* the shortest call of the best in this block; 0: not known */
} coll_poweraware_trials_t;

/* algorithms, [num]: at most COLL_POWERAWARE_MOST_CANDIDATES, in order of preference; the first one
   is the best for now.  max_slowdown_ppm: 10000 is 1 %; at most 1000000.  The calls made so far are
   COLL_POWERAWARE_TRIALS_FROM. */
void coll_poweraware_trials_init(coll_poweraware_trials_t *trials, const int *algorithms, int num,
                                 int max_slowdown_ppm, bool long_calls, uint64_t seed);

/* At once after init: the d of a candidate, to be expected from its time elsewhere; below
   COLL_POWERAWARE_PPM.  The same on all ranks. */
void coll_poweraware_trials_expect(coll_poweraware_trials_t *trials, int candidate, int64_t d_ppm);
/* At once after init: earlier jobs found each rival slower than the best, by d at least, after so
   many pairs with all of them.  The same on all ranks.  d_ppm: above 0, below COLL_POWERAWARE_PPM;
   pairs: above 0. */
void coll_poweraware_trials_tell(coll_poweraware_trials_t *trials, int64_t d_ppm, uint32_t pairs);

/* Two things come before some calls.  In the first one behind a pair: that pair is kept.  There,
   and before the next pair: whether the ranks now have to add up their sums, and those of this one:
   rival, best, in ns, of each pair that is kept, then zeros, at last sum_ns.  Where they have to,
   agree follows. */
bool coll_poweraware_trials_meet(const coll_poweraware_trials_t *trials);
bool coll_poweraware_trials_have(coll_poweraware_trials_t *trials,
                                 int64_t sums[COLL_POWERAWARE_TRIALS_SUMS]);
/* The sums of all ranks, sum_ns of any earlier time; NULL: they could not be added up.  Returns
   whether the best has changed. */
bool coll_poweraware_trials_agree(coll_poweraware_trials_t *trials, const int64_t *sums);
/* The experiment of this block is given up. */
static inline void coll_poweraware_trials_give_up(coll_poweraware_trials_t *trials)
{
    trials->rival = COLL_POWERAWARE_NO_RIVAL;
}
/* Shortly before the pair of a block: finds its rival, unless agree has just gone to another block.
   may: whether a candidate may be one. */
static inline bool coll_poweraware_trials_begin(const coll_poweraware_trials_t *trials)
{
    return 0 == trials->at.stretch && COLL_POWERAWARE_TRIALS_BEFORE == trials->at.left;
}
void coll_poweraware_trials_find_rival(coll_poweraware_trials_t *trials,
                                       bool (*may)(void *arg, int candidate), void *arg);

/* Whether there is one in this block that is not over. */
bool coll_poweraware_trials_experiment(const coll_poweraware_trials_t *trials);
/* Whether this call is timed: it counts, or comes shortly before. */
bool coll_poweraware_trials_measure(const coll_poweraware_trials_t *trials);
/* The candidate that takes this call. */
int coll_poweraware_trials_candidate(const coll_poweraware_trials_t *trials);
/* After a call that is measured: what it cost on this rank (choose/turns.h); or it was not taken by
   the candidate, which all ranks know. */
void coll_poweraware_trials_add(coll_poweraware_trials_t *trials, uint64_t ns);
static inline void coll_poweraware_trials_spoil(coll_poweraware_trials_t *trials)
{
    trials->spoilt = true;
}
void coll_poweraware_trials_over(coll_poweraware_trials_t *trials);
/* Calls to come that the best takes, and that nobody times.  They need not be told one by one. */
uint32_t coll_poweraware_trials_quiet(const coll_poweraware_trials_t *trials);
static inline void coll_poweraware_trials_skip(coll_poweraware_trials_t *trials, uint32_t calls)
{
    pwr_schedule_skip(&trials->at, calls);
}

#endif
