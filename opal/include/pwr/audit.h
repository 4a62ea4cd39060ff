/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The slowdown audit: what saving costs in time, by experiment, and how much of it is therefore
 * done.
 *
 * Calls of one class (communicator, collective, size) come in stretches (pwr/schedule.h).  Some are
 * *measured*, in pairs: one as deep as is under test, one with nothing saved, in random order.  The
 * logarithm of the ratio of their times is one sample.  A stretch lasts from the end of the one
 * before to the end of its last call, so it holds what the application computes, too: the ratio is
 * the application's slowdown, not the collective's.
 *
 * All other calls save as much as has not been found wrong.  So 15 of 16 calls save from the first
 * one on.  Calls so brief that a sleep might double them are the exception: they linger.
 *
 * All ranks of a communicator try the same at the same time and tell each other nothing.  The depth
 * is each rank's own affair, and so is its verdict.  In programs that communicate the ranks' times
 * are alike, and so are verdicts.
 */
#ifndef PWR_AUDIT_H
#define PWR_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/schedule.h"

/* How much is saved in a call.  One rung up is one more. */
typedef enum pwr_audit_depth {
    PWR_AUDIT_LEVERS,   /* all there is: levers move, waits go down the ladder */
    PWR_AUDIT_LADDER,   /* no levers */
    PWR_AUDIT_LINGER,   /* waits spin PWR_AUDIT_LINGER_FACTOR times as long before they sleep */
    PWR_AUDIT_REFERENCE /* nothing is saved: waits poll */
} pwr_audit_depth_t;

enum {
    PWR_AUDIT_LINGER_FACTOR = 8,
    PWR_AUDIT_ENERGY_LEAST_NS = 20000000, /* counters move once a millisecond */
    PWR_AUDIT_LINGER_LEAST_NS =
        100000, /* where the table says that sleeping costs next to nothing */
};

/* A ratio less 1, and its confidence interval: -0.5 is half as much. */
typedef struct pwr_audit_estimate {
    double middle, low, high; /* infinite bounds: too few samples */
} pwr_audit_estimate_t;

/* A rank changed its mind. */
typedef struct pwr_audit_change {
    uint64_t call; /* of the class, counted from 0 */
    pwr_audit_depth_t from, to;
    pwr_audit_estimate_t slowdown; /* measured then; 0: of a change downwards, and of brief calls */
} pwr_audit_change_t;

/* Logarithms of ratios, older ones fading. */
typedef struct pwr_audit_samples {
    double weight, weight2, sum, sum2;
} pwr_audit_samples_t;

/* Everything about one class; private but for reading through pwr_audit_result. */
typedef struct pwr_audit {
    uint64_t seed;
    pwr_schedule_t at; /* the same on all ranks */
    /* my own */
    uint8_t now;     /* depth of this stretch */
    uint8_t tested;  /* depth of measured stretches */
    uint8_t proven;  /* depth of the others: tested, once that has stood the test */
    uint8_t first;   /* the deepest there is */
    uint8_t gross;   /* points of pairs in a row that were much slower */
    bool measures;   /* this stretch is measured */
    bool suspicious; /* the last pair asks for another one */
    bool brief;      /* calls that sleep are over so soon that they linger first */
    uint32_t pairs;  /* measured */
    uint64_t calls;  /* made */
    double bound;    /* of the logarithm */
    uint64_t begin_ns, end_ns, end_cpu_ns, end_uj; /* at the first call, at the last look; end_uj 0:
                                                      unknown */
    uint64_t end_call;                             /* number of the call before which that was */
    uint64_t late_ns;                              /* since then, by sleeps: at most; saturates */
    uint64_t part_ns[2], part_cpu_ns[2];           /* of this pair: saving, reference */
    uint64_t part_uj[2];                           /* 0: unknown */
    pwr_audit_samples_t time, cpu, energy;         /* at the depth under test */
    double trial_ns;                               /* lost so far by the depth under test */
    double given_up_ns;                            /* the last one given up will, if tried again */
    double lost_ns;                                /* by all that were given up */
    uint32_t changes;
    pwr_audit_change_t last;
} pwr_audit_t;

/* CLOCK_MONOTONIC, the process's CPU time and the node's energy, so that tests can have others. */
typedef struct pwr_audit_clock {
    uint64_t (*now_ns)(void *arg);
    uint64_t (*cpu_ns)(void *arg);
    uint64_t (*energy_uj)(void *arg); /* 0: not known now; NULL: never.  Asked only where stretches
                                         last PWR_AUDIT_ENERGY_LEAST_NS */
    void *arg;
} pwr_audit_clock_t;

/* max_slowdown: 0.01 is 1 %, above 0.  deepest: LEVERS or LADDER.  start: what is probably right,
   not above deepest; what is deeper is tried later.  seed: the same on all ranks. */
void pwr_audit_init(pwr_audit_t *audit, const pwr_audit_clock_t *clock, double max_slowdown,
                    pwr_audit_depth_t deepest, pwr_audit_depth_t start, uint64_t seed);
/* The same as start, before any stretch was measured; not deeper than deepest. */
void pwr_audit_start(pwr_audit_t *audit, pwr_audit_depth_t start);
/* The calls have come to do something else, for example by another algorithm: what was measured
   does not count. */
void pwr_audit_forget(pwr_audit_t *audit);

void pwr_audit_jump(pwr_audit_t *audit, uint64_t call);
/* Before a call: it has this number.  For callers who count calls better than the audit does. */
static inline void pwr_audit_at(pwr_audit_t *audit, uint64_t call)
{
    if (audit->at.call != call) {
        pwr_audit_jump(audit, call);
    }
}

/* Before a call: how deep it may go. */
static inline pwr_audit_depth_t pwr_audit_depth(const pwr_audit_t *audit)
{
    return (pwr_audit_depth_t)audit->now;
}

/* In a call, sleeps may have made it later by so much at most.  Where all of them together cannot
   reach the bound, reference stretches are rare. */
enum { PWR_AUDIT_LATE_UNKNOWN_NS = UINT32_MAX };
static inline void pwr_audit_late(pwr_audit_t *audit, uint64_t ns)
{
    audit->late_ns += ns;
}

void pwr_audit_end_stretch(pwr_audit_t *audit, const pwr_audit_clock_t *clock);
/* After the call.  Reads no clock but around stretches that are measured.  Returns whether the rank
   changed its mind: see audit->last. */
static inline bool pwr_audit_call_over(pwr_audit_t *audit, const pwr_audit_clock_t *clock)
{
    uint32_t changes = audit->changes;
    audit->calls++;
    if (pwr_schedule_next(&audit->at)) {
        pwr_audit_end_stretch(audit, clock);
    }
    return changes != audit->changes;
}

/* After a call: so many calls to come need not be told one by one, as long as their sleeps are. The
   next one is the last before a pair. */
uint32_t pwr_audit_quiet(const pwr_audit_t *audit);
/* Before a call: so many of those were made. */
static inline void pwr_audit_skip(pwr_audit_t *audit, uint32_t calls)
{
    audit->calls += calls;
    pwr_schedule_skip(&audit->at, calls);
}

typedef struct pwr_audit_result {
    uint64_t calls;
    uint32_t pairs;                /* measured so far, at all depths */
    pwr_audit_depth_t depth;       /* between pairs */
    double samples;                /* behind the figures that follow: at the depth under test */
    pwr_audit_estimate_t slowdown; /* time of the application, saving against not */
    pwr_audit_estimate_t cpu;      /* CPU time of this process, the same */
    double energy_samples;
    pwr_audit_estimate_t energy; /* of the node, the same */
    uint32_t changes;
    pwr_audit_change_t last;
} pwr_audit_result_t;

pwr_audit_result_t pwr_audit_result(const pwr_audit_t *audit);
/* "levers", "ladder", "linger", "poll" */
const char *pwr_audit_depth_name(pwr_audit_depth_t depth);

#endif
