/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The parts of poweraware-calibrate: where it runs, how series of times are summed up, and one
 * measurement per file.
 */
#ifndef PWR_CALIBRATE_H
#define PWR_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/policy.h"
#include "pwr/power.h"
#include "pwr/wait.h"
#include "topo/cpulist.h"

enum { CALIBRATE_MIN_SAMPLES = 5 };

/* How thorough: a series ends at its number of samples or its time, whichever comes first. */
typedef struct calibrate_plan {
    unsigned samples;
    uint64_t series_ns;
    unsigned lever_rounds;
    uint64_t settle_window_ns; /* how long to watch after a lever was moved */
    unsigned power_windows;
    uint64_t power_window_ns;
} calibrate_plan_t;

/* ---- calibrate/place.c ---- */

typedef struct calibrate_place {
    unsigned cpu;         /* where the waiter runs */
    int other_cpu;        /* on another core, of the same package if possible; -1: there is none */
    pwr_cpuset_t package; /* the CPUs of its package that this process may run on */
} calibrate_place_t;

/* Binds the calling thread to one core of those it may run on: that of CPU wanted, or with -1 of
   the last one, which has fewer interrupts than the first.  Levers then reach whole cores,
   whichever rule siblings follow.  On failure a line is on stderr. */
bool calibrate_settle_down(const pwr_env_t *env, int wanted, calibrate_place_t *place);

/* ---- calibrate/series.c ---- */

typedef struct calibrate_series {
    uint64_t *values;
    unsigned count;
    unsigned capacity;
} calibrate_series_t;

bool calibrate_series_init(calibrate_series_t *series, unsigned capacity);
void calibrate_series_free(calibrate_series_t *series);
/* Dropped when the series is full. */
void calibrate_series_add(calibrate_series_t *series, uint64_t value);
/* Middle value (the lower of two) and interquartile range, nearest rank; sorts the series.  0 for
   an empty one. */
uint64_t calibrate_series_median(calibrate_series_t *series);
uint64_t calibrate_series_spread(calibrate_series_t *series);
/* As many samples as both have; the rest of the row is not known. */
pwr_policy_row_t calibrate_series_row(calibrate_series_t *entry, calibrate_series_t *exit);

/* ---- calibrate/settle.c ---- */

/* A piece of arithmetic of always the same length. */
typedef struct calibrate_block {
    uint64_t begin_ns;
    uint64_t took_ns;
} calibrate_block_t;

/* Median time of blocks; scratch must have room for count values. */
uint64_t calibrate_level(const calibrate_block_t *blocks, unsigned count,
                         calibrate_series_t *scratch);
/* blocks[count] followed upon a lever that was moved at moved_ns; before it a block took before ns.
   True, and how long the old speed lasted, when the speed of the last quarter is another one and
   three blocks in a row show where it began; false when nothing happened that noise could not do.
 */
bool calibrate_settling(const calibrate_block_t *blocks, unsigned count, uint64_t before,
                        uint64_t moved_ns, calibrate_series_t *scratch, uint64_t *settle_ns);

/* ---- the measurements; a row that cannot be had stays absent, with a line in why ---- */

/* calibrate/rungs.c: entry and exit of one wait rung. */
void calibrate_rung(const calibrate_plan_t *plan, const calibrate_place_t *place,
                    pwr_policy_row_id_t id, char *why, unsigned why_size, pwr_policy_row_t *row);
/* How the library's ladder stays on a rung that is one of it. */
pwr_wait_policy_t calibrate_rung_policy(pwr_policy_row_id_t id);

/* calibrate/levers.c: the calls and the settling of one lever; restored on return.  Of a lever of
   packages the settling is seen in the latency of the shared cache. */
void calibrate_lever(const calibrate_plan_t *plan, pwr_power_t *power, pwr_lever_id_t lever,
                     char *why, unsigned why_size, pwr_policy_row_t *row);

/* calibrate/watts.c */
typedef struct calibrate_watts calibrate_watts_t;
/* A meter that measures the package of this core; NULL and a line in why without one. */
calibrate_watts_t *calibrate_watts_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                                        unsigned why_size);
const char *calibrate_watts_backend(const calibrate_watts_t *watts);
/* Whether id is a state of its own that can be held. */
bool calibrate_watts_knows(pwr_policy_row_id_t id);
/* Power of the package while this core is in the state; PWR_POLICY_W_UNKNOWN when reading fails.
   power: with the lever, if id is one. */
double calibrate_watts_measure(calibrate_watts_t *watts, const calibrate_plan_t *plan,
                               pwr_power_t *power, pwr_policy_row_id_t id);
void calibrate_watts_close(calibrate_watts_t *watts);

#endif
