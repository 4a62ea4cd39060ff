/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Is another process bound onto the CPUs that our levers reach?
 *
 * Claims (claim.h) tell ranks of one user from each other; this finds everybody else: other users'
 * processes, and those that know nothing of poweraware.
 */
#ifndef PWR_NEIGHBOURS_H
#define PWR_NEIGHBOURS_H

#include <stdbool.h>

#include "pwr/env.h"
#include "pwr/topo.h"

/* Why the answer may not be the whole truth; none of these is an error. */
enum {
    /* /proc hides or locks other users' processes (mount options hidepid=1, 2 or ptraceable). */
    PWR_UNSEEN_HIDDEN = 1,
    /* We are in a container: processes outside of it are invisible. */
    PWR_UNSEEN_OUTSIDE = 2,
    /* /proc and the topology disagree about our own binding, because affinities are emulated or
       changed this moment: nobody was judged. */
    PWR_UNSEEN_BINDING = 4,
};

typedef struct pwr_neighbours {
    unsigned judged; /* user processes whose masks were compared */
    unsigned unseen; /* PWR_UNSEEN_* */
    bool found;      /* a competitor; the rest describes the first one */
    unsigned pid;
    unsigned uid;
    unsigned cpu;  /* one of ours, or an SMT sibling of one */
    char name[32]; /* printable */
} pwr_neighbours_t;

/* Looks at /proc/<pid>/status of every process once; stops at the first competitor.

   A competitor is a user process whose affinity mask has a CPU that ours reach, without being as
   wide as our job.  How wide that is shows our closest ancestor that may run on more CPUs than we
   may: the launcher, or the shell if there is no launcher; but no wider than our cgroup's cpuset.
   Processes that may run everywhere there (launchers, shells, daemons) are not bound and get out of
   the way.  Never competitors: this process, its ancestors and descendants (a helper that was
   reparented is none), kernel threads, zombies.  CPUs that the topology does not have (offline, not
   there) count for nobody.

   The mask is that of a process's main thread: other threads, bound on their own, are not seen.  Of
   our own process it is the calling thread's.

   Costs about as much as ps: for open time, not for the fast path.  Errors: UNSUPPORTED (no
   /proc), PARSE, RANGE, IO, NOMEM; then nobody knows, and levers had better stay off. */
pwr_status_t pwr_neighbours_scan(const pwr_env_t *env, const pwr_topo_t *topo,
                                 pwr_neighbours_t *result);

/* One line for messages into text[size]: the competitor, or why not all could be seen, or "". */
void pwr_neighbours_describe(const pwr_neighbours_t *result, char *text, unsigned size);

#endif
