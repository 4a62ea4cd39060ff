/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Synchronisation of every kind, and the calls in between.
 */
#include "epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Draws of an epoch that all ranks of the window share. */
enum { DRAW_HELD = 20, DRAW_NOPRECEDE, DRAW_NOSUCCEED, DRAW_NOCHECK };
/* And those of a rank. */
enum { DRAW_LATE = 40, DRAW_NOSTORE, DRAW_TEST, DRAW_FLUSH_EACH };

static bool agreed(const rma_open_t *open, int draw, unsigned percent)
{
    return diff_hash(open->epoch.seed, (uint64_t)draw, 8) % 100 < percent;
}

static bool mine(const rma_open_t *open, int draw, unsigned percent)
{
    uint64_t rank = (uint64_t)open->window->comm->rank;
    return diff_hash(open->epoch.seed, rank << 8 | (uint64_t)draw, 9) % 100 < percent;
}

static bool without(const rma_open_t *open, rma_name_t name)
{
    return rma_has(open->run->program.without, name);
}

static void fail(const rma_open_t *open, const rma_call_t *call, const char *text)
{
    rma_run_fail(open->run, open->window, open->epoch.sync, call, text);
}

static void expect_success(const rma_open_t *open, const rma_call_t *call, const char *what, int rc)
{
    if (MPI_SUCCESS != rc) {
        char text[MPI_MAX_ERROR_STRING + 64];
        char why[MPI_MAX_ERROR_STRING] = "";
        int length;
        MPI_Error_string(rc, why, &length);
        snprintf(text, sizeof text, "%s returned %s", what, why);
        fail(open, call, text);
    }
}

#define CALL(open, function, ...) expect_success(open, NULL, #function, function(__VA_ARGS__))

/* ---- 1. ---- */

static int by_order(const void *left, const void *right)
{
    const rma_task_t *a = *(rma_task_t *const *)left;
    const rma_task_t *b = *(rma_task_t *const *)right;
    return (a->order > b->order) - (a->order < b->order);
}

static void *reserve(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    if (NULL == memory) {
        fprintf(stderr, "random_windows: no memory for an epoch\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

static void make_tasks(rma_open_t *open)
{
    const rma_epoch_t *epoch = &open->epoch;
    open->tasks = reserve((size_t)epoch->num_calls * sizeof *open->tasks);
    open->order = reserve((size_t)epoch->num_calls * sizeof(rma_task_t *));
    for (int i = 0; i < epoch->num_calls; ++i) {
        const rma_call_t *call = &epoch->calls[i];
        if (open->window->comm->rank == call->origin) {
            rma_task_t *task = &open->tasks[open->num_tasks];
            rma_task_make(task, call, &open->run->program);
            if (RMA_LOCK == epoch->sync) { /* one target after the other */
                task->order |= (uint64_t)call->slot->target << 48;
            }
            open->order[open->num_tasks++] = task;
        }
    }
    qsort(open->order, (size_t)open->num_tasks, sizeof(rma_task_t *), by_order);
}

static void store(rma_open_t *open, int step)
{
    rma_window_t *window = open->window;
    if (0 == step && window->bytes > 0) {
        memcpy(window->base, rma_model_memory(&window->model, window->comm->rank), window->bytes);
    }
    rma_model_store(&open->epoch, window->comm->rank, window->base);
}

static void store_under_lock(rma_open_t *open, int step)
{
    int rank = open->window->comm->rank;
    MPI_Win win = open->window->win;
    if (open->held) {
        CALL(open, MPI_Win_lock_all, 0, win);
        store(open, step);
        CALL(open, MPI_Win_sync, win);
    } else {
        CALL(open, MPI_Win_lock, MPI_LOCK_EXCLUSIVE, rank, 0, win);
        store(open, step);
        CALL(open, MPI_Win_unlock, rank, win);
    }
    MPI_Barrier(open->window->comm->comm);
}

/* lock_all around everything is for windows with one copy. */
static bool is_unified(MPI_Win win)
{
    int *model = NULL;
    int found = 0;
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found);
    return found && MPI_WIN_UNIFIED == *model;
}

void rma_epoch_prepare(rma_open_t *open, rma_run_t *run, rma_window_t *window, int number, int step)
{
    const diff_comm_t *comm = window->comm;
    *open = (rma_open_t){.run = run, .window = window, .locked = -1};
    rma_epoch_draw(&open->epoch, &run->program, number, step, comm->size);
    bool last = step + 1 == run->program.steps;
    open->next_sync = last ? RMA_FENCE : rma_epoch_sync(&run->program, number, step + 1);
    open->held =
        RMA_LOCK_ALL == open->epoch.sync && agreed(open, DRAW_HELD, 50) && is_unified(window->win);
    make_tasks(open);
    if (rma_epoch_passive(open->epoch.sync)) {
        store_under_lock(open, step);
    } else {
        store(open, step);
    }
    for (int rank = 0; rank < comm->size; ++rank) {
        rma_model_store(&open->epoch, rank, rma_model_memory(&window->model, rank));
    }
    rma_model_apply(&window->model, &open->epoch, open->tasks, open->num_tasks);
}

/* ---- 2. ---- */

/* Some ranks come late: up to 1 ms, asleep, so that the others get the CPU. */
static void be_late(const rma_open_t *open)
{
    if (mine(open, DRAW_LATE, 20)) {
        struct timespec pause = {0, (long)(open->epoch.seed >> 8 & 0xfffff)};
        nanosleep(&pause, NULL);
    }
}

static int assertion(const rma_open_t *open, bool true_now, int assertion)
{
    rma_name_t name = MPI_MODE_NOCHECK == assertion ? RMA_NOCHECK : RMA_ASSERTS;
    return true_now && !without(open, name) ? assertion : 0;
}

/* Whether nobody writes into this rank's memory. */
static bool only_read(const rma_open_t *open)
{
    for (int i = 0; i < open->epoch.num_calls; ++i) {
        const rma_call_t *call = &open->epoch.calls[i];
        if (call->slot->target == open->window->comm->rank && rma_call_sends(call->name)) {
            return false;
        }
    }
    return true;
}

static MPI_Group make_group(const rma_open_t *open, bool of_targets)
{
    const diff_comm_t *comm = open->window->comm;
    int *ranks = reserve((size_t)comm->size * sizeof *ranks);
    int num = 0;
    for (int other = 0; other < comm->size; ++other) {
        bool access = of_targets ? rma_epoch_access(&open->epoch, comm->rank, other)
                                 : rma_epoch_access(&open->epoch, other, comm->rank);
        if (access) {
            ranks[num++] = other;
        }
    }
    MPI_Group all;
    MPI_Group some;
    MPI_Win_get_group(open->window->win, &all);
    MPI_Group_incl(all, num, ranks, &some);
    MPI_Group_free(&all);
    free(ranks);
    return some;
}

static void begin_pscw(rma_open_t *open)
{
    MPI_Win win = open->window->win;
    int nocheck = assertion(open, agreed(open, DRAW_NOCHECK, 30), MPI_MODE_NOCHECK);
    int noput = assertion(open, only_read(open), MPI_MODE_NOPUT);
    open->origins = make_group(open, false);
    open->targets = make_group(open, true);
    CALL(open, MPI_Win_post, open->origins, nocheck | noput, win);
    if (0 != nocheck) {
        MPI_Barrier(open->window->comm->comm);
    }
    be_late(open);
    CALL(open, MPI_Win_start, open->targets, nocheck, win);
}

void rma_epoch_begin(rma_open_t *open)
{
    MPI_Win win = open->window->win;
    be_late(open);
    if (RMA_FENCE == open->epoch.sync) {
        int noprecede = assertion(open, agreed(open, DRAW_NOPRECEDE, 50), MPI_MODE_NOPRECEDE);
        int noput = assertion(open, only_read(open), MPI_MODE_NOPUT);
        CALL(open, MPI_Win_fence, noprecede | noput, win);
    } else if (RMA_PSCW == open->epoch.sync) {
        begin_pscw(open);
    } else if (RMA_LOCK_ALL == open->epoch.sync && !open->held) {
        int nocheck = assertion(open, agreed(open, DRAW_NOCHECK, 30), MPI_MODE_NOCHECK);
        CALL(open, MPI_Win_lock_all, nocheck, win);
    }
}

/* ---- 3. ---- */

static void finish_request(rma_open_t *open, rma_task_t *task)
{
    int done = 0;
    if (0 == (task->call->seed & 2)) {
        expect_success(open, task->call, "MPI_Wait", MPI_Wait(&task->request, MPI_STATUS_IGNORE));
        return;
    }
    while (!done) {
        int rc = MPI_Test(&task->request, &done, MPI_STATUS_IGNORE);
        if (MPI_SUCCESS != rc) {
            expect_success(open, task->call, "MPI_Test", rc);
            return;
        }
    }
}

static void conclude(rma_open_t *open, rma_task_t *task)
{
    char text[256];
    if (!task->issued) {
        return;
    }
    if (MPI_REQUEST_NULL != task->request) {
        finish_request(open, task);
    }
    if (!rma_task_conclude(task, text, sizeof text)) {
        fail(open, task->call, text);
    }
}

/* Calls to a target (-1: all) are complete on this side. */
static void conclude_all(rma_open_t *open, int target)
{
    for (int i = 0; i < open->made; ++i) {
        if (target < 0 || target == open->order[i]->call->slot->target) {
            conclude(open, open->order[i]);
        }
    }
}

static void flush(rma_open_t *open, int target, uint64_t which, bool may_be_local)
{
    MPI_Win win = open->window->win;
    switch (which % (may_be_local && !without(open, RMA_LOCAL) ? 4 : 2)) {
    case 0:
        CALL(open, MPI_Win_flush, target, win);
        break;
    case 1:
        CALL(open, MPI_Win_flush_all, win);
        target = -1;
        break;
    case 2:
        CALL(open, MPI_Win_flush_local, target, win);
        break;
    default:
        CALL(open, MPI_Win_flush_local_all, win);
        target = -1;
        break;
    }
    conclude_all(open, target);
}

/* They end within the epoch. */
static void finish_requests(rma_open_t *open)
{
    for (int i = 0; i < open->made; ++i) {
        if (MPI_REQUEST_NULL != open->order[i]->request) {
            conclude(open, open->order[i]);
        }
    }
}

static void unlock(rma_open_t *open)
{
    if (open->locked >= 0) {
        finish_requests(open);
        CALL(open, MPI_Win_unlock, open->locked, open->window->win);
        conclude_all(open, open->locked);
        open->locked = -1;
    }
}

static void lock(rma_open_t *open, int target)
{
    int rank = open->window->comm->rank;
    if (open->locked != target) {
        unlock(open);
        bool exclusive =
            rma_epoch_exclusive(&open->epoch, open->run->program.without, rank, target);
        CALL(open, MPI_Win_lock, exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0,
             open->window->win);
        open->locked = target;
    }
}

static void issue_to_nobody(rma_open_t *open, rma_task_t *task, const rma_place_t *place)
{
    MPI_Request request = MPI_REQUEST_NULL;
    expect_success(open, task->call, "a call to MPI_PROC_NULL",
                   rma_task_issue(task, place, MPI_PROC_NULL, &request));
    expect_success(open, task->call, "MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static bool is_lost(const rma_open_t *open, const rma_task_t *task)
{
    const rma_options_t *o = open->run->options;
    if (RMA_HANG == o->fault && 0 == open->run->world_rank) {
        pause();
    }
    return RMA_LOSE == o->fault && o->lost == task->call->name && 0 == open->window->comm->rank;
}

static void issue(rma_open_t *open, rma_task_t *task)
{
    const rma_call_t *call = task->call;
    int target = call->slot->target;
    rma_place_t place = rma_window_place(open->window, target);
    if (0 == (call->seed >> 8) % 16 && !without(open, RMA_NOBODY)) {
        issue_to_nobody(open, task, &place);
    }
    if (!is_lost(open, task)) {
        expect_success(open, call, "the call",
                       rma_task_issue(task, &place, target, &task->request));
    }
    task->issued = true;
    ++open->run->calls;
}

bool rma_epoch_call(rma_open_t *open)
{
    if (open->made == open->num_tasks) {
        unlock(open); /* nobody who waits for it is to wait for what this rank does next */
        return false;
    }
    rma_task_t *task = open->order[open->made];
    const rma_call_t *call = task->call;
    int target = call->slot->target;
    bool passive = rma_epoch_passive(open->epoch.sync);
    if (RMA_LOCK == open->epoch.sync) {
        lock(open, target);
    }
    if (call->flush_before) {
        flush(open, target, call->seed >> 12, false);
    }
    issue(open, task);
    ++open->made;
    if (MPI_REQUEST_NULL != task->request && 0 != (call->seed >> 4 & 1)) {
        conclude(open, task);
    } else if (passive && 0 == (call->seed >> 16) % 5) {
        flush(open, target, call->seed >> 20, true);
    }
    return true;
}

/* ---- 4. ---- */

static void wait_for_origins(rma_open_t *open)
{
    MPI_Win win = open->window->win;
    int done = !mine(open, DRAW_TEST, 30);
    if (done) {
        CALL(open, MPI_Win_wait, win);
    }
    while (!done) {
        int rc = MPI_Win_test(win, &done);
        if (MPI_SUCCESS != rc) {
            expect_success(open, NULL, "MPI_Win_test", rc);
            return;
        }
    }
}

static void end_held(rma_open_t *open)
{
    MPI_Win win = open->window->win;
    if (mine(open, DRAW_FLUSH_EACH, 50)) {
        for (int target = 0; target < open->window->comm->size; ++target) {
            CALL(open, MPI_Win_flush, target, win);
        }
    } else {
        CALL(open, MPI_Win_flush_all, win);
    }
}

static void end_fence(rma_open_t *open)
{
    bool fence_next = RMA_FENCE == open->next_sync;
    int nosucceed = assertion(open, agreed(open, DRAW_NOSUCCEED, 50), MPI_MODE_NOSUCCEED);
    int nostore = assertion(open, mine(open, DRAW_NOSTORE, 50), MPI_MODE_NOSTORE);
    /* locks may follow only where no epoch of fences is open */
    CALL(open, MPI_Win_fence, (fence_next ? nosucceed : MPI_MODE_NOSUCCEED) | nostore,
         open->window->win);
}

void rma_epoch_end(rma_open_t *open)
{
    MPI_Win win = open->window->win;
    be_late(open);
    finish_requests(open);
    if (RMA_FENCE == open->epoch.sync) {
        end_fence(open);
    } else if (RMA_PSCW == open->epoch.sync) {
        CALL(open, MPI_Win_complete, win);
        wait_for_origins(open);
        MPI_Group_free(&open->origins);
        MPI_Group_free(&open->targets);
    } else if (open->held) {
        end_held(open);
    } else if (RMA_LOCK_ALL == open->epoch.sync) {
        CALL(open, MPI_Win_unlock_all, win);
    }
    conclude_all(open, -1);
    if (rma_epoch_passive(open->epoch.sync)) {
        MPI_Barrier(open->window->comm->comm);
    }
}

/* ---- 5. ---- */

static void compare(rma_open_t *open)
{
    rma_window_t *window = open->window;
    ptrdiff_t at;
    if (RMA_FLIP_WINDOW == open->run->options->fault && window->bytes > 0) {
        window->base[open->epoch.seed % window->bytes] ^= 0x10;
    }
    if (rma_window_right(window, &at)) {
        return;
    }
    char text[256];
    size_t slot = at < 0 ? 0 : (size_t)at / window->plan->slot_bytes;
    snprintf(text, sizeof text,
             "byte %td of %zu of the window (slot %zu) is 0x%02x, expected 0x%02x", at,
             window->bytes, slot, window->base[at], rma_window_expected(window, at));
    const rma_call_t *last = NULL; /* that used the slot */
    for (int i = 0; i < open->epoch.num_calls; ++i) {
        const rma_call_t *call = &open->epoch.calls[i];
        bool there = call->slot->target == window->comm->rank &&
                     slot == call->slot->begin / window->plan->slot_bytes;
        last = there && rma_call_sends(call->name) ? call : last;
    }
    fail(open, last, text);
    memcpy(window->base, rma_model_memory(&window->model, window->comm->rank), window->bytes);
}

static void compare_under_lock(rma_open_t *open)
{
    int rank = open->window->comm->rank;
    MPI_Win win = open->window->win;
    if (open->held) {
        CALL(open, MPI_Win_sync, win);
        compare(open);
        CALL(open, MPI_Win_unlock_all, win);
    } else {
        CALL(open, MPI_Win_lock, MPI_LOCK_SHARED, rank, 0, win);
        compare(open);
        CALL(open, MPI_Win_unlock, rank, win);
    }
}

void rma_epoch_check(rma_open_t *open)
{
    if (rma_epoch_passive(open->epoch.sync)) {
        compare_under_lock(open);
    } else {
        compare(open);
    }
    for (int i = 0; i < open->num_tasks; ++i) {
        rma_task_free(&open->tasks[i]);
    }
    rma_epoch_free(&open->epoch);
    free(open->tasks);
    free(open->order);
}
