/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How long a phase must last, at least, so that lowering a lever in it saves energy:
 *
 *   entry + its settling + (entry + exit + its settling) * full / (full - low)
 *
 * While it is lowered and obeys, full - low watts are saved; before that nothing is.  The two calls
 * and the time in which the hardware is still slow behind the phase make the job last longer, at
 * full watts: so long must the saving last until it has paid for that.
 *
 * What the calls take is that of the table at first (pwr/policy.h), then what is seen: a daemon,
 * firmware or crowded CPUs make them a hundred times as long.
 */
#ifndef PWR_BREAK_EVEN_H
#define PWR_BREAK_EVEN_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pwr_lever_call {
    PWR_LEVER_ENTRY,
    PWR_LEVER_EXIT,
    PWR_NUM_LEVER_CALLS
} pwr_lever_call_t;

/* All zero: nothing is known, and every phase is long enough. */
typedef struct pwr_break_even {
    double price;       /* full / (full - low); negative: nothing is saved */
    double settling_ns; /* entry settling + exit settling * price */
    double seen_ns[PWR_NUM_LEVER_CALLS];
    uint64_t ns; /* the length, by what is seen; PWR_BREAK_EVEN_NEVER: none is long enough */
    uint64_t by_table_ns;
    double skipped_ns; /* in phases that were too short, since the last call */
} pwr_break_even_t;
#define PWR_BREAK_EVEN_NEVER UINT64_MAX

pwr_break_even_t pwr_break_even(double price, double settling_ns, double entry_ns, double exit_ns);

/* Whether a phase that is expected to last so long is long enough.  Now and then one that is by the
   table alone: a lever whose calls were slow once would stay up for the rest of the job.  That
   takes at most 1 / PWR_BREAK_EVEN_TRIES of the time of the phases that are skipped, unless calls
   get slower still. */
enum { PWR_BREAK_EVEN_TRIES = 100 };
bool pwr_break_even_pays(pwr_break_even_t *b, uint64_t expected_ns);

/* A call took so long.  What is seen follows longer ones faster than shorter ones: a collective
   waits for the rank whose call takes longest.  And it grows to at most 16 times of what it was: a
   process may lose its CPU in a call. */
void pwr_break_even_saw(pwr_break_even_t *b, pwr_lever_call_t call, uint64_t ns);

#endif
