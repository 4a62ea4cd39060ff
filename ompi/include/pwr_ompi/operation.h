/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One operation of MPI that blocks: a collective, a window call.
 *
 * All components of ours bracket their operations with pwr_operation_begin and _end.  Between the
 * two, ranks wait as the operation's class allows, levers are low if it is large enough, and what
 * it took is accounted for.
 *
 * A stock function may call others.  On another communicator, or of another component, they are
 * operations with waits of their own; levers and account stay those of the outer one.  On the same
 * communicator a component must not be called back: see coll_poweraware/call.h.
 *
 *   1. begin    its class, its account
 *   2. start    how it is done is known: levers go down, waits begin to count
 *   3. wait     any number of times (by a stock function: through pwr_ompi/idle.h)
 *   4. end      levers come back, the class learns, the account is closed
 *
 * An operation belongs to one thread; operations of one pwr_operations_t come one after the other.
 */
#ifndef PWR_OMPI_OPERATION_H
#define PWR_OMPI_OPERATION_H

#include "pwr_ompi/compat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/account.h"
#include "pwr/audit.h"
#include "pwr/history.h"
#include "pwr/power.h"
#include "pwr/wait.h"
#include "pwr_ompi/hierarchy.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/owner_copy.h"
#include "pwr_ompi/positions.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/size_class.h"

/* What an operation waits for.  Each is known apart from the others, and in each the first wait of
   an operation from later ones: a peer that comes late keeps the first one waiting. */
typedef enum pwr_site {
    PWR_SITE_BOX_FREE,      /* nobody reads my box of an earlier round */
    PWR_SITE_BOX_JOINED,    /* all ranks of the node have filled theirs */
    PWR_SITE_BOX_POSTED,    /* one rank has filled the boxes of all */
    PWR_SITE_SLOT_FREE,     /* nobody reads an earlier chunk */
    PWR_SITE_SLOT_FILLED,   /* ranks of the node have filled it */
    PWR_SITE_SLOT_REDUCED,  /* ranks of the node have reduced their slices */
    PWR_SITE_SLOT_READY,    /* a leader is back from the network */
    PWR_SITE_TURN,          /* of my group, in an Alltoall */
    PWR_SITE_MESSAGES,      /* all of them */
    PWR_SITE_LANE_MESSAGES, /* those of one lane */
    PWR_SITES
} pwr_site_t;

/* Which algorithm a component has come to by experiments. */
typedef struct pwr_choice {
    const char *algorithm; /* NULL: there were none; "table": what a table says */
    unsigned trials;       /* that all ranks agreed on */
    unsigned told;         /* of earlier jobs, behind gain, too */
    unsigned take_overs;   /* of one algorithm by another */
    double gain;           /* time of its calls, and in those between them, over that with the next
                              best; 1: not known */
    uint64_t lost_ns;      /* in trials of slower ones, by all ranks */
} pwr_choice_t;

/* What this rank knows of the operations of one name and size (size_class.h): how long their waits
   last, and what saving in them costs. */
typedef struct pwr_class {
    pwr_history_t sites[PWR_SITES][2]; /* first wait of the operation, later ones */
    pwr_history_t length;              /* of operations that may move levers */
    pwr_audit_t audit;                 /* if audited */
    pwr_choice_t choice;
    pwr_account_cell_t *cell; /* NULL: none so far; of the latest operation, ... */
    int cell_algorithm;       /* ... which took this algorithm */
    bool known;
    bool audited;
} pwr_class_t;

/* When operations move levers. */
typedef enum pwr_lever_times {
    PWR_LEVERS_IN_CALLS, /* from start to end, if they move enough bytes */
    PWR_LEVERS_IN_WAITS, /* by how long a wait is expected to last */
    PWR_LEVERS_NEVER
} pwr_lever_times_t;

/* All operations on one communicator.  Zeroed memory, then pwr_operations_init. */
typedef struct pwr_operations {
    /* What each operation asks. */
    uint64_t calls;
    pwr_positions_t positions; /* of the node's ranks; none are known: of no rank */
    unsigned first;            /* the number of the first name (process.h) */
    bool idles;                /* stock functions wait by the ladder */

    struct ompi_communicator_t *comm;
    struct ompi_win_t *win;           /* NULL: not of a window */
    struct pwr_operations *next;      /* of this process, ... */
    struct pwr_operations **link;     /* ... and what points here */
    const pwr_scheme_t *scheme;       /* of the component */
    unsigned num_classed;             /* how many names from the first one on have classes */
    pwr_class_t **classes;            /* [num_classed], each NULL or [PWR_SIZE_CLASSES] */
    const pwr_hierarchy_t *hierarchy; /* NULL: not known */
    pwr_owner_copy_t *owner_copy;     /* served in waits; NULL: nobody can ask */
    pwr_doorbell_group_t group;       /* of comm, ... */
    bool group_known;                 /* ... if it was asked for */
    pwr_wait_stats_t waits;           /* of algorithms of ours */
    unsigned account_comm;
    bool account_comm_known;
    pwr_lever_times_t levers;
    bool spoke; /* this rank has said that an operation may be hung */
} pwr_operations_t;

/* scheme, and classes, [num_classed], zeroed: the caller's. */
void pwr_operations_init(pwr_operations_t *operations, struct ompi_communicator_t *comm,
                         const pwr_scheme_t *scheme, unsigned first, unsigned num_classed,
                         pwr_class_t **classes);
/* What is known is kept for the report, as far as there is room. */
void pwr_operations_end(pwr_operations_t *operations);

/* What the call of an operation is accounted for (account.c). */
typedef struct pwr_operation_start {
    uint64_t ticks;
    uint64_t cpu_ns; /* 0: not measured in this call */
    pwr_power_counters_t levers;
} pwr_operation_start_t;

typedef struct pwr_operation {
    /* What each operation has: two cache lines. */
    pwr_idle_within_t within; /* while a stock function waits; first, to be found from it */
    pwr_idle_within_t *outer;
    pwr_operations_t *of;
    pwr_class_t *class; /* NULL: none */
    size_t own_bytes;   /* that this rank moves */
    unsigned name;
    int algorithm;       /* a number of the process's, or PWR_ACCOUNT_NO_ALGORITHM */
    uint32_t sites_seen; /* a bit for each that was passed */
    bool stock;          /* a stock function makes it */
    bool nested;         /* within another one, as far as this thread knows */
    bool knows_sites;    /* what is known of them shortens waits; not of a stock function */
    bool may_end;        /* the communicator may end meanwhile (ULFM) */
    bool was_set_up;     /* something was, for it */
    bool levers;         /* this rank may move levers, ... */
    bool low;            /* ... and has, ... */
    bool has_policy;
    pwr_wait_stats_t waits;

    pwr_wait_policy_t policy;      /* of its waits; not known before the first one */
    uint64_t levers_ns;            /* since when levers are low */
    pwr_wait_stats_t set_up_waits; /* if something was set up, in stock functions meanwhile */
    pwr_operation_start_t start;
} pwr_operation_t;

/* 1.  name: a number of the process's; bytes: what all ranks know, or PWR_BYTES_UNKNOWN, own_bytes:
   what this rank moves. */
void pwr_operation_begin(pwr_operation_t *operation, pwr_operations_t *of, unsigned name,
                         size_t bytes, size_t own_bytes);
/* Between 1 and 2: around stock functions that set something up for it.  Ranks wait in them, too.
 */
void pwr_operation_set_up_begin(pwr_operation_t *operation);
void pwr_operation_set_up_end(pwr_operation_t *operation);
/* Between 1 and 2.  Its number among those of its class, for components whose ranks count them
   equally: then all ranks compare the same calls.  And: from now on, they are done otherwise than
   those measured so far. */
void pwr_operation_number(pwr_operation_t *operation, uint64_t number);
void pwr_operation_changes(pwr_operation_t *operation);
/* In the first of them: what is probably deep enough; what is deeper is tried later. */
void pwr_operation_starts(pwr_operation_t *operation, pwr_audit_depth_t start);
/* For reports, other communicators and later jobs. */
void pwr_operation_choice(const pwr_operation_t *operation, const pwr_choice_t *choice);
/* 2.  algorithm: a number of the process's, or PWR_ACCOUNT_NO_ALGORITHM for the stock function;
   stock: one of these makes the call, so its waits are found by who waits. */
void pwr_operation_start(pwr_operation_t *operation, int algorithm, bool stock);
/* 4.  Also after an error, or when the communicator has ended. */
void pwr_operation_end(pwr_operation_t *operation);

/* ---- calls that repeat others ----

   A call in which nothing moves levers, is measured or accounted for, like the one before it, takes
   a short way: pwr_operation_repeat for 1 and 2, pwr_operation_repeat_end for 4.  Its waits are as
   in any other.  Where a stock function makes it, nearly nothing of its operation is filled in
   before one of them lasts. */

/* What such calls have in common. */
typedef struct pwr_repeated {
    pwr_idle_within_t within; /* first, to be found from it */
    pwr_operations_t *of;
    unsigned name;
    bool stock;
    int algorithm;
    size_t own_bytes;
    pwr_class_t *class;
} pwr_repeated_t;

/* After 4: how many calls of the same class and bytes may follow, and what they are like. */
uint32_t pwr_operation_repeats(const pwr_operation_t *operation);
pwr_repeated_t pwr_operation_repeated(const pwr_operation_t *operation);
/* repeated stays where it is from one to the other. */
void pwr_operation_repeat(pwr_operation_t *operation, pwr_repeated_t *repeated);
void pwr_operation_repeat_end(pwr_operation_t *operation);
/* Before the next operation of the class that does not repeat: so many have. */
void pwr_class_repeated(pwr_class_t *class, uint32_t calls);

/* ---- 3. ---- */

/* Called for each rank of the communicator whose message is missing. */
typedef void (*pwr_missing_fn_t)(void *to, int rank, bool receives);

/* What is waited for: a flag, or something that only messages of this process bring about. */
typedef struct pwr_awaited {
    pwr_site_t site;
    unsigned level; /* T-state meanwhile (flags only); PWR_TSTATE_FULL: none */
    pwr_flag_t *flag;
    uint32_t target;
    bool (*over)(void *arg); /* without a flag */
    void *arg;
    bool woken; /* every such message wakes this process */
    /* Names those whose messages are missing, for a report; NULL: not known. */
    void (*missing)(const void *arg, pwr_missing_fn_t tell, void *to);
} pwr_awaited_t;

/* Waits with the CPU given back.  With a level the CPU runs at that duty and is at full duty on
   return; for the rare bounded progress calls it goes to full duty and back.  False: the
   communicator has ended, and what was waited for may never come. */
static inline bool pwr_operation_wait(pwr_operation_t *operation, const pwr_awaited_t *awaited);

/* What is known of a site, as its next wait; NULL: nothing that counts in this operation. */
static inline pwr_history_t *pwr_operation_site(pwr_operation_t *operation, pwr_site_t site)
{
    if (!operation->knows_sites) {
        return NULL;
    }
    uint32_t bit = UINT32_C(1) << site;
    bool seen = 0 != (operation->sites_seen & bit);
    operation->sites_seen |= bit;
    return &operation->class->sites[site][seen];
}

/* What is not there yet; site may be NULL. */
bool pwr_operation_wait_on(pwr_operation_t *operation, const pwr_awaited_t *awaited,
                           pwr_history_t *site);

static inline bool pwr_operation_wait(pwr_operation_t *operation, const pwr_awaited_t *awaited)
{
    pwr_history_t *site = pwr_operation_site(operation, awaited->site);
    bool over = NULL != awaited->flag ? pwr_flag_reached(awaited->flag, awaited->target)
                                      : awaited->over(awaited->arg);
    if (!over) {
        return pwr_operation_wait_on(operation, awaited, site);
    }
    if (NULL != site) {
        pwr_history_add(site, 0); /* it did not wait */
    }
    return true;
}

/* The policy of its waits. */
const pwr_wait_policy_t *pwr_operation_policy(pwr_operation_t *operation);

/* Where levers move in waits alone: low for so long as it is expected to wait on
   (PWR_POWER_LENGTH_UNKNOWN: nobody knows), and full before it does anything else. */
void pwr_operation_low(pwr_operation_t *operation, uint64_t expected_ns);
void pwr_operation_full(pwr_operation_t *operation);

/* Whether this rank's clock can be throttled in this operation. */
bool pwr_operation_throttles(const pwr_operation_t *operation);
/* This rank's clock, while it is on the network for others of its package. */
void pwr_operation_throttle(const pwr_operation_t *operation, unsigned level);
void pwr_operation_unthrottle(const pwr_operation_t *operation);

/* ---- what was decided ---- */

typedef struct pwr_decided {
    unsigned operation;
    int size_class;
    int nodes, ranks_per_node; /* 0: not known */
    pwr_audit_result_t audit;
    pwr_choice_t choice;
} pwr_decided_t;
enum { PWR_DECIDED_KEPT = 128 };
/* Calls tell with each class of communicators that are gone, the first ones of them, and of those
   that are not.  Returns how many are lost. */
unsigned pwr_decided(void (*tell)(void *to, const pwr_decided_t *decided), void *to);
void pwr_decided_forget(void);

#endif
