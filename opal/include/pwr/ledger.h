/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a job came to: the accounts of its processes and the energy of its nodes, of one node, of
 * some, or of all.
 *
 * Ledgers of parts of a job add up to that of the whole.  Their size depends on the number of nodes
 * and not on that of processes: a few hundred bytes per node, and power over time in bins, of each
 * node while they are few and always of all together.
 */
#ifndef PWR_LEDGER_H
#define PWR_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/account.h"
#include "pwr/lever.h"
#include "pwr/meter.h"
#include "pwr/series.h"

enum {
    PWR_LEDGER_SERIES = 64, /* nodes of which power over time is kept one by one */
    PWR_LEDGER_TEXT = 160,
    PWR_LEDGER_DOMAINS = PWR_DOMAIN_GPU + 1,
};

typedef struct pwr_ledger_domain {
    uint64_t counters; /* of this kind that could be read to the end; 0: there is none */
    uint64_t uj;
    uint64_t uncertainty_uj;
} pwr_ledger_domain_t;

/* Of one node.  Texts end in 0. */
typedef struct pwr_ledger_node {
    char host[64];
    char machine[44];   /* boot id of its kernel, which containers have in common; "" : unknown */
    uint32_t shared_by; /* nodes of the job that share that machine's energy; 0 and 1: no others */
    uint32_t processes; /* of the job, on this node */
    uint32_t reported;  /* of them, whose accounts are in */
    uint32_t finished;  /* of those, who ended as they should */
    uint32_t cpus;
    uint32_t packages;
    uint32_t provenance;                             /* of its energy: pwr_meter_provenance_t */
    uint64_t begin_ns;                               /* CLOCK_REALTIME: energy counts from .. */
    uint64_t end_ns;                                 /* .. to */
    uint64_t wall_ns;                                /* sums over processes: from begin to end */
    uint64_t cpu_ns;                                 /* user and system time, all threads */
    uint64_t setup_ns;                               /* of wall_ns, what went to setting us up */
    pwr_lever_use_t levers[PWR_NUM_LEVERS];          /* sums over processes */
    pwr_ledger_domain_t domains[PWR_LEDGER_DOMAINS]; /* by pwr_meter_domain_kind_t */
    uint64_t uj; /* the node's total: domains that are no part of others; 0 without energy */
    uint64_t uncertainty_uj;
    char source[32];                     /* of energy; "" when there is none */
    char energy_remark[PWR_LEDGER_TEXT]; /* why there is none, or none that is measured */
} pwr_ledger_node_t;

typedef struct pwr_ledger {
    pwr_account_t account; /* of all processes */
    pwr_series_t power;    /* of all nodes */
    size_t num_nodes;
    size_t room;
    pwr_ledger_node_t *nodes;
    pwr_series_t *series; /* [num_nodes], the power of each; NULL when there are none or ... */
    bool too_many;
} pwr_ledger_t;

/* Empty; NULL without memory. */
pwr_ledger_t *pwr_ledger_new(void);
void pwr_ledger_free(pwr_ledger_t *ledger);

/* One more node; what its processes came to goes to the account. */
pwr_status_t pwr_ledger_add_node(pwr_ledger_t *ledger, const pwr_ledger_node_t *node,
                                 const pwr_series_t *power);

/* For a message or a file, to be freed; NULL without memory. */
void *pwr_ledger_pack(const pwr_ledger_t *ledger, size_t *bytes);
/* Adds what was packed.  Errors: PARSE (nothing has been added), NOMEM (likewise). */
pwr_status_t pwr_ledger_add_packed(pwr_ledger_t *ledger, const void *packed, size_t bytes);

/* Nodes that are containers on one machine have each read the same counters.  Gives each of them an
   equal share of the mean of what they read (shared_by), so that sums over nodes count no machine
   twice; power over time and the energy of calls shrink with it, the latter by the same factor for
   all classes.  GPUs stay as they are: containers are given their own.  So do emulated machines.
   For the ledger of a whole job, once.  Errors: NOMEM (nothing has changed). */
pwr_status_t pwr_ledger_share_machines(pwr_ledger_t *ledger);

/* Gives all nodes the window of the job: what a node used at either end is reckoned by its mean
   power, and is part of its uncertainty.  A node whose own window would be more than doubled
   (clocks differ) stays as it is.  For the ledger of a whole job, before machines are shared. */
void pwr_ledger_align_windows(pwr_ledger_t *ledger);

/* ---- energy of calls ---- */

/* Attributes a node's energy to the calls in its account, by time and state:

     w = asleep * time + (1 - asleep) * CPU time * slowness
     slowness = product over levers of (1 - (1 - left[lever]) * time with it lowered / time)
     joules of a class of calls = joules of the node * w of the class / w of the node

   where the node's time is that of its processes, calls or not.  So a rank that sleeps in a call,
   or polls in it slowly, is charged less than one that polls at full speed, and what is left over
   is what the program used outside of calls.  Energy of GPUs is not: collectives of hosts do
   not use it (pwr_ledger_attribute_gpus).  Energy counters tell neither cores nor calls apart, so
   these joules are always an attribution, never a measurement. */
typedef struct pwr_ledger_weights { /* 0 to 1 each */
    double asleep;               /* a core that sleeps draws, of one that computes at full speed */
    double left[PWR_NUM_LEVERS]; /* of the rest, what is left with this lever lowered */
} pwr_ledger_weights_t;
void pwr_ledger_attribute(pwr_account_t *account, const pwr_ledger_node_t *node,
                          pwr_ledger_weights_t weights);
/* Attributes what the GPUs of all nodes used to the classes of calls that GPUs make:

     joules of a class of calls += joules of the GPUs * time of the class / time of all processes

   is_by_gpus: of an algorithm's number.  For the ledger of a whole job, last. */
void pwr_ledger_attribute_gpus(pwr_ledger_t *ledger,
                               bool (*is_by_gpus)(const void *who, int algorithm), const void *who);
/* asleep: between the deepest and the lightest idle states of servers, uncore and memory included
   (0.3).  left: as the levers' types say. */
pwr_ledger_weights_t pwr_ledger_weights(void);

#endif
