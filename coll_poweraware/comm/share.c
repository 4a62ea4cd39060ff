/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The shared memory of a communicator, part by part, each when the first algorithm needs it.
 *
 * 1. The lowest rank of each node creates the part, unless its budget is spent; its process and a
 *    serial number, which all know from the state, are the name.  All agree that every node has it
 *    (one Allreduce).
 * 2. The others attach.
 * 3. All agree that everybody is attached (one Allreduce).
 * 4. The name is removed: from here on the kernel frees the memory with the last process.
 *
 * With scheme auto no short call is to be seen that sets something up.  So each does one of these at
 * most: to build the state, steps 1 or 2 to 4 for the boxes, or a step towards the slots, whose 4
 * MiB would take milliseconds at once.  For them step 1 makes a file without memory, and:
 *
 * 5. In each further call that wants the slots all ranks touch the same some pages more: a few
 *    already between steps 2 and 3.  How many, all know equally.  Who comes first gets the memory;
 *    the kernel says if there is none, and never by SIGBUS, so nobody has to wait for anybody.
 *    These calls are stock's.
 * 6. When that was the last page, all agree that everybody has touched all (one Allreduce).
 *
 * The last page is that of slots which are long enough for the call.  Longer messages make them
 * longer by 5 and 6: where many ranks share a CPU, all pages take as long as a hundred short calls.
 *
 * Where somebody fails, the communicator does without this part for ever.
 */
#include "comm/state.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "choose/learn.h"
#include "primitives/primitives.h"
#include "pwr_ompi/process.h"
#include "repeat.h"

static void part_name(char *name, const coll_poweraware_state_t *state, pwr_segment_part_t part)
{
    snprintf(name, PWR_SEGMENT_NAME_MAX, "/poweraware.%u.%d.%d.%d", (unsigned)getuid(),
             state->leader_pid, state->leader_serial, (int)part);
}

/* ---- the budget of this process, over all of its communicators ---- */

static _Atomic size_t spent_bytes;

static bool spend(size_t bytes, size_t total_bytes)
{
    size_t before = atomic_fetch_add(&spent_bytes, bytes);
    if (before + bytes <= total_bytes) {
        return true;
    }
    atomic_fetch_sub(&spent_bytes, bytes);
    return false;
}

/* ---- what the user must know; a program may have thousands of communicators ---- */

static int once(atomic_flag *told)
{
    return atomic_flag_test_and_set(told) ? 2 : 1;
}

static void say_over_budget(size_t bytes, size_t total_bytes)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    pwr_say(once(&told),
            "%zu bytes of shared memory more would exceed "
            "coll_poweraware_segments_total_bytes %zu: further communicators use stock "
            "functions until others are freed",
            bytes, total_bytes);
}

static void say_no_segment(size_t bytes, pwr_status_t status)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    pwr_say(once(&told),
            "cannot create a shared memory segment of %zu bytes (%s): stock "
            "functions are used; free space in /dev/shm, raise the limit of file sizes "
            "(ulimit -f) or lower coll_poweraware_segment_bytes",
            bytes, pwr_status_text(status));
}

/* ---- the steps ---- */

static void give_back(coll_poweraware_state_t *state, pwr_segment_part_t part)
{
    atomic_fetch_sub(&spent_bytes, state->spent_bytes[part]);
    state->spent_bytes[part] = 0;
}

static bool create(const mca_coll_poweraware_module_t *m, pwr_segment_part_t part, bool backed)
{
    coll_poweraware_state_t *state = m->state;
    char name[PWR_SEGMENT_NAME_MAX];
    part_name(name, state, part);
    size_t total_bytes = m->settings->segments_total_bytes;
    size_t bytes = pwr_segment_part_bytes(&state->segment->shape, part);
    if (!spend(bytes, total_bytes)) {
        say_over_budget(bytes, total_bytes);
        return false;
    }
    state->spent_bytes[part] = bytes;
    pwr_status_t status = pwr_segment_create(state->segment, part, name, backed);
    if (PWR_OK != status) {
        say_no_segment(bytes, status);
    }
    return PWR_OK == status;
}

/* Step 1. */
static bool create_all(const mca_coll_poweraware_module_t *m, pwr_segment_part_t part, bool backed)
{
    bool leading = 0 == m->state->hierarchy->my_local;
    return coll_poweraware_all_agree(m, !leading || create(m, part, backed));
}

/* Step 5.  Returns whether all went well so far. */
static bool touch(const mca_coll_poweraware_module_t *m, size_t bytes)
{
    pwr_segment_t *segment = m->state->segment;
    bool went_well = PWR_OK == segment->touch;
    bool ok = PWR_OK == pwr_segment_touch_slots(segment, bytes);
    if (went_well && !ok) {
        say_no_segment(pwr_segment_part_bytes(&segment->shape, PWR_SEGMENT_CHUNKS), segment->touch);
    }
    return ok;
}

/* Steps 2 to 5; few: bytes. */
static bool attach_all(const mca_coll_poweraware_module_t *m, pwr_segment_part_t part, size_t few)
{
    coll_poweraware_state_t *state = m->state;
    bool leading = 0 == state->hierarchy->my_local;
    char name[PWR_SEGMENT_NAME_MAX];
    part_name(name, state, part);
    bool ok = leading || PWR_OK == pwr_segment_attach(state->segment, part, name); /* 2 */
    if (ok) {
        pwr_segment_enter(state->segment, part, state->hierarchy->num_local,
                          state->hierarchy->my_local, pwr_process_wait_policy().oversubscribed);
    }
    if (ok && PWR_SEGMENT_BOXES == part) {
        pwr_segment_touch_boxes(state->segment);
    }
    ok = ok && (0 == few || touch(m, few));
    ok = coll_poweraware_all_agree(m, ok);   /* 3 */
    pwr_segment_remove_name(state->segment); /* 4 */
    return ok;
}

/* Bytes that all ranks know of this call, else 0. */
static size_t known_bytes(unsigned collective, size_t own_bytes)
{
    return coll_poweraware_bytes_known[collective] ? own_bytes : 0;
}

size_t coll_poweraware_wanted_slots(const coll_poweraware_state_t *state, size_t bytes)
{
    enum { SHORTEST = 4096, PIECES = 4 };
    size_t most = state->segment->shape.slot_bytes;
    if (bytes >= most) {
        return most;
    }
    size_t wanted = SHORTEST + PIECES * (size_t)(state->hierarchy->max_local + 1) * bytes;
    return wanted < most / 2 ? wanted : most;
}

/* Who names an algorithm gets it in his first call.  And in long calls nothing is seen of it: those
   of a class that has been long, and those of so many bytes among nodes. */
static bool is_at_once(const mca_coll_poweraware_module_t *m, unsigned collective, size_t own_bytes)
{
    enum { LONG_CALL = 256 * 1024 };
    bool named = COLL_POWERAWARE_AUTO != m->settings->scheme || m->algorithm[collective] >= 0;
    return named || coll_poweraware_learns_of_long_calls(m) ||
           (m->state->hierarchy->num_nodes > 1 && known_bytes(collective, own_bytes) >= LONG_CALL);
}

/* What a call touches of the slots: 128 KiB take two ranks 0.06 ms (AMD EPYC 9004, virtual).  Long
   calls may take longer, above all those among nodes. */
static size_t bytes_per_call(const mca_coll_poweraware_module_t *m, unsigned collective,
                             size_t own_bytes)
{
    enum { LEAST = 128 * 1024, ONE_NODE_SHARE = 32, NODES_TIMES = 8 };
    size_t bytes = known_bytes(collective, own_bytes);
    if (is_at_once(m, collective, own_bytes)) {
        return SIZE_MAX;
    }
    return LEAST +
           (m->state->hierarchy->num_nodes > 1 ? NODES_TIMES * bytes : bytes / ONE_NODE_SHARE);
}

/* Step 6. */
static coll_poweraware_shared_t agree_on_slots(const mca_coll_poweraware_module_t *m, bool ok)
{
    if (!coll_poweraware_all_agree(m, ok)) {
        return COLL_POWERAWARE_NOT_SHARED;
    }
    pwr_segment_use_touched(m->state->segment);
    return COLL_POWERAWARE_SHARED;
}

/* Steps 5 and 6.  wanted: bytes of all slots. */
static coll_poweraware_shared_t lengthen(const mca_coll_poweraware_module_t *m, size_t bytes,
                                         size_t wanted)
{
    const coll_poweraware_state_t *state = m->state;
    size_t left = wanted > state->segment->touched ? wanted - state->segment->touched : 0;
    bool ok = touch(m, bytes < left ? bytes : left);
    return state->segment->touched < wanted ? state->shared[PWR_SEGMENT_CHUNKS]
                                            : agree_on_slots(m, ok);
}

static coll_poweraware_shared_t share_slots(const mca_coll_poweraware_module_t *m, size_t bytes,
                                            size_t slot_bytes)
{
    enum { FEW = 64 * 1024 };
    pwr_segment_t *segment = m->state->segment;
    size_t wanted = pwr_segment_bytes_of_slots(segment, slot_bytes);
    bool at_once = SIZE_MAX == bytes;
    size_t few = at_once || wanted > FEW ? 0 : wanted;
    if (COLL_POWERAWARE_NOT_TRIED != m->state->shared[PWR_SEGMENT_CHUNKS]) {
        return lengthen(m, bytes, wanted);
    }
    if (!create_all(m, PWR_SEGMENT_CHUNKS, at_once) || !attach_all(m, PWR_SEGMENT_CHUNKS, few)) {
        return COLL_POWERAWARE_NOT_SHARED;
    }
    if (few > 0) {
        pwr_segment_use_touched(segment);
    }
    return at_once || few > 0 ? COLL_POWERAWARE_SHARED : COLL_POWERAWARE_COMING;
}

static coll_poweraware_shared_t share_boxes(const mca_coll_poweraware_module_t *m, bool at_once)
{
    bool created = COLL_POWERAWARE_COMING == m->state->shared[PWR_SEGMENT_BOXES];
    if (!created && !create_all(m, PWR_SEGMENT_BOXES, true)) {
        return COLL_POWERAWARE_NOT_SHARED;
    }
    if (!created && !at_once) {
        return COLL_POWERAWARE_COMING;
    }
    return attach_all(m, PWR_SEGMENT_BOXES, 0) ? COLL_POWERAWARE_SHARED
                                               : COLL_POWERAWARE_NOT_SHARED;
}

static void drop(coll_poweraware_state_t *state, pwr_segment_part_t part)
{
    pwr_segment_remove_name(state->segment);
    pwr_segment_unmap(state->segment, part);
    give_back(state, part);
}

bool coll_poweraware_share(mca_coll_poweraware_module_t *m, const pwr_operation_t *operation,
                           pwr_segment_part_t part, size_t slot_bytes)
{
    coll_poweraware_state_t *state = m->state;
    unsigned collective = operation->name - m->operations.first;
    bool at_once = is_at_once(m, collective, operation->own_bytes);
    if (operation->was_set_up && !at_once) {
        return false;
    }
    state->shared[part] =
        PWR_SEGMENT_BOXES == part
            ? share_boxes(m, at_once)
            : share_slots(m, bytes_per_call(m, collective, operation->own_bytes), slot_bytes);
    if (COLL_POWERAWARE_NOT_SHARED == state->shared[part]) {
        coll_poweraware_end_all_repeats(m);
        drop(state, part);
    } else if (PWR_SEGMENT_BOXES == part && COLL_POWERAWARE_SHARED == state->shared[part]) {
        m->operations.positions = state->segment->positions;
        m->operations.owner_copy = &state->segment->control->owner_copy;
    }
    return coll_poweraware_is_shared(state, part, slot_bytes);
}

void coll_poweraware_unshare(coll_poweraware_state_t *state)
{
    pwr_segment_free(state->segment);
    state->segment = NULL;
    for (int part = 0; part < PWR_SEGMENT_PARTS; ++part) {
        give_back(state, (pwr_segment_part_t)part);
    }
}
