/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Making calls one after the other.
 */
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "intercommunicators.h"
#include "known_faults.h"
#include "shrink.h"
#include "watch.h"

void diff_run_open(diff_run_t *run, const diff_options_t *options, int thread)
{
    *run = (diff_run_t){.options = options, .thread = thread, .limits = options->limits};
    MPI_Comm_dup(MPI_COMM_WORLD, &run->parent);
    MPI_Comm_dup(MPI_COMM_WORLD, &run->control);
    MPI_Comm_rank(run->parent, &run->world_rank);
    MPI_Comm_size(run->parent, &run->world_size);
    for (int family = 0; family < DIFF_NUM_FAMILIES; ++family) {
        diff_comm_make(&run->comms[family], run->parent, (diff_family_t)family);
    }
    run->inter = diff_inter_make(run->parent);
    if (NULL != options->digests && 0 == run->world_rank && 0 == thread) {
        run->digests = fopen(options->digests, "we");
        if (NULL == run->digests) {
            perror(options->digests);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
}

void diff_run_close(diff_run_t *run)
{
    for (int family = 0; family < DIFF_NUM_FAMILIES; ++family) {
        diff_comm_free(&run->comms[family]);
    }
    if (MPI_COMM_NULL != run->inter) {
        MPI_Comm_free(&run->inter);
    }
    MPI_Comm_free(&run->control);
    MPI_Comm_free(&run->parent);
    diff_records_free(&run->records);
    if (NULL != run->digests && 0 != fclose(run->digests)) {
        perror(run->options->digests);
        run->failures += 1;
    }
}

uint64_t diff_run_seed(const diff_run_t *run, uint64_t index)
{
    const diff_options_t *o = run->options;
    uint64_t number = 0 != o->again ? index % o->again : index;
    return 0 != o->only_call ? o->only_call
                             : diff_hash(o->seed, (uint64_t)run->thread, number);
}

/* ---- one call ---- */

static void add_record(diff_run_t *run, const diff_slot_t *slot, diff_record_kind_t kind,
                       uint64_t a, uint64_t b)
{
    const diff_comm_t *comm = slot->call.comm;
    const diff_record_t record = {slot->index, slot->sub, comm->first, comm->rank, kind, a, b};
    diff_records_add(&run->records, &record);
}

static void tell(diff_run_t *run, const diff_slot_t *slot)
{
    enum { ENOUGH = 3 };
    char text[512];
    const diff_comm_t *comm = slot->call.comm;
    if (run->quiet || run->told++ >= ENOUGH) {
        return;
    }
    diff_plan_describe(&slot->plan, text, sizeof text);
    fprintf(stderr,
            "check_collectives: %s wrong: call %" PRIu64 ".%d, call seed 0x%" PRIx64
            ", communicator %s, rank %d of %d, root %d, blocks of up to %zu units: %s: %s\n",
            diff_collective_name(slot->plan.collective), slot->index, slot->sub, slot->plan.seed,
            comm->name, comm->rank, comm->size, slot->call.root,
            diff_plan_most_units(&slot->plan, comm->size), text, slot->call.why);
}

/* What a fault would look like: a byte that is not as it should be, a rank that went ahead. */
static bool damage_wanted(const diff_run_t *run, const diff_slot_t *slot)
{
    const diff_options_t *o = run->options;
    return o->fault && 0 == slot->call.comm->rank &&
           (DIFF_BARRIER == slot->plan.collective ||
            diff_plan_most_units(&slot->plan, slot->call.comm->size) >= o->fault_units);
}

static void record_result(diff_run_t *run, diff_slot_t *slot, bool damage)
{
    const diff_call_t *call = &slot->call;
    diff_collective_t collective = slot->plan.collective;
    if (DIFF_BARRIER == collective) {
        const uint64_t too_late_ns = UINT64_C(1) << 40;
        uint64_t enter_ns = call->enter_ns + (damage ? too_late_ns : 0);
        add_record(run, slot, DIFF_PASSAGE, enter_ns, call->leave_ns);
    } else if (run->options->choice.inexact) {
        add_record(run, slot, DIFF_ALLREDUCE == collective ? DIFF_SAME_DIGEST : DIFF_DIGEST,
                   diff_oracle_digest(call), 0);
    }
}

static void conclude(diff_run_t *run, diff_slot_t *slot)
{
    diff_call_t *call = &slot->call;
    diff_watch_enter(run->thread, slot->index, slot->plan.seed, &run->limits);
    bool damage = damage_wanted(run, slot);
    bool right = slot->started && diff_call_finish(call) &&
                 diff_oracle_check(call, damage && DIFF_BARRIER != slot->plan.collective);
    if (right) {
        record_result(run, slot, damage);
    } else {
        add_record(run, slot, DIFF_FAILURE, 0, 0);
        tell(run, slot);
    }
    diff_call_free(call);
    free(slot);
}

static diff_slot_t *new_slot(uint64_t index, int sub)
{
    diff_slot_t *slot = malloc(sizeof *slot);
    if (NULL == slot) {
        fprintf(stderr, "check_collectives: no memory for a call\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return NULL;
    }
    slot->index = index;
    slot->sub = sub;
    return slot;
}

/* Every second nonblocking call stays open during the next call. */
static void perform(diff_run_t *run, diff_slot_t *slot, const diff_comm_t *comm, bool may_hold)
{
    if (diff_known_fault_here(&slot->plan, comm->size)) {
        free(slot);
        return;
    }
    diff_call_build(&slot->call, &slot->plan, comm);
    slot->started = diff_call_start(&slot->call);
    bool holds = may_hold && slot->started && DIFF_NONBLOCKING == slot->plan.mode &&
                 0 != (slot->plan.seed >> 20 & 1);
    if (holds) {
        run->held = slot;
    } else {
        conclude(run, slot);
    }
}

/* One to three calls on a communicator that is freed at once. */
static void perform_fresh(diff_run_t *run, diff_slot_t *slot)
{
    diff_comm_t comm;
    uint64_t seed = slot->plan.seed;
    uint64_t index = slot->index;
    diff_comm_make_fresh(&comm, run->parent, seed);
    int calls = 1 + (int)(seed >> 30 & 0xff) % 3;
    if (MPI_COMM_NULL == comm.comm) {
        free(slot);
        return;
    }
    perform(run, slot, &comm, false);
    for (int sub = 1; sub < calls; ++sub) {
        slot = new_slot(index, sub);
        diff_plan_draw(&slot->plan, diff_hash(seed, (uint64_t)sub, 3), &run->options->choice,
                       &run->limits);
        if (DIFF_NEIGHBOR_ALLTOALL == slot->plan.collective) {
            free(slot); /* needs a grid */
            continue;
        }
        perform(run, slot, &comm, false);
    }
    diff_comm_free(&comm);
}

static void check_intercommunicator(diff_run_t *run, uint64_t index, uint64_t seed)
{
    char why[128];
    if (MPI_COMM_NULL == run->inter || diff_inter_check(run->inter, seed, why, sizeof why)) {
        return;
    }
    const diff_record_t record = {index, 100, 0, run->world_rank, DIFF_FAILURE, 0, 0};
    diff_records_add(&run->records, &record);
    if (!run->quiet) {
        fprintf(stderr, "check_collectives: intercommunicator wrong: call %" PRIu64 ": %s\n", index,
                why);
    }
}

static void perform_index(diff_run_t *run, uint64_t index)
{
    uint64_t seed = diff_run_seed(run, index);
    diff_slot_t *held = run->held;
    diff_slot_t *slot = new_slot(index, 0);
    run->held = NULL;
    diff_watch_enter(run->thread, index, seed, &run->limits);
    diff_plan_draw(&slot->plan, seed, &run->options->choice, &run->limits);
    const diff_comm_t *comm =
        DIFF_FRESH == slot->plan.family ? NULL : &run->comms[slot->plan.family];
    if (NULL == comm) {
        perform_fresh(run, slot);
    } else if (MPI_COMM_NULL != comm->comm) {
        perform(run, slot, comm, true);
    } else {
        free(slot);
    }
    if (NULL != held) {
        conclude(run, held);
    }
    if (0 == seed % 64 && diff_options_everything(run->options)) {
        check_intercommunicator(run, index, seed);
    }
}

/* ---- many ---- */

void diff_run_calls(diff_run_t *run, uint64_t first, uint64_t last, diff_verdict_t *verdict)
{
    for (uint64_t index = first; index <= last; ++index) {
        perform_index(run, index);
    }
    if (NULL != run->held) {
        diff_slot_t *held = run->held;
        run->held = NULL;
        conclude(run, held);
    }
    diff_records_settle(&run->records, run->control, run->digests, verdict);
    if ('\0' != verdict->why[0] && 0 == run->world_rank && !run->quiet) {
        char text[512];
        diff_plan_t plan;
        diff_plan_draw(&plan, diff_run_seed(run, verdict->index), &run->options->choice,
                       &run->limits);
        diff_plan_describe(&plan, text, sizeof text);
        fprintf(stderr,
                "check_collectives: %s wrong: call %" PRIu64 ", call seed 0x%" PRIx64 ": %s: %s\n",
                diff_collective_name(plan.collective), verdict->index, plan.seed, text,
                verdict->why);
    }
}

/* Of --again. */
static void say_rounds(const diff_run_t *run, uint64_t first, uint64_t last)
{
    const diff_options_t *o = run->options;
    if (NULL == o->rounds || 0 != run->world_rank || 0 == o->again ||
        first / o->again == (last + 1) / o->again) {
        return;
    }
    FILE *file = fopen(o->rounds, "ae");
    if (NULL == file || EOF == fputc('.', file) || 0 != fclose(file)) {
        perror(o->rounds);
    }
}

void diff_run_all(diff_run_t *run)
{
    const diff_options_t *o = run->options;
    uint64_t end = o->first + o->calls;
    for (uint64_t first = o->first; first < end; first += DIFF_BATCH) {
        uint64_t last = first + DIFF_BATCH < end ? first + DIFF_BATCH - 1 : end - 1;
        diff_verdict_t verdict;
        diff_run_calls(run, first, last, &verdict);
        run->failures += verdict.failures;
        if (verdict.failures > 0) {
            if (!o->stay) {
                diff_shrink(run, first, verdict.index);
            }
            return;
        }
        say_rounds(run, first, last);
    }
}
