/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions in the order of streams: no CPU waits for a GPU, no GPU for a CPU.
 *
 * The processes of a group share memory, and flags in the memory of their GPU:
 *
 *   arrived  of each member: its stream has come to call k, and its input is complete
 *   ended    of the group: the results of call k are there
 *
 * 1. A member that calls posts the offer of its buffers, and puts two operations into its stream:
 *    write arrived = k, wait for ended = k.  It does not wait.
 * 2. The first member finds all offers of call k when it calls, as a rule.  Then it puts into its
 *    stream: wait for arrived = k of the others, the kernel, write ended = k.
 * 3. Where some are not there, it does as the others do, and hands the call to a thread of its
 *    process, the server.  That waits for the offers, and does the same in a stream of its own.
 *
 * A stream that waits for a flag holds no multiprocessor, so nothing spins, neither there nor on a
 * CPU.  Members may be as late as they like, on the CPU or on the GPU.  Buffers that other
 * processes cannot open are copied through memory that they can, by the member's stream.
 *
 * Source: GGAS (Oden, Klenk, Froening), where GPUs reduce without their CPUs; the interface is that
 * of MPICH's stream communicators.
 */
#ifndef PWR_GPU_GROUP_H
#define PWR_GPU_GROUP_H

#include "pwr_gpu/reduce.h"

typedef struct pwr_gpu_group pwr_gpu_group_t;

/* Calls that a member may be ahead of the server before it waits for it. */
enum { PWR_GPU_GROUP_AHEAD = 64 };

/* Of the memory that a group of num shares, zeroed, aligned to 64. */
size_t pwr_gpu_group_bytes(int num);

/* Member me of num, whose calls go to stream, in the context that is current.  The first step of
   each member; NULL: this process cannot (pwr_gpu_why). */
pwr_gpu_group_t *pwr_gpu_group_new(void *shared, int num, int me, void *stream);
/* When all have made the first step.  Returns whether this member sees the others' flags. */
bool pwr_gpu_group_join(pwr_gpu_group_t *group);
/* When all have joined: the server begins.  Returns whether it does. */
bool pwr_gpu_group_start(pwr_gpu_group_t *group);

/* Puts a reduction into the member's stream; all members make the same calls in the same order.
   out NULL: no result here.  PWR_GPU_FAILED: this or an earlier call did not happen, and its
   results are not there. */
pwr_gpu_result_t pwr_gpu_group_reduce(pwr_gpu_group_t *group, const void *in, void *out,
                                      pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count);

/* Why, in any member; empty for a moment after it. */
const char *pwr_gpu_group_why(const pwr_gpu_group_t *group);

/* When the streams of all have ended, in any state of the group; the first member last.  NULL is
   allowed. */
void pwr_gpu_group_free(pwr_gpu_group_t *group);

#endif
