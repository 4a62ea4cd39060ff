/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A communicator's team of kernels (pwr_gpu/team.h), in the messages of rounds that its ranks have
 * anyway.
 *
 * To make a team takes three steps, each when all ranks have made the one before.  A rank says in
 * each message which one it has made; all hear the same, so all make the next one in the same call.
 * One that cannot says so, and then there is never a team.
 */
#ifndef COLL_POWERAWARE_GPU_TEAM_H
#define COLL_POWERAWARE_GPU_TEAM_H

#include <stdint.h>

#include "primitives/primitives.h"
#include "pwr_gpu/team.h"

typedef struct coll_poweraware_team_message {
    int32_t step;
    pwr_gpu_member_t member; /* of the first step */
} coll_poweraware_team_message_t;

/* What this rank says.  Returns whether there may be a team: who is told no hears nobody. */
bool coll_poweraware_team_say(coll_poweraware_call_t *call,
                              coll_poweraware_team_message_t *message);
/* What local says; of all, in their order.  After the last one: whether the team is ready. */
bool coll_poweraware_team_hear(coll_poweraware_call_t *call, int local,
                               const coll_poweraware_team_message_t *message);
/* Whether it was, in the call before this one. */
pwr_gpu_team_t *coll_poweraware_team(const coll_poweraware_call_t *call);
/* The next step; when all were heard.  Returns whether all make one, the same on all. */
bool coll_poweraware_team_go_on(coll_poweraware_call_t *call);

/* There is none from the next call on. */
void coll_poweraware_team_drop(coll_poweraware_call_t *call);
void coll_poweraware_team_free(struct coll_poweraware_team *team);

#endif
