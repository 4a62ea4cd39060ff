/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Work of a large call, in items that any member can do: all memory of the node is within reach of each.
 *
 *   1. Each owner has a counter of its items.  A member takes items of the owner that it is, then of the others.
 *   2. It adds what it has done to the leader's sum.  Who completes the sum wakes those who sleep.
 *   3. All wait for the sum.
 *
 * So nobody waits for a member that has no CPU at the moment: those that run do its part.
 * All members must have begun the call before (a round).  Counters are two, in turns; the idle ones are set to 0 in 1, when all
 * have left the work that used them, and are used when all have come to the next.
 */
#include "node.h"

static size_t do_items_of(const struct work *work, int owner, _Atomic uint64_t *next)
{
    size_t done = 0;
    while (atomic_load_explicit(next, memory_order_relaxed) < work->items) {
        uint64_t item = atomic_fetch_add(next, 1);
        if (item < work->items) {
            work->item(work, owner, item);
            done++;
        }
    }
    return done;
}

void shnode_do_work(const struct work *work)
{
    uint64_t turn = ++T.works % 2, all = (uint64_t)work->owners * work->items, done = 0;
    atomic_store_explicit(&T.mine->next[1 - turn], 0, memory_order_relaxed);
    if (T.rank == 0) {
        atomic_store_explicit(&T.mine->done[1 - turn], 0, memory_order_relaxed);
    }
    for (int i = 0; i < work->owners; i++) { /* 1. */
        int owner = (T.rank + i) % work->owners;
        done += do_items_of(work, owner, &T.controls[owner]->next[turn]);
    }
    if (done > 0 && atomic_fetch_add(&T.leader->done[turn], done) + done == all) { /* 2. */
        shnode_wake(WORK_DONE);
    }
    shnode_wait(&T.leader->done[turn], all, WORK_DONE); /* 3. */
}
