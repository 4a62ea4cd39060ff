/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Processes that sleep in Open MPI's event loop are woken by messages through shared memory, too.
 *
 * With pml ob1 the processes of a node send to each other through the shared-memory btl (vader in
 * 4.1, sm since), which the event loop knows nothing of.  Ours take the places of the functions by
 * which that btl sends: they ring the receiver's bell (bell.h) if it sleeps.  The bell is one more
 * file descriptor of the event loop.
 */
#ifndef PWR_OMPI_DOORBELL_H
#define PWR_OMPI_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pwr/env.h"
#include "pwr_ompi/bell.h"

struct mca_btl_base_module_t;
struct ompi_communicator_t;
struct opal_proc_t;

/* Makes a bell and tells the other processes of the node of it; when the component is opened.
   always: this process will ring for all that it sends; else only for collectives. */
void pwr_doorbell_publish(const pwr_env_t *env, bool always);
/* Rings from now on, and listens; after the pml was selected and before it knows any process.  Does
   nothing if nothing was published or there is no such btl.  threads: several may send at once. */
void pwr_doorbell_hang(bool threads);
/* Puts back what was there; may be called when nothing was done. */
void pwr_doorbell_take_down(void);

/* Where this process does not ring for all it sends: whether what comes now is for a collective.
   Returns what it was before. */
bool pwr_doorbell_ring(bool on);

/* Whether all that comes through btl, or all of it that is for collectives, rings: it is the
   shared-memory btl, and every process that it reaches has our bell.  Another answer may come
   later, when those have been through MPI_Init. */
bool pwr_doorbell_is_rung_by(const struct mca_btl_base_module_t *btl, bool collectives);

/* ---- waits that calls of others end ----

   One-sided calls wait for calls of other processes, which change memory that both have, and send
   no message (bell.h, W1 to W3). */

/* Processes of this node other than this one, by the numbers of their bells. */
typedef struct pwr_doorbell_group {
    bool known;    /* all of them have one */
    bool is_whole; /* there are no processes of other nodes beside them */
    uint64_t members[PWR_BELL_MAX_RINGERS / 64];
} pwr_doorbell_group_t;

/* Those of comm.  Where no shared-memory btl is, this process listens from now on, too. */
void pwr_doorbell_group(struct ompi_communicator_t *comm, pwr_doorbell_group_t *group);
/* Whether each of them has this process's bell; another answer may come later. */
bool pwr_doorbell_group_rings(const pwr_doorbell_group_t *group);

/* This process may change memory of another one, a process of this node, with plain stores, from
   now on: calls of the other one do not wait for rings alone. */
void pwr_doorbell_stores(const struct opal_proc_t *process);
/* Whether any process may do that to this one. */
bool pwr_doorbell_is_stored_past(void);

/* From now on this process rings for all that it sends. */
void pwr_doorbell_ring_always(void);

/* After a call that may have ended a wait (W2, W3): wakes those who wait for this process. */
void pwr_doorbell_let_go(void);

/* ---- sleeping ---- */

/* Before sleeping in the event loop, with all progress made.  group: whose calls are waited for,
   too; NULL: nobody's.  False: something has come after all; look again instead of sleeping.  In
   any case pwr_doorbell_awake comes next. */
bool pwr_doorbell_may_sleep(const pwr_doorbell_group_t *group);
/* After other progress since pwr_doorbell_may_sleep: the same question. */
bool pwr_doorbell_is_quiet(void);
void pwr_doorbell_awake(void);

/* Changes when something came, or was heard. */
uint64_t pwr_doorbell_events(void);

typedef struct pwr_doorbell_counts {
    uint64_t heard; /* rings that woke this process, or kept it from sleeping */
    uint64_t rung;  /* others it woke */
} pwr_doorbell_counts_t;

/* Since the start; also when it was taken down. */
pwr_doorbell_counts_t pwr_doorbell_counts(void);

#endif
