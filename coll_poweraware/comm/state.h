/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What algorithms need of a communicator, built collectively by the first call that may take one.
 * One thread at a time uses a communicator, so nothing in here is locked.
 */
#ifndef COLL_POWERAWARE_STATE_H
#define COLL_POWERAWARE_STATE_H

#include "choose/decision.h"
#include "comm/components.h"
#include "module.h"

#include "pwr_ompi/segment.h"

struct coll_poweraware_call;      /* primitives/primitives.h */
struct coll_poweraware_learnings; /* choose/learn.h */

typedef enum coll_poweraware_shared {
    COLL_POWERAWARE_NOT_TRIED,
    COLL_POWERAWARE_COMING,    /* in several calls, stock functions meanwhile */
    COLL_POWERAWARE_SHARED,    /* slots: perhaps short ones */
    COLL_POWERAWARE_NOT_SHARED /* no room, no right: for ever */
} coll_poweraware_shared_t;

typedef struct coll_poweraware_state {
    pwr_hierarchy_t *hierarchy;
    pwr_segment_t *segment;
    coll_poweraware_shared_t shared[PWR_SEGMENT_PARTS]; /* the same on all ranks */
    size_t spent_bytes[PWR_SEGMENT_PARTS];              /* of my budget */
    int leader_pid;                                     /* of my node's lowest rank, ... */
    int leader_serial;                                  /* ... who creates the segment */
    coll_poweraware_choices_t *choices;                 /* with scheme auto */
    bool trusts_others; /* what they say of other components' functions holds here */
    int explores_ppm;   /* what experiments may lose; 0: none */
    bool knows;         /* all ranks know the same of earlier jobs */
    struct coll_poweraware_learnings *learnings; /* NULL: none */
    coll_poweraware_others_t *others;            /* what other components would do */
    struct coll_poweraware_call *call;           /* the one that is under way */
    uint64_t word; /* by which others recognise this process; only while the state is built */
} coll_poweraware_state_t;

/* state.c: once per communicator; returns NULL when it cannot have one; the same on every rank.
   decision: of all ranks, NULL without scheme auto.  The segment is there, but nothing of it is
   mapped. */
coll_poweraware_state_t *coll_poweraware_state_build(mca_coll_poweraware_module_t *module,
                                                     const coll_poweraware_decision_t *decision);
/* NULL is allowed. */
void coll_poweraware_state_free(coll_poweraware_state_t *state);

/* share.c: a part of the state's segment that was not tried so far, or is coming, or whose slots
   are too short; whether it is there now, the same on every rank.  Collective.  operation: the
   call, which may be told to do without it.  slot_bytes: what it needs, at most the shape's. */
bool coll_poweraware_share(mca_coll_poweraware_module_t *module, const pwr_operation_t *operation,
                           pwr_segment_part_t part, size_t slot_bytes);
static inline bool coll_poweraware_is_shared(const coll_poweraware_state_t *state,
                                             pwr_segment_part_t part, size_t slot_bytes)
{
    return COLL_POWERAWARE_SHARED == state->shared[part] &&
           (PWR_SEGMENT_BOXES == part || state->segment->slot_bytes >= slot_bytes);
}
/* How long slots are to be for a call of so many bytes, as all ranks know them: several pieces of a
   short message of each rank in a slot.  Longer messages move in more pieces. */
size_t coll_poweraware_wanted_slots(const coll_poweraware_state_t *state, size_t bytes);
void coll_poweraware_unshare(coll_poweraware_state_t *state);

/* agree.c: what ranks tell each other to set a communicator up, by the saved functions, so that
   nothing of it needs our own collectives.  Collective. */

/* True on all ranks or on none: everybody's mine is true and nothing failed. */
bool coll_poweraware_all_agree(const mca_coll_poweraware_module_t *module, bool mine);
/* The same for numbers: the least of all, 0 if something failed. */
int coll_poweraware_least_of_all(const mca_coll_poweraware_module_t *module, int mine);
/* Whether all have the same number. */
bool coll_poweraware_all_same(const mca_coll_poweraware_module_t *module, uint64_t mine);
/* The most, 0 if something failed. */
uint64_t coll_poweraware_most_of_all(const mca_coll_poweraware_module_t *module, uint64_t mine);
/* The sums of all ranks, [num], in place; false after an error of the saved function. */
bool coll_poweraware_add_up(const mca_coll_poweraware_module_t *module, int64_t *sums, int num);
/* Everybody's mine[ints] in all[size * ints]; false after an error of the saved function. */
bool coll_poweraware_all_tell(const mca_coll_poweraware_module_t *module, const void *mine,
                              void *all, int ints);

#endif
