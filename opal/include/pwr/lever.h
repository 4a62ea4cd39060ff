/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Levers: what we can move to make CPUs that are ours draw less.
 *
 * Each is a const descriptor (opal/lever/<name>.c) in one array (opal/lever/lever.c).  Who reports
 * levers goes through that array and names none.
 */
#ifndef PWR_LEVER_H
#define PWR_LEVER_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/env.h"
#include "pwr/guard.h"
#include "pwr/topo.h"

typedef enum pwr_lever_id {
    PWR_LEVER_PSTATE, /* frequency of cores (ICPP 2010: DVFS between f_min and f_max) */
    PWR_LEVER_TSTATE, /* duty cycle of cores (ICPP 2010: T0 .. T7) */
    PWR_LEVER_UNCORE, /* frequency of mesh, cache and memory controllers of packages */
    PWR_NUM_LEVERS
} pwr_lever_id_t;

/* What one control of it acts on. */
typedef enum pwr_scope { PWR_SCOPE_CPU, PWR_SCOPE_PACKAGE } pwr_scope_t;

/* By which pair of verbs it is moved (pwr/power.h). */
typedef enum pwr_lever_verb { PWR_VERB_LOW, PWR_VERB_THROTTLE } pwr_lever_verb_t;

struct pwr_lever_request; /* private to opal/lever, as what points there */
struct pwr_lever_backend;

typedef struct pwr_lever_type {
    const char *name;  /* "pstate": in files; never changes its meaning */
    const char *title; /* "P-states": for people */
    pwr_scope_t scope;
    pwr_lever_verb_t verb;
    const char *unit;       /* of its values */
    uint32_t step;          /* values are multiples of it */
    uint32_t full;          /* the highest value; 0: whatever is found */
    const char *shown_unit; /* for people, of which a value's unit is ... */
    double shown_per_unit;
    bool needs_length; /* moves only in phases of which the length is expected */
    double power_left; /* of what a core that computes draws, at its lowest (pwr/ledger.h) */
    const struct pwr_lever_backend *backends; /* in the order in which they are tried */
    unsigned num_backends;
    /* Asked by pwr_lever_open: SHARED, with a reason in request->held.why, where moving it would
     * slow down others; NULL: never. */
    pwr_status_t (*check)(const struct pwr_lever_request *request);
} pwr_lever_type_t;

const pwr_lever_type_t *pwr_lever_type(pwr_lever_id_t id);
const char *pwr_scope_text(pwr_scope_t scope); /* "cpu", "package" */

/* ---- what it came to ---- */

typedef struct pwr_lever_counts {
    uint64_t writes;  /* transitions that reached the hardware */
    uint64_t held_ns; /* lowered, up to the last transition */
    uint64_t skipped; /* phases in which it was not lowered: it was off, or they were too short */
    uint64_t errors;  /* failed writes; the lever is then given up */
    uint64_t adopted; /* new values that somebody else set between our uses, and we kept to */
    uint64_t yielded; /* left to somebody else who wrote over a value of ours */
} pwr_lever_counts_t;

/* Of one process, or of several: numbers are sums, texts the first one's. */
typedef struct pwr_lever_use {
    pwr_lever_counts_t counts;
    char backend[32];  /* "": off */
    char why_off[160]; /* "": it is on, or nobody asked for it */
} pwr_lever_use_t;

/* more may be wrong, even its texts. */
void pwr_lever_use_add(pwr_lever_use_t *sum, const pwr_lever_use_t *more);
/* One reason for all. */
void pwr_lever_why_off(pwr_lever_use_t uses[PWR_NUM_LEVERS], const char *reason);
/* Whether its texts are texts. */
bool pwr_lever_use_is_sound(const pwr_lever_use_t *use);

/* ---- an open lever ---- */

typedef struct pwr_lever pwr_lever_t;

/* Opens the first back end that works on all of topo's own CPUs: proven by writing back what was
   read.  Descriptors stay open.  Originals are handed to guard first.
   Errors: UNSUPPORTED (no such hardware), PERM (there, but not for us), SHARED (it would act on
   CPUs of ours and of others), PARSE, RANGE, IO (what a file says or answers), NOMEM; why[why_size]
   then holds one line that says what is missing and what grants it.  How other writers are
   respected: opal/control/held.h. */
pwr_status_t pwr_lever_open(pwr_lever_id_t id, const pwr_env_t *env, const pwr_topo_t *topo,
                            pwr_guard_t *guard, char *why, unsigned why_size, pwr_lever_t **lever);
/* For those who want to know about all back ends, in the order in which pwr_lever_open tries them:
   the name of one, NULL behind the last, and an attempt at that one alone (RANGE: there is none).
   guard may be NULL: that only looks, opening for writing and reading but writing nothing; _set
   then returns PWR_ERR_ARG. */
const char *pwr_lever_backend_name(pwr_lever_id_t id, unsigned nth);
pwr_status_t pwr_lever_open_nth(pwr_lever_id_t id, const pwr_env_t *env, const pwr_topo_t *topo,
                                pwr_guard_t *guard, unsigned nth, char *why, unsigned why_size,
                                pwr_lever_t **lever);
const char *pwr_lever_backend(const pwr_lever_t *lever);
uint32_t pwr_lever_lowest(const pwr_lever_t *lever); /* lowest value that the hardware offers */
uint32_t pwr_lever_full(const pwr_lever_t *lever);   /* its type's, or what was found at open */
/* Lowers every own CPU to value, or (RANGE) refuses what is no multiple of the step between lowest
   and full.  A CPU whose own range is narrower goes as far as that; none goes above what it was
   found at.  After an error some CPUs may have changed: restore.  FOREIGN: somebody else moved one
   while it was lowered; GONE: a CPU went offline.  A lever of packages that other processes share
   is lowered when the last of them sets it, and restored when the first restores it. */
pwr_status_t pwr_lever_set(pwr_lever_t *lever, uint32_t value);
/* Puts back what was found, as far as possible: all CPUs are tried, the first failure is returned.
   FOREIGN: somebody else's value was found on one, and left there.  Writes nothing when nothing was
   set. */
pwr_status_t pwr_lever_restore(pwr_lever_t *lever);
/* Whether nothing of ours is left to put back after that. */
static inline bool pwr_lever_is_settled(pwr_status_t restored)
{
    return restored == PWR_OK || restored == PWR_ERR_FOREIGN;
}
/* Sets writes, held_ns and adopted: of this lever so far. */
void pwr_lever_count(const pwr_lever_t *lever, pwr_lever_counts_t *counts);
/* Restores if needed. NULL is allowed. */
void pwr_lever_close(pwr_lever_t *lever);

#endif
