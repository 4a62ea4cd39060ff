/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The processes of a job on this node, as their pages and the kernel know them.
 */
#ifndef PWR_RECORD_NODE_H
#define PWR_RECORD_NODE_H

#include "record/page.h"
#include "tools/record/about.h"
#include "tools/record/energy.h"

typedef struct member {
    pwr_mapped_page_t mapped;
    uint64_t cpu_ns;  /* as the kernel told last, ... */
    uint64_t seen_ns; /* ... at this time (pwr_now_ns); 0: never */
} member_t;

typedef struct node {
    const about_t *about;
    pwr_rundir_t *rundir;
    member_t *members; /* by their number in the job, whoever has been found */
    unsigned num_members;
} node_t;

/* about outlives node.  Errors: as pwr_rundir_open. */
pwr_status_t node_open(node_t *node, const pwr_env_t *env, const about_t *about);
/* With the pages of whoever is dead. */
void node_close(node_t *node);

/* Looks for processes that are new, and how much CPU time each has used. */
void node_look(node_t *node);
/* Tells them what the node has used. */
void node_tell(const node_t *node, const energy_t *energy);
/* Lets them see that somebody looks at them. */
void node_beat(const node_t *node);
/* Whether all that have been found have finished or are dead. */
bool node_is_over(const node_t *node);
bool node_is_dead(const node_t *node);

/* The ledger of the node as it is now; NULL without memory. */
pwr_ledger_t *node_ledger(const node_t *node, const energy_t *energy);

#endif
