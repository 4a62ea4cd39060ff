/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Making a call and seeing whether it was right.
 */
#include "call.h"

#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Some ranks come late: up to 1 ms, asleep, so that the others get the CPU. */
static void be_late(const diff_call_t *call)
{
    uint64_t random = diff_hash(call->plan->seed, (uint64_t)call->comm->rank, 0x6C617465);
    if (call->plan->late && 0 != random % 3) {
        struct timespec pause = {0, (long)(random >> 8) % 1000000};
        nanosleep(&pause, NULL);
    }
}

void diff_call_build(diff_call_t *call, const diff_plan_t *plan, const diff_comm_t *comm)
{
    memset(call, 0, sizeof *call);
    call->plan = plan;
    call->comm = comm;
    call->root = (int)(plan->root % (unsigned)comm->size);
    call->contents_seed = plan->seed;
    call->request = MPI_REQUEST_NULL;
    for (int which = 0; which < 2; ++which) {
        call->side[which].num_layouts = plan->num_signatures;
        diff_plan_layouts(plan, comm->rank, which, call->side[which].layouts);
    }
    diff_build_sides(call);
    diff_oracle_fill(call);
}

void diff_call_free(diff_call_t *call)
{
    for (int which = 0; which < 2; ++which) {
        diff_side_t *side = &call->side[which];
        for (int i = 0; i < side->num_layouts; ++i) {
            diff_layout_free(&side->layouts[i]);
        }
        free(side->blocks);
        free(side->counts);
        free(side->displs);
        free(side->types);
        diff_buffer_free(&side->buffer);
    }
}

static bool fine(diff_call_t *call, const char *what, int rc)
{
    if (MPI_SUCCESS != rc) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        MPI_Error_string(rc, text, &length);
        snprintf(call->why, sizeof call->why, "%s returned %.200s", what, text);
    }
    return MPI_SUCCESS == rc;
}

/* The first start of a persistent request; the second is finished like a nonblocking call. */
static bool start_persistent(diff_call_t *call)
{
    if (!fine(call, "start", MPI_Start(&call->request)) ||
        !fine(call, "wait", MPI_Wait(&call->request, MPI_STATUS_IGNORE)) ||
        !diff_oracle_check(call, false)) {
        return false;
    }
    call->contents_seed = diff_mix(call->contents_seed);
    diff_oracle_fill(call);
    be_late(call);
    call->enter_ns = now_ns();
    return fine(call, "second start", MPI_Start(&call->request));
}

bool diff_call_start(diff_call_t *call)
{
    diff_mode_t mode = call->plan->mode;
    be_late(call);
    diff_device_t device;
    diff_device_enter(&device, call);
    call->enter_ns = now_ns();
    int rc =
        diff_mpi_call(call->plan->collective, mode, &call->args, call->comm->size, &call->request);
    diff_device_leave(&device, call);
    if (!fine(call, "the call", rc)) {
        return false;
    }
    return DIFF_PERSISTENT == mode ? start_persistent(call) : true;
}

bool diff_call_finish(diff_call_t *call)
{
    bool ok = true;
    if (MPI_REQUEST_NULL != call->request) {
        ok = fine(call, "wait", MPI_Wait(&call->request, MPI_STATUS_IGNORE));
    }
    call->leave_ns = now_ns();
    if (DIFF_PERSISTENT == call->plan->mode && MPI_REQUEST_NULL != call->request) {
        MPI_Request_free(&call->request);
    }
    return ok;
}
