/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ranks whose kernels are on their GPUs at the same time: on one GPU by MPS, or on a GPU each that
 * can write into the memory of the others.  They reduce among them (poweraware_device.h), in
 * kernels of ours or of the program.  No CPU has a part in it.
 *
 * Kernels that wait hold multiprocessors: those of all teams, at most four of a process, together
 * half of a GPU's, so that none waits for what has no room, and other streams get on.  They poll
 * for about 40 us, then once a microsecond, and look twice in a millisecond whether the process
 * that they wait for has died (life.h). H200: 16 blocks of each of 7 ranks that only poll take 7 W
 * more than none (measured).
 */
#ifndef PWR_GPU_TEAM_H
#define PWR_GPU_TEAM_H

#include "pwr_gpu/reduce.h"

struct poweraware_team;
typedef struct pwr_gpu_team pwr_gpu_team_t;

/* What a member tells the others. */
typedef struct pwr_gpu_member {
    pwr_gpu_handle_t window;
    pwr_gpu_uuid_t device;
    int multiprocessors;
} pwr_gpu_member_t;

/* Of the memory that a team shares, zeroed, aligned to 64. */
enum { PWR_GPU_TEAM_BYTES = 64 * (1 + PWR_GPU_MEMBERS) };

/* Member me of num, in the context that this process offers from.  The first step of each member.
   NULL: this process cannot (pwr_gpu_why). */
pwr_gpu_team_t *pwr_gpu_team_new(void *shared, int num, int me, pwr_gpu_member_t *mine);
/* When all have made the first step, with what they say: [num].  Returns whether this member
   reaches the others' memory. */
bool pwr_gpu_team_join(pwr_gpu_team_t *team, const pwr_gpu_member_t *members);
/* When all have joined, all of them at about the same time.  Returns whether their kernels are on
   their GPUs at once, and loaded. */
bool pwr_gpu_team_probe(pwr_gpu_team_t *team);
/* Whether the context is still that of the first step. */
bool pwr_gpu_team_is_there(const pwr_gpu_team_t *team);

/* Puts a reduction into the member's stream; all members make the same calls in the same order.
   root < 0: all have the result.  in, out: any memory of the GPU.  PWR_GPU_FAILED: this or an
   earlier call did not happen, and its results are not there. */
pwr_gpu_result_t pwr_gpu_team_reduce(pwr_gpu_team_t *team, void *stream, const void *in, void *out,
                                     pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count, int root);

/* Whether that takes less time than a group (group.h) that has all ranks on one GPU. */
bool pwr_gpu_team_is_faster(const pwr_gpu_team_t *team, pwr_gpu_type_t type, size_t count);

/* For kernels of the program: its address there, and the most blocks of a grid. */
struct poweraware_team *pwr_gpu_team_on_device(const pwr_gpu_team_t *team, int *blocks);

/* When the streams of all have ended, in any state of the team: first step, then, when all have
   made it, the second.  NULL is allowed. */
void pwr_gpu_team_close(pwr_gpu_team_t *team);
void pwr_gpu_team_free(pwr_gpu_team_t *team);

/* The same in a stream of the team's own, to its end. */
pwr_gpu_result_t pwr_gpu_team_reduce_now(pwr_gpu_team_t *team, const void *in, void *out,
                                         pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count,
                                         int root);

#endif
