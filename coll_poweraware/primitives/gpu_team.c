/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How a communicator comes to its team (primitives/gpu_team.h).
 */
#include "primitives/gpu_team.h"

#include <stdlib.h>

#include "pwr_ompi/process.h"

enum step { NEVER = -1, NONE, MADE, JOINED, READY };

struct coll_poweraware_team {
    pwr_gpu_team_t *gpu;
    int32_t step;            /* of this rank */
    int32_t lowest, highest; /* of those that were heard in this call */
    bool ready;              /* all were, in a call before */
    pwr_gpu_member_t mine, members[PWR_GPU_MEMBERS];
};

static void drop(struct coll_poweraware_team *t)
{
    if (NULL != t->gpu) {
        pwr_gpu_team_close(t->gpu);
        pwr_gpu_team_free(t->gpu);
        t->gpu = NULL;
    }
    t->step = NEVER;
    t->ready = false;
}

void coll_poweraware_team_free(struct coll_poweraware_team *t)
{
    if (NULL != t) {
        drop(t);
        free(t);
    }
}

void coll_poweraware_team_drop(coll_poweraware_call_t *call)
{
    drop(call->team);
}

/* ---- messages ---- */

bool coll_poweraware_team_say(coll_poweraware_call_t *call, coll_poweraware_team_message_t *message)
{
    if (NULL == call->team) {
        call->team = calloc(1, sizeof *call->team);
    }
    struct coll_poweraware_team *t = call->team;
    message->step = NULL == t ? NEVER : t->step;
    if (NULL == t || NEVER == t->step) {
        return false;
    }
    if (NULL != t->gpu && !pwr_gpu_team_is_there(t->gpu)) {
        drop(t);
    }
    message->step = t->step;
    if (MADE == t->step) {
        message->member = t->mine;
    }
    return true; /* also where it was dropped just now: the others hear it */
}

bool coll_poweraware_team_hear(coll_poweraware_call_t *call, int local,
                               const coll_poweraware_team_message_t *message)
{
    struct coll_poweraware_team *t = call->team;
    t->lowest = 0 == local || message->step < t->lowest ? message->step : t->lowest;
    t->highest = 0 == local || message->step > t->highest ? message->step : t->highest;
    if (MADE == message->step) {
        t->members[local] = message->member;
    }
    return READY == t->lowest;
}

pwr_gpu_team_t *coll_poweraware_team(const coll_poweraware_call_t *call)
{
    return NULL != call->team && call->team->ready ? call->team->gpu : NULL;
}

/* ---- steps ---- */

bool coll_poweraware_team_go_on(coll_poweraware_call_t *call)
{
    struct coll_poweraware_team *t = call->team;
    bool ok = true;
    if (t->lowest < NONE) {
        drop(t);
        return false;
    }
    if (!t->ready && READY == t->lowest) {
        t->ready = true;
        pwr_say(2, "kernels of %d ranks reduce at once", call->hierarchy->num_local);
    }
    if (t->ready || t->lowest != t->highest) {
        return false;
    }
    switch (t->step) {
    case NONE:
        t->gpu = pwr_gpu_team_new(call->segment->control->gpu.team, call->hierarchy->num_local,
                                  call->hierarchy->my_local, &t->mine);
        ok = NULL != t->gpu;
        break;
    case MADE:
        ok = pwr_gpu_team_join(t->gpu, t->members);
        break;
    default:
        ok = pwr_gpu_team_probe(t->gpu);
    }
    if (ok) {
        ++t->step;
    } else {
        pwr_say(2, "no kernels of all ranks at once: %s", pwr_gpu_why());
        drop(t);
    }
    return true;
}
