/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Rounds: each member says something to its node, once, and reads what others say.
 *
 *   1. The member writes its contribution: into its line, beside the number of the round, or into
 *      its box.
 *   2. It stores the number of the round.
 *   3. Others wait for that number, and read.
 *
 * There are DEPTH lines and boxes, in turns.  Those of round r are written again in round r +
 * DEPTH, by which all must have begun round r + 1, so they have read those of round r:
 * shnode_begin_round waits for that, unless it is known.  Most calls wait for all members anyway.
 * The root of broadcasts does not, so it may be ahead of others. A call of 8 bytes is one round,
 * and moves one cache line from each member to each other.
 */
#include "node.h"

static struct line *line_of(int rank, uint64_t round)
{
    return &T.controls[rank]->lines[round % DEPTH];
}

static void wait_for(int rank, uint64_t round)
{
    shnode_wait(&line_of(rank, round)->round, round, rank + 1);
}

static void wait_for_others(uint64_t round)
{
    for (int i = 0; i < T.size; i++) {
        if (i != T.rank) {
            wait_for(i, round);
        }
    }
    T.seen = round;
}

/* Where the contribution goes: 1. */
unsigned char *shnode_begin_round(size_t bytes)
{
    T.round++;
    if (T.seen + DEPTH <= T.round) {
        wait_for_others(T.round + 1 - DEPTH);
    }
    struct line *line = line_of(T.rank, T.round);
    line->bytes = (uint32_t)bytes;
    return bytes <= LINE_DATA ? line->data : T.mine->boxes[T.round % DEPTH];
}

/* 2.  reachable: this PE reaches the memory that the call is about, of all members. */
void shnode_publish(bool reachable)
{
    struct line *line = line_of(T.rank, T.round);
    line->reachable = reachable;
    atomic_store(&line->round, T.round);
    shnode_wake(T.rank + 1);
}

void shnode_wait_for(int rank)
{
    if (rank != T.rank) {
        wait_for(rank, T.round);
    }
}

/* 3.  Whether all members reach it. */
bool shnode_wait_for_all(void)
{
    wait_for_others(T.round);
    bool reachable = true;
    for (int i = 0; i < T.size; i++) {
        reachable &= line_of(i, T.round)->reachable != 0;
    }
    return reachable;
}

size_t shnode_contribution_bytes(int rank)
{
    return line_of(rank, T.round)->bytes;
}

const void *shnode_contribution(int rank)
{
    const struct line *line = line_of(rank, T.round);
    return line->bytes <= LINE_DATA ? line->data : T.controls[rank]->boxes[T.round % DEPTH];
}
