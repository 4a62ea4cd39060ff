/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Experiments with candidates (choose/trials.h).  Numbers that all ranks compute from what they
 * have agreed on are integers, so that they are equal on different processors, too.
 */
#include "choose/trials.h"

#include <stddef.h>

typedef coll_poweraware_trials_t trials_t;
typedef coll_poweraware_candidate_t candidate_t;
typedef coll_poweraware_pair_t pair_t;

enum {
    PPM = COLL_POWERAWARE_PPM,
    LEAST_PAIRS = 2,
    LEAST_CALLS = 2,   /* of a pair, where calls are not long */
    SKIPPED = 1,       /* calls before them */
    SKIPPED_FIRST = 2, /* in a first pair */
    MEMORY = 16,       /* pairs, by which older ones fade, ... */
    MEMORY_CALLS = MEMORY * PWR_SCHEDULE_LONGEST,
    SIGMAS2 = 9,            /* square of the standard errors that a rival must be ahead */
    PROMISING_PPM = -50000, /* worth another look at once */
    GROSS_PPM = 800000,     /* nine times as slow: one pair is enough to believe it */
    EXPECTED_PPM = 100000,  /* slower by this: as was expected; faster by this: not at all */
    PAIR_CALLS = 4,         /* what a pair takes besides its rival's slower calls */
    SHARE_OF_BOUND = 4,
    SHARE_OF_EXPECTED = 64, /* of calls, that a pair may lose as far as is known, ... */
    SHARE_OF_FIRST = 16,    /* ... the very first one */
    SHARE_OF_SUMS = 64,     /* of calls, that adding up may take, ... */
    SHARE_OF_MANY_SUMS = 8, /* ... while some rival seems faster */
    USUAL_SUM_CALLS = 2,    /* where nobody knows */
    MOST_SUM_CALLS = 64,
    CLOSE_CALL = 448,  /* where blocks are short: to look closely is to go back to this one */
    MOST_LOOKS = 5,    /* from so many on, the calls between close looks do not double any more */
    MOST_NS_BITS = 40, /* of a sum of one rank; more is cut */
    MOST_LEAST = 6     /* a call counts for at most so many of the shortest */
};
enum { SUM_NS = COLL_POWERAWARE_TRIALS_SUM_NS };
static const int64_t least_d2_ppm2 = (int64_t)50000 * 50000 * 2; /* for pairs of one call */

void coll_poweraware_trials_init(trials_t *t, const int *algorithms, int num, int max_slowdown_ppm,
                                 bool long_calls, uint64_t seed)
{
    *t = (trials_t){
        .long_calls = long_calls,
        .seed = seed,
        .bound_ppm = max_slowdown_ppm / SHARE_OF_BOUND,
        .num_candidates = num,
        .rival = COLL_POWERAWARE_NO_RIVAL,
    };
    for (int i = 0; i < num; ++i) {
        t->candidates[i].algorithm = algorithms[i];
    }
    pwr_schedule_at(&t->at, long_calls ? 0 : COLL_POWERAWARE_TRIALS_FROM);
}

void coll_poweraware_trials_expect(trials_t *t, int candidate, int64_t d_ppm)
{
    t->candidates[candidate].expected_ppm = d_ppm > 0 ? d_ppm : 1;
    t->sum_calls = t->long_calls ? 0 : USUAL_SUM_CALLS;
}

static uint32_t least_calls(const trials_t *t)
{
    return t->long_calls ? 1 : LEAST_CALLS;
}

/* ---- what earlier jobs have measured ---- */

void coll_poweraware_trials_tell(trials_t *t, int64_t d_ppm, uint32_t pairs)
{
    t->told = pairs;
    for (int i = 0; i < t->num_candidates; ++i) {
        if (i != t->best) {
            t->candidates[i].pairs = 1;
            t->candidates[i].d_ppm = d_ppm;
        }
    }
}

static bool is_told(const candidate_t *c)
{
    return 0 != c->pairs && 0 == c->calls;
}

/* Things are not as they were. */
static void forget_told(trials_t *t)
{
    t->told = 0;
    for (int i = 0; i < t->num_candidates; ++i) {
        if (is_told(&t->candidates[i])) {
            t->candidates[i] = (candidate_t){.algorithm = t->candidates[i].algorithm};
        }
    }
}

/* The caller has told its time, compared with the first best: what is expected holds while no rival
   seems faster than this one. */
static bool is_expected(const trials_t *t, const candidate_t *c)
{
    return c->expected_ppm > 0 && !t->surprised && 0 == t->take_overs;
}

/* Or slower by little. */
static bool is_expected_equal(const trials_t *t, const candidate_t *c)
{
    return is_expected(t, c) && c->expected_ppm < EXPECTED_PPM;
}

/* ---- results ---- */

/* The pair of this block is over. */
static void keep_pair(trials_t *t)
{
    if (COLL_POWERAWARE_NO_RIVAL != t->rival && !t->spoilt) {
        t->kept[t->num_kept++] = (pair_t){t->rival, t->take, {t->ns[0], t->ns[1]}};
    }
    t->rival = COLL_POWERAWARE_NO_RIVAL;
}

static bool is_kept(const trials_t *t, int candidate)
{
    for (int i = 0; i < t->num_kept; ++i) {
        if (candidate == t->kept[i].rival) {
            return true;
        }
    }
    return false;
}

/* Some rival seems faster; or one was, so others may be, of whom nothing is known yet. */
static bool is_urgent(const trials_t *t)
{
    bool any_first = false;
    for (int i = 0; i < t->num_kept; ++i) {
        any_first |= 0 == t->candidates[t->kept[i].rival].pairs;
    }
    return t->surprised || (t->take_overs > 0 && any_first);
}

/* Not yet, if another pair will be added up with these, or if that would take too many of the calls
   so far. */
static bool is_due(const trials_t *t)
{
    uint64_t share = is_urgent(t) ? SHARE_OF_MANY_SUMS : SHARE_OF_SUMS;
    bool waits = t->more && t->num_kept < COLL_POWERAWARE_TRIALS_TOGETHER;
    return 0 != t->num_kept && !waits &&
           share * t->sum_calls * (t->sums + UINT64_C(1)) <= t->at.call;
}

static int64_t bounded(uint64_t ns)
{
    const uint64_t most = UINT64_C(1) << MOST_NS_BITS;
    return (int64_t)(ns < most ? ns : most);
}

bool coll_poweraware_trials_have(trials_t *t, int64_t sums[COLL_POWERAWARE_TRIALS_SUMS])
{
    bool behind_pair = COLL_POWERAWARE_NO_RIVAL != t->rival; /* else only where nobody is quiet */
    keep_pair(t);
    for (int i = 0; i < SUM_NS; ++i) {
        sums[i] = i / 2 < t->num_kept ? bounded(t->kept[i / 2].ns[i % 2]) : 0;
    }
    sums[SUM_NS] = bounded(t->sum_ns);
    return (behind_pair || coll_poweraware_trials_begin(t)) && is_due(t);
}

/* (rival - best) / (rival + best), without overflow */
static int64_t d_of(const int64_t sums[2])
{
    int64_t rival = sums[0], best = sums[1];
    while (rival + best > INT64_MAX / PPM / 2) {
        rival /= 2;
        best /= 2;
    }
    return rival + best <= 0 ? 0 : (rival - best) * PPM / (rival + best);
}

static void add_pair(candidate_t *c, int64_t d_ppm, int64_t calls)
{
    int64_t before = d_ppm - c->d_ppm;
    c->pairs += c->pairs < UINT32_MAX;
    c->calls += calls;
    c->calls = c->calls < MEMORY_CALLS ? c->calls : MEMORY_CALLS;
    int64_t n = c->pairs < MEMORY ? c->pairs : MEMORY;
    c->d_ppm += before * calls / c->calls;
    c->d2_ppm2 += (before * (d_ppm - c->d_ppm) * calls - c->d2_ppm2) / n;
}

/* Whether its mean is below 0 by more than chance explains. */
static bool is_faster(const candidate_t *c)
{
    int64_t n = c->pairs < MEMORY ? c->pairs : MEMORY;
    if (n < LEAST_PAIRS || c->d_ppm >= 0) {
        return false;
    }
    int64_t single = c->d2_ppm2 * n / (n - 1) + least_d2_ppm2;
    return c->d_ppm * c->d_ppm * c->calls >= SIGMAS2 * single;
}

/* Things are not as they were: earlier pairs count for one of the last one's length. */
static void doubt(candidate_t *c, int64_t calls)
{
    if (c->pairs > 1) {
        c->pairs = 1;
        c->calls = c->calls < calls ? c->calls : calls;
        c->d2_ppm2 = 0;
    }
}

/* What was measured against the old best says something about the new one. */
static void take_over(trials_t *t, int rival)
{
    const candidate_t won = t->candidates[rival];
    for (int i = 0; i < t->num_candidates; ++i) {
        candidate_t *c = &t->candidates[i];
        doubt(c, least_calls(t));
        c->d_ppm -= 0 != c->pairs ? won.d_ppm : 0;
        c->d_ppm = c->d_ppm < PPM ? c->d_ppm : PPM;
    }
    candidate_t *old = &t->candidates[t->best];
    old->pairs = 1;
    old->calls = least_calls(t);
    old->d_ppm = -won.d_ppm;
    old->measured = t->at.call;
    t->candidates[rival] = (candidate_t){.algorithm = won.algorithm};
    t->best = rival;
    t->told = 0;
    t->looks = 0;
    ++t->take_overs;
}

/* At once in the next block.  Where blocks are long, in short ones: ever more rarely while nothing
   comes of it, since noise is promising, too. */
static void look_closely(trials_t *t)
{
    if (t->at.call <= CLOSE_CALL) {
        if (!coll_poweraware_trials_begin(t)) {
            pwr_schedule_end_block(&t->at);
        }
    } else if (t->at.call > (uint64_t)CLOSE_CALL << t->looks) {
        t->looks += t->looks < MOST_LOOKS;
        pwr_schedule_at(&t->at, CLOSE_CALL);
        t->sums = 0;
        for (int i = 0; i < t->num_candidates; ++i) {
            t->candidates[i].measured = CLOSE_CALL;
        }
    }
}

/* Returns whether it is worth a close look. */
static bool judge(trials_t *t, const pair_t *pair, const int64_t sums[2])
{
    candidate_t *rival = &t->candidates[pair->rival];
    int64_t d_ppm = d_of(sums);
    bool surprises = d_ppm <= (is_expected_equal(t, rival) ? -EXPECTED_PPM : PROMISING_PPM);
    if (d_ppm <= PROMISING_PPM && is_told(rival)) {
        forget_told(t);
    } else if (d_ppm <= PROMISING_PPM && rival->d_ppm > 0) {
        *rival = (candidate_t){.algorithm = rival->algorithm};
    }
    add_pair(rival, d_ppm, pair->take);
    rival->measured = t->at.call;
    ++t->pairs;
    t->lost_ns += sums[0] > sums[1] ? (uint64_t)(sums[0] - sums[1]) : 0;
    bool better = is_faster(rival);
    if (better) {
        take_over(t, pair->rival);
    }
    return better || surprises;
}

static void learn_what_sums_take(trials_t *t, const pair_t *pair, const int64_t *sums)
{
    int64_t call_ns = sums[1] / pair->take + 1;
    int64_t calls = 0 == sums[SUM_NS] ? USUAL_SUM_CALLS : sums[SUM_NS] / call_ns;
    t->sum_calls = calls < MOST_SUM_CALLS ? (uint32_t)calls : MOST_SUM_CALLS;
    ++t->sums;
}

static bool is_promising(const candidate_t *c)
{
    return 0 != c->pairs && c->d_ppm <= PROMISING_PPM;
}

static bool is_any_promising(const trials_t *t)
{
    bool any = false;
    for (int i = 0; i < t->num_candidates; ++i) {
        any = any || (i != t->best && is_promising(&t->candidates[i]));
    }
    return any;
}

/* Behind a take-over there is nothing to judge: the other pairs were against the old best. */
bool coll_poweraware_trials_agree(trials_t *t, const int64_t *sums)
{
    uint32_t before = t->take_overs;
    bool close = false;
    if (t->num_kept > 0 && NULL != sums) {
        learn_what_sums_take(t, &t->kept[0], sums);
    }
    for (int i = 0; i < t->num_kept && NULL != sums && before == t->take_overs; ++i) {
        close |= judge(t, &t->kept[i], &sums[(size_t)i * 2]);
    }
    t->num_kept = 0;
    t->surprised = close || (t->surprised && is_any_promising(t));
    if (close) {
        look_closely(t);
    }
    return before != t->take_overs;
}

/* ---- the next rival ---- */

/* Of a rival whose time was told: its next pair would lose more than it may, each call 2 d / (1 -
   d) and some calls besides.  The very first pair of all comes earlier, for it may show that
   nothing is as expected. */
static bool is_too_early(const trials_t *t, const candidate_t *c)
{
    bool is_first = 0 == t->pairs && 0 == t->num_kept;
    int64_t share = is_first ? SHARE_OF_FIRST : SHARE_OF_EXPECTED;
    int64_t besides = is_first ? 0 : PAIR_CALLS;
    int64_t d_ppm = 0 == c->pairs ? c->expected_ppm : 0; /* else affordable takes care of it */
    int64_t slower = (SKIPPED_FIRST + least_calls(t)) * 2 * d_ppm * share / (PPM - d_ppm);
    uint64_t wait = (uint64_t)(slower + besides * share);
    return is_expected(t, c) && !t->long_calls && t->at.call - c->measured < wait;
}

/* Calls of its next pair, so that what they will probably lose is a small part of the calls since
   the last one; 0: not now. */
static uint32_t affordable(const trials_t *t, const candidate_t *c)
{
    const uint64_t most = 1000 * 1000 * 1000;
    const int64_t fine = 1000;
    uint32_t length = pwr_schedule_length(t->at.block);
    if (is_too_early(t, c)) {
        return 0;
    }
    if (0 == c->pairs) {
        return least_calls(t);
    }
    if (c->d_ppm <= 0) {
        return length;
    }
    int64_t since = (int64_t)(t->at.call - c->measured < most ? t->at.call - c->measured : most);
    int64_t may_lose = since * t->bound_ppm / (t->num_candidates - 1) / (PPM / fine);
    int64_t faster_ppm = c->d_ppm < PPM ? PPM - c->d_ppm : 1;
    /* each loses 2 d / (1 - d) calls */
    int64_t calls = may_lose * faster_ppm / (2 * c->d_ppm) / fine;
    calls -= SKIPPED;
    if (calls < least_calls(t)) {
        int64_t slow_ppm = is_expected(t, c) ? EXPECTED_PPM : GROSS_PPM;
        bool on_credit = is_told(c) ? 0 == t->pairs : 1 == c->pairs && c->d_ppm < slow_ppm;
        return on_credit ? least_calls(t) : 0;
    }
    return calls < length ? (uint32_t)calls : length;
}

/* Less is earlier: the promising, then the untried, then those measured longest ago. */
static uint64_t turn_of(const candidate_t *c)
{
    if (is_promising(c)) {
        return (uint64_t)(PPM + c->d_ppm);
    }
    return 0 == c->pairs ? PPM : PPM + 1 + c->measured;
}

static bool is_earlier(const trials_t *t, const candidate_t *c)
{
    return COLL_POWERAWARE_NO_RIVAL == t->rival || turn_of(c) < turn_of(&t->candidates[t->rival]);
}

void coll_poweraware_trials_find_rival(trials_t *t, bool (*may)(void *arg, int candidate),
                                       void *arg)
{
    int untried = 0;
    coll_poweraware_trials_give_up(t);
    t->spoilt = false;
    t->ns[0] = t->ns[1] = 0;
    t->least_ns = 0;
    t->more = false;
    if (!coll_poweraware_trials_begin(t) || COLL_POWERAWARE_TRIALS_TOGETHER == t->num_kept) {
        return;
    }
    for (int i = 0; i < t->num_candidates; ++i) {
        const candidate_t *c = &t->candidates[i];
        uint32_t take = i == t->best || is_kept(t, i) ? 0 : affordable(t, c);
        if (0 != take && may(arg, i)) {
            untried += 0 == c->pairs;
            if (is_earlier(t, c)) {
                t->rival = i;
                t->take = take;
                t->skip = 0 == c->calls ? SKIPPED_FIRST : SKIPPED;
            }
        }
    }
    bool is_first = COLL_POWERAWARE_NO_RIVAL != t->rival && 0 == t->candidates[t->rival].pairs;
    t->more = is_first && untried > 1 && !t->surprised && !t->long_calls;
}

/* ---- a call ---- */

/* Of this block's pair: calls before this one. */
static uint32_t calls_of_pair(const trials_t *t)
{
    int stretches = t->at.stretch - PWR_SCHEDULE_CHOICE;
    uint32_t length = pwr_schedule_length(t->at.block);
    return stretches < 0 ? 0 : (uint32_t)(stretches + 1) * length - t->at.left;
}

static uint32_t calls_of_part(const trials_t *t)
{
    return t->skip + t->take;
}

/* One that is spoilt is over with the last of its stretches: its rival's memory may be made until
   then. */
static bool is_over(const trials_t *t)
{
    uint32_t length = pwr_schedule_length(t->at.block);
    uint32_t part = t->spoilt ? PWR_SCHEDULE_CHOICE_PART * length : calls_of_part(t);
    return t->at.stretch >= PWR_SCHEDULE_CHOICE && calls_of_pair(t) >= 2 * part;
}

bool coll_poweraware_trials_meet(const trials_t *t)
{
    return COLL_POWERAWARE_NO_RIVAL != t->rival && is_over(t);
}

bool coll_poweraware_trials_experiment(const trials_t *t)
{
    return COLL_POWERAWARE_NO_RIVAL != t->rival && !is_over(t);
}

/* Where a call is in the pair of its block. */
typedef struct place {
    bool before; /* shortly before it */
    bool rivals; /* in the rival's part */
    bool counts;
} place_t;

static place_t place_of(const trials_t *t)
{
    uint32_t call = calls_of_pair(t);
    uint32_t part = calls_of_part(t);
    bool rival_first = 0 != (pwr_schedule_scrambled(t->seed ^ t->at.block) & 1);
    if (!coll_poweraware_trials_experiment(t)) {
        return (place_t){0};
    }
    if (t->at.stretch < PWR_SCHEDULE_CHOICE) {
        return (place_t){.before = true};
    }
    bool within = call < 2 * part;
    return (place_t){.rivals = within && (call < part) == rival_first,
                     .counts = within && call % part >= t->skip};
}

bool coll_poweraware_trials_measure(const trials_t *t)
{
    place_t place = place_of(t);
    return place.before || place.counts;
}

int coll_poweraware_trials_candidate(const trials_t *t)
{
    return place_of(t).rivals ? t->rival : t->best;
}

void coll_poweraware_trials_add(trials_t *t, uint64_t ns)
{
    place_t place = place_of(t);
    uint64_t most = MOST_LEAST * t->least_ns;
    if (place.counts) {
        t->ns[place.rivals ? 0 : 1] += 0 != most && ns > most ? most : ns;
    }
    if (!place.rivals && (0 == t->least_ns || ns < t->least_ns)) {
        t->least_ns = ns;
    }
}

void coll_poweraware_trials_over(trials_t *t)
{
    pwr_schedule_next(&t->at);
    while (t->long_calls && t->at.call < CLOSE_CALL && coll_poweraware_trials_meet(t) &&
           t->at.stretch < PWR_SCHEDULE_CHOICE_END) {
        pwr_schedule_end_stretch(&t->at);
    }
}

uint32_t coll_poweraware_trials_quiet(const trials_t *t)
{
    pwr_schedule_t next = t->at;
    if (COLL_POWERAWARE_NO_RIVAL != t->rival || coll_poweraware_trials_begin(t)) {
        return 0;
    }
    if (0 != next.stretch || next.left < COLL_POWERAWARE_TRIALS_BEFORE) {
        pwr_schedule_end_block(&next);
    }
    return (uint32_t)(next.call - t->at.call) + next.left - COLL_POWERAWARE_TRIALS_BEFORE;
}
