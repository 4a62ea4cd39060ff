/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which calls ask whether all ranks have their buffers on a GPU (algorithms/gpu.c).
 *
 * To ask takes a round of boxes, and all ranks have to ask in the same call.  So nobody asks before
 * everybody has had such a buffer, and programs without GPUs never do:
 *
 * 1. A rank that stages a call which a GPU could do wants the GPU from then on: it counts itself,
 *    once, in the segment.
 * 2. On one node: when all of them do, the lowest rank says from which Allreduce, Allgather or
 *    Alltoall on: the one after that which it is about to make.  No rank ends one of these before
 *    all have begun it, so all know by then.
 *    On several: when ranks add up what experiments took (choose/learn.h) they count who wants,
 * too. So where nothing is learnt nobody asks, unless he names the algorithm.
 * 3. From there on each call that a GPU could do asks.  Where some rank's buffer was elsewhere a
 *    few times in a row, calls of that collective and size ask once in a while only.
 */
#ifndef COLL_POWERAWARE_DEVICE_H
#define COLL_POWERAWARE_DEVICE_H

#include "algorithms/algorithms.h"
#include "module.h"

/* 1: this rank stages a call.  On several nodes stock functions that know such memory may be faster
   than we are: there nobody wants. */
void coll_poweraware_want_gpu(mca_coll_poweraware_module_t *module,
                              coll_poweraware_collective_t collective);

/* 2: at the begin of each call of a rank that wants, which is counted already.  Returns whether
   calls ask from this one on. */
bool coll_poweraware_agree_on_gpu(mca_coll_poweraware_module_t *module,
                                  coll_poweraware_collective_t collective, size_t bytes);

/* 2: how many ranks want, as all have counted in the same call. */
void coll_poweraware_hear_gpu_wanted(mca_coll_poweraware_module_t *module, int64_t ranks);

/* 3: the algorithm that asks; NULL: this call does not.  Who names that algorithm asks from the
   first call on.  The module has a state. */
const coll_poweraware_algorithm_t *
coll_poweraware_gpu_algorithm(mca_coll_poweraware_module_t *module,
                              coll_poweraware_collective_t collective,
                              const coll_poweraware_args_t *args, size_t bytes);

/* After an algorithm that asks: whether the call is made.  The same on all ranks. */
bool coll_poweraware_gpu_has_done(mca_coll_poweraware_module_t *module,
                                  coll_poweraware_collective_t collective, size_t bytes);

#endif
