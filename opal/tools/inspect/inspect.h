/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The parts of poweraware-inspect: each gathers a part of the report, as JSON.
 *
 * What follows from the report (what a process would save by, what grants the rest) is not its
 * matter: poweraware/info adds that.  poweraware-info.schema.json describes both.
 */
#ifndef PWR_INSPECT_H
#define PWR_INSPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "pwr/env.h"
#include "pwr/guard.h"
#include "pwr/lever.h"
#include "pwr/topo.h"

enum { INSPECT_REASON_BYTES = 1024 };

typedef struct inspect_request {
    pwr_env_t env;
    const char *cpus;          /* bind to these first; NULL: stay as we are */
    const char *run_directory; /* NULL: the default */
    bool probe;                /* false: write nothing, anywhere */
} inspect_request_t;

/* inspect/gather.c: the whole report.  Errors: those of the topology, and ARG for a list of CPUs
   that cannot be bound to; said on standard error. */
pwr_status_t inspect_gather(const inspect_request_t *request, json_t **report);

/* inspect/machine.c: what machine this is, and which poweraware. */
json_t *inspect_machine(const pwr_env_t *env, const pwr_topo_t *topo);
json_t *inspect_software(void);

/* inspect/discover.c: what libcpupower finds out. */
json_t *inspect_cpufreq(const pwr_env_t *env, unsigned cpu);

/* inspect/levers.c.  Without guard they only look.  used: a process gets what works.  What
   could not be restored and must be left to the guardian clears *settled. */
json_t *inspect_lever(const inspect_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                      bool used, pwr_lever_id_t id, bool *settled);

/* inspect/meters.c */
json_t *inspect_meters(const inspect_request_t *request, const pwr_topo_t *topo);

/* inspect/backends.c: the back ends of a lever or of the meter, in the order in which they are
   tried. */
typedef struct inspect_backends {
    json_t *rows;
    int best; /* the first that is not refused; -1: none */
} inspect_backends_t;
/* Enters the outcome of an attempt.  reason: of a refusal, may be empty.  state: of a success, if
   it is the first one, later: if it is not. */
json_t *inspect_backends_add(inspect_backends_t *backends, const char *name, pwr_status_t status,
                             const char *reason, const char *state, const char *later);

/* inspect/cost.c: what the software pays for a transition, or with no CPUs for a reading of all
   domains; how long the hardware takes to follow is not seen.  Times pairs of move(object, true)
   and move(object, false); ends at the first failure, which is then the result. */
typedef pwr_status_t (*inspect_move_t)(void *object, bool down);
json_t *inspect_cost(const pwr_env_t *env, inspect_move_t move, void *object, unsigned cpus);
/* Instead of what cannot be told. */
json_t *inspect_why_not(const char *why_not);
/* Quartiles of values[count] (nanoseconds; sorted on return) in microseconds. */
json_t *inspect_spread(uint64_t *values, unsigned count);

/* inspect/progress.c: says on standard error what takes so long, once it has taken five seconds. */
void inspect_progress_begin(void);
void inspect_progress_at(const char *what); /* must stay valid */
void inspect_progress_end(void);

#endif
