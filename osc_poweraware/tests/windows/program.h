/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is drawn of a program from its seed: windows, epochs, calls of all ranks.
 *
 * Every rank draws the calls of all ranks.  The memory of a window is cut into slots, and in an
 * epoch a slot is used in one way (rma_use_t), such that its contents at the end, and what calls
 * fetch from it, do not depend on who comes first.  So calls of one slot, one after the other in
 * the order in which they were drawn, are a model of all programs that MPI allows.
 */
#ifndef RMA_PROGRAM_H
#define RMA_PROGRAM_H

#include "communicators.h"
#include "layouts.h"
#include "names.h"
#include "operators.h"
#include "plan.h"

enum { RMA_MOST_WINDOWS = 2 };

typedef struct rma_window_plan {
    uint64_t seed;
    rma_name_t flavour;
    diff_family_t family;
    size_t slot_bytes;
    int most_slots;
    bool same_size;
    bool same_unit;
    bool no_locks;       /* says so by an info key */
    bool unordered;      /* accumulates, by an info key */
    bool says_the_usual; /* info keys that change nothing */
} rma_window_plan_t;

typedef struct rma_program {
    uint64_t seed;
    uint64_t without; /* names */
    size_t most_units;
    int steps;
    int windows;
    bool overlap; /* the epochs of a step are open at the same time */
    rma_window_plan_t window[RMA_MOST_WINDOWS];
} rma_program_t;

void rma_program_draw(rma_program_t *program, uint64_t seed, const diff_limits_t *limits);
int rma_window_slots(const rma_window_plan_t *plan, int rank);
int rma_window_unit(const rma_window_plan_t *plan, uint64_t without, int rank);

typedef enum rma_use {
    RMA_UNUSED,
    RMA_PUTS,     /* of several ranks, to elements of their own */
    RMA_GETS,     /* of all; atomic ones or others */
    RMA_CONTEND,  /* accumulates of all, by one operator; what they fetch is open */
    RMA_IN_ORDER, /* accumulates of one rank, which MPI keeps in order */
    RMA_IN_CHAIN, /* any calls of one rank, each complete before the next */
} rma_use_t;

typedef struct rma_slot {
    rma_use_t use;
    int target;
    size_t begin; /* bytes from the beginning of the window */
    diff_signature_t signature;
    diff_layout_t layout;
    size_t elements;           /* that fit */
    const diff_operator_t *op; /* NULL: contents are moved only */
    bool stored;               /* the owner writes operands into it before the epoch */
    int contributions;
} rma_slot_t;

typedef enum rma_how { RMA_COMBINING, RMA_REPLACING, RMA_FETCHING } rma_how_t;

typedef struct rma_call {
    rma_name_t name;
    uint64_t seed;
    int origin;
    int number; /* in its slot */
    const rma_slot_t *slot;
    size_t first; /* element */
    size_t count; /* elements; fetch_and_op and compare_and_swap: 1, of which they take: */
    int item;
    rma_how_t how;
    int contribution;
    bool flush_before;
    bool open_result; /* depends on who comes first */
} rma_call_t;

typedef struct rma_epoch {
    uint64_t seed;
    rma_name_t sync;
    int size; /* ranks */
    int num_slots;
    rma_slot_t *slots; /* [num_slots] */
    int num_calls;
    int room;
    rma_call_t *calls;
} rma_epoch_t;

/* size: ranks of the window's communicator. */
void rma_epoch_draw(rma_epoch_t *epoch, const rma_program_t *program, int window, int step,
                    int size);
void rma_epoch_free(rma_epoch_t *epoch);
rma_name_t rma_epoch_sync(const rma_program_t *program, int window, int step);
bool rma_epoch_passive(rma_name_t sync);
/* Whether origin starts an epoch to target; both know it. */
bool rma_epoch_access(const rma_epoch_t *epoch, int origin, int target);
bool rma_epoch_exclusive(const rma_epoch_t *epoch, uint64_t without, int origin, int target);

bool rma_call_is_single(rma_name_t name); /* one item */
bool rma_call_fetches(rma_name_t name);
bool rma_call_sends(rma_name_t name);
bool rma_call_has_request(rma_name_t name);
/* Items of a call, and which item of the slot's layout one of them is. */
size_t rma_call_items(const rma_call_t *call);
size_t rma_call_item(const rma_call_t *call, size_t index);
/* What the origin sends. */
diff_value_t rma_call_value(const rma_call_t *call, size_t index);
/* What the owner stores before the epoch. */
diff_value_t rma_slot_value(const rma_slot_t *slot, uint64_t seed, size_t item);

#endif
