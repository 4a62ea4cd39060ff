/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is checked of a barrier: nobody leaves before the last rank enters.  In checked calls one
 * rank, another in each, is late; the others tell it when they have left.  If it hears of one
 * before it enters, that one left too early.  No clocks are compared, so this holds across
 * machines, and a message that takes longer than the late rank waits can hide a fault but never
 * invent one.
 */
#include "config.h"

#include "osu.h"

enum { LATE_US = 2000, TAG_LEFT = 1 };

/* Of the late rank: who left before it entered; -1: nobody. */
static int early;

/* Tag 0 is that of the timed calls. */
static int late_rank(const pwr_osu_call_t *call)
{
    return call->tag == 0 ? MPI_PROC_NULL : (int)(call->tag % (unsigned)call->np);
}

static void fill(const pwr_osu_call_t *call)
{
    early = -1;
    if (call->rank != late_rank(call)) {
        return;
    }
    double end = MPI_Wtime() + 1e-6 * LATE_US;
    while (early < 0 && MPI_Wtime() < end) {
        int heard;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_LEFT, call->comm, &heard, &status);
        early = heard ? status.MPI_SOURCE : -1;
    }
}

static bool check(const pwr_osu_call_t *call, pwr_osu_error_t *error)
{
    int late = late_rank(call);
    if (late == MPI_PROC_NULL) {
        return true;
    }
    if (call->rank != late) {
        MPI_Send(NULL, 0, MPI_CHAR, late, TAG_LEFT, call->comm);
        return true;
    }
    for (int i = 1; i < call->np; i++) {
        MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, TAG_LEFT, call->comm, MPI_STATUS_IGNORE);
    }
    *error = (pwr_osu_error_t){
        .where = "left before this rank entered: rank", .peer = early, .no_byte = true};
    return early < 0;
}

const pwr_osu_data_t pwr_osu_nothing = {
    .datatype = "none",
    .unit = 0,
    .send_bytes = pwr_osu_no_bytes,
    .recv_bytes = pwr_osu_no_bytes,
    .fill = fill,
    .check = check,
};
