/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waits that last too long (coll_poweraware_hang_report): who has not arrived.
 */
#ifndef COLL_POWERAWARE_HANG_H
#define COLL_POWERAWARE_HANG_H

#include "coll_poweraware_words.h"

/* Ranks of the communicator; the first ones of many. */
enum { COLL_POWERAWARE_NAMED = 8 };
typedef struct coll_poweraware_ranks {
    int num;
    int rank[COLL_POWERAWARE_NAMED];
    int pid[COLL_POWERAWARE_NAMED]; /* of this node's */
} coll_poweraware_ranks_t;

/* What a wait that has lasted too long was waiting for, as far as its rank could tell. */
typedef struct coll_poweraware_hang {
    int what; /* coll_poweraware_what_name */
    unsigned cid;
    char comm[MPI_MAX_OBJECT_NAME];
    uint64_t waited_ns;
    /* of this node: */
    coll_poweraware_ranks_t absent;    /* have not called it */
    coll_poweraware_ranks_t behind;    /* are in a call before it */
    coll_poweraware_ranks_t elsewhere; /* have called another collective in its place */
    coll_poweraware_ranks_t working;   /* have called it and do not wait */
    /* of any node, but those who are absent, behind or elsewhere: */
    coll_poweraware_ranks_t senders;   /* whose messages have not come */
    coll_poweraware_ranks_t receivers; /* who have not taken theirs */
} coll_poweraware_hang_t;

/* One wait: of whatever waits by policy and gives up when that says so.  Then lose, and wait again
   by policy; when it is over at last, end. */
typedef struct coll_poweraware_patience {
    mca_coll_poweraware_module_t *module;
    const coll_poweraware_call_t *messages; /* those of its lane are waited for; NULL: none */
    ompi_request_t **requests;              /* [num_requests], some of these, of a stock function */
    size_t num_requests;
    const pwr_wait_policy_t *policy; /* changes */
    uint64_t began_ns;               /* 0: not known yet */
    int limits;                      /* that were reached */
    coll_poweraware_hang_t *hang;    /* NULL: there is no record of it */
    pwr_wait_policy_t deepest;
} coll_poweraware_patience_t;

static inline void coll_poweraware_patience_begin(coll_poweraware_patience_t *patience,
                                                  mca_coll_poweraware_module_t *module,
                                                  const pwr_wait_policy_t *policy,
                                                  const coll_poweraware_call_t *messages)
{
    patience->module = module;
    patience->messages = messages;
    patience->num_requests = 0;
    patience->policy = policy;
    patience->began_ns = 0;
    patience->limits = 0;
}
/* It has been given up once more, after lasted_ns at least. */
void coll_poweraware_patience_lose(coll_poweraware_patience_t *patience, uint64_t lasted_ns);
void coll_poweraware_patience_forget(coll_poweraware_patience_t *patience);
static inline void coll_poweraware_patience_end(coll_poweraware_patience_t *patience)
{
    if (0 != patience->limits) {
        coll_poweraware_patience_forget(patience);
    }
}

/* How long a wait lasts before it is given up, 0: for ever. */
uint64_t coll_poweraware_patience_ns(void);

/* Those of this process so far; returns their number, *kept points to the first ones of them. */
enum { COLL_POWERAWARE_HANGS_KEPT = 16 };
int coll_poweraware_hangs(const coll_poweraware_hang_t **kept);

#endif
