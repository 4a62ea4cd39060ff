/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits that lasted too long (coll_poweraware_hang_report): looking out for them, and who had not
 * arrived (private to ompi/operation).
 */
#ifndef PWR_OMPI_OPERATION_HANG_H
#define PWR_OMPI_OPERATION_HANG_H

#include "pwr_ompi/operation.h"

/* Sorts of ranks that somebody waits for. */
typedef enum pwr_hang_sort {
    /* of this node: */
    PWR_HANG_ABSENT,    /* have not called it */
    PWR_HANG_BEHIND,    /* are in a call before it */
    PWR_HANG_ELSEWHERE, /* have called another collective in its place */
    PWR_HANG_WORKING,   /* have called it and do not wait */
    /* of any node, but those who are absent, behind or elsewhere: */
    PWR_HANG_SENDERS,   /* whose messages have not come */
    PWR_HANG_RECEIVERS, /* who have not taken theirs */
    PWR_HANG_TARGETS,   /* of a call of a window */
    PWR_HANG_SORTS
} pwr_hang_sort_t;

/* Ranks of the communicator; the first ones of many. */
enum { PWR_HANG_NAMED = 8 };
typedef struct pwr_hang_ranks {
    int num;
    int rank[PWR_HANG_NAMED];
    int pid[PWR_HANG_NAMED]; /* of this node's */
} pwr_hang_ranks_t;

/* What a wait that has lasted too long was waiting for, as far as its rank could tell. */
typedef struct pwr_hang {
    unsigned operation; /* its number (process.h) */
    int elsewhere;      /* that of the first rank that is elsewhere; negative: not known */
    unsigned cid;
    char comm[MPI_MAX_OBJECT_NAME];
    uint64_t waited_ns;
    bool knows_node; /* positions of several ranks of this node are known */
    pwr_hang_ranks_t ranks[PWR_HANG_SORTS];
} pwr_hang_t;

/* Those of this process so far; returns their number, *kept points to the first ones of them. */
enum { PWR_HANGS_KEPT = 16 };
int pwr_hangs(const pwr_hang_t **kept);

/* One wait: by policy, which gives up when the wait has lasted too long.  Then expired, and wait
   again by policy; when it is over at last, end. */
typedef struct pwr_hang_watch {
    pwr_operation_t *operation;
    const pwr_awaited_t *awaited;
    const pwr_wait_policy_t *policy; /* changes */
    uint64_t began_ns;               /* 0: not known yet */
    int limits;                      /* that were reached */
    pwr_hang_t *kept;                /* NULL: there is no record of it */
    pwr_wait_policy_t deepest;
} pwr_hang_watch_t;

static inline void pwr_hang_watch_begin(pwr_hang_watch_t *watch, pwr_operation_t *operation,
                                        const pwr_awaited_t *awaited,
                                        const pwr_wait_policy_t *policy)
{
    watch->operation = operation;
    watch->awaited = awaited;
    watch->policy = policy;
    watch->began_ns = 0;
    watch->limits = 0;
}
/* The wait was given up once more, after lasted_ns at least. */
void pwr_hang_watch_expired(pwr_hang_watch_t *watch, uint64_t lasted_ns);
void pwr_hang_watch_forget(pwr_hang_watch_t *watch);
static inline void pwr_hang_watch_end(pwr_hang_watch_t *watch)
{
    if (0 != watch->limits) {
        pwr_hang_watch_forget(watch);
    }
}

/* hang_text.c: one line to the user. */
void pwr_hang_say(int level, const pwr_hang_t *hang, int my_rank, bool sleeps);
/* Whether it names somebody but those who work. */
bool pwr_hang_tells(const pwr_hang_t *hang);

#endif
