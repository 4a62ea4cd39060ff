/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Waiting for messages with the CPU given back: the wait ladder (pwr/wait.h) over opal_progress.
 *
 * With pml ob1 the sockets of btl tcp are in one event loop, which opal_progress only looks at. Who
 * blocks in it is woken by whatever comes through a socket, and by shared memory if all processes
 * of the node ring (doorbell.h); not where another transport or another thread does the work.  A
 * wait that nothing wakes for certain sleeps for a bounded part of its time.
 */
#ifndef PWR_OMPI_IDLE_H
#define PWR_OMPI_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/history.h"
#include "pwr/wait.h"
#include "pwr_ompi/doorbell.h"

struct ompi_communicator_t;
struct ompi_request_t;

/* Whether the user, or Open MPI by itself, told ranks to yield because they share CPUs
   (mpi_yield_when_idle).  Known when MPI_Init has returned. */
bool pwr_idle_is_crowded(void);

/* Whether messages of collectives to and from this rank of comm wake a sleeper: all of them go
   through sockets of the event loop or ring, and no other thread may be in it (no
   MPI_THREAD_MULTIPLE).  Answers for what is known now: false before the first message. */
bool pwr_idle_is_woken_by(struct ompi_communicator_t *comm, int peer);
/* The same for all messages of this process, or for those of collectives. */
bool pwr_idle_is_woken(bool collectives);
/* The same for what comes through btls, whatever pml and threads there are. */
bool pwr_idle_btls_wake(bool collectives);

/* Waits until over(arg), which only messages of this process bring about, or calls of a group, after
   which they let others go on (NULL: nobody's).  woken: each of them wakes this process.  policy,
   stats and result as in pwr_wait_until. */
pwr_status_t pwr_idle_wait(bool (*over)(void *arg), void *arg, bool woken,
                           const pwr_doorbell_group_t *group, const pwr_wait_policy_t *policy,
                           pwr_wait_stats_t *stats);

/* ---- blocking calls of MPI ----

   Everything that waits through the tables of functions of Open MPI's requests and of its pml waits
   by the ladder: MPI_Wait*, MPI_Recv, MPI_Send, MPI_Probe, stock collectives. */

/* In stock collectives (coll_poweraware_idle collectives): between enter and leave. */
void pwr_idle_within_start(void);
/* Everywhere (all).  From 5.0 on, all other blocking calls (files) too, through the function by
   which opal_progress yields.  On 4.1 those poll as ever.  policy is copied; waits that
   are of no operation are added to stats. */
void pwr_idle_everywhere_start(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats);
/* Each of them after the pml was selected, one of them once per process.  Puts back what was there.
 */
void pwr_idle_stop(void);

/* Around a wait for something else than messages that gives the CPU back and makes progress: that
   does not sleep then.  Returns what was before. */
bool pwr_idle_by_itself(bool waits);
/* Around a call that looks and does not wait, though it makes progress.  Returns what was before.
 */
bool pwr_idle_only_looks(bool looks);

/* The rank in comm that a request which is not over sends to or receives from; false where that is
   not known (another pml than ob1, any source, none of comm). */
bool pwr_idle_peer_of(const struct ompi_request_t *request, struct ompi_communicator_t *comm,
                      int *rank, bool *receives);

/* What a stock collective waits for.  requests[num_requests]: it is over with some of these. */
typedef struct pwr_idle_awaited {
    bool (*over)(void *arg);
    void *arg;
    bool woken; /* see pwr_idle_wait */
    struct ompi_request_t **requests;
    size_t num_requests;
} pwr_idle_awaited_t;

/* A stock collective, valid until it is left. */
typedef struct pwr_idle_within pwr_idle_within_t;
struct pwr_idle_within {
    bool crowded; /* its ranks share CPUs */
    /* Returns when it is over. */
    void (*wait)(pwr_idle_within_t *within, const pwr_idle_awaited_t *awaited);
};

/* This thread begins one.  Returns what leave needs, to be called when it ends.  May be nested; of
   no effect before one of the starts. */
pwr_idle_within_t *pwr_idle_enter(pwr_idle_within_t *within);
void pwr_idle_leave(pwr_idle_within_t *outer);

/* ---- calls that loop over opal_progress ----

   Calls of windows and of OpenSHMEM wait without a request: they look at memory that messages or calls of other
   processes change, and call opal_progress, again and again (idle_loop.c). */

/* What ends such waits. */
typedef struct pwr_idle_ends {
    pwr_doorbell_group_t group; /* calls of these processes, after which they let others go on */
    bool messages;              /* and messages of this process, ... */
    bool unheard;               /* ... by a library that does not wake it */
} pwr_idle_ends_t;

typedef struct pwr_idle_loop pwr_idle_loop_t;
struct pwr_idle_loop {
    pwr_idle_loop_t *outer;
    struct pwr_operation *operation;
    const pwr_idle_ends_t *ends;
    pwr_history_t *site; /* of calls like this one; NULL: nothing is known of them */
    uint64_t begun_ns;   /* the first look at the clock; 0: none yet */
    unsigned looks;      /* until the clock is worth one, or since it was announced to sleep */
    bool yields;         /* in each pass */
    bool fresh;          /* no look was due yet */
    bool moved;          /* something has, since the last look that was due */
    bool asks;           /* where others are asked by messages: what moves are answers */
    /* It has lasted so long that the user is told; may be NULL. */
    void (*expired)(pwr_idle_loop_t *loop, uint64_t lasted_ns);
    /* Valid once it has begun: */
    bool woken;       /* what ends it wakes this process */
    bool announced;   /* that it is about to sleep */
    unsigned answers; /* since then */
    pwr_wait_policy_t policy;
    pwr_wait_stats_t stats;
    uint64_t moved_ns;       /* when something moved last */
    uint32_t spin_ns;        /* before the next sleep */
    uint64_t next_ns;        /* length of the next sleep */
    uint64_t expected_ns;    /* of the whole wait; 0: not known */
    uint64_t next_low_ns;    /* when it has lasted so long, it may be worth to move levers */
    uint64_t rests_until_ns; /* it has an answer, and asks again then; 0: no */
    uint64_t heard;          /* rings, before a sleep */
    uint64_t events;         /* of the doorbell, at the last look */
    uint64_t expires_ns;     /* so long after it has begun; 0: never, or it has */
};

/* Before anything that ends such calls is registered with opal_progress: in the open hook of a
   component.  Each start is stopped once. */
void pwr_idle_loops_start(void);
void pwr_idle_loops_stop(void);
/* From now on there are windows whose messages do not wake this process. */
void pwr_idle_loops_unheard(void);
/* This thread begins such a call; ends stays where it is.  operation: it is one, which may move
   levers in waits, and idles or polls; NULL: it idles.  site, expected_ns: see the members. */
void pwr_idle_loop_enter(pwr_idle_loop_t *loop, struct pwr_operation *operation,
                         const pwr_idle_ends_t *ends, pwr_history_t *site, uint64_t expected_ns);
void pwr_idle_loop_leave(pwr_idle_loop_t *loop);
/* Its stats are valid: it took longer than some looks. */
static inline bool pwr_idle_loop_waited(const pwr_idle_loop_t *loop)
{
    return 0 != loop->begun_ns;
}

#endif
