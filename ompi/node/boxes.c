/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Rounds of boxes (protocol: pwr_ompi/boxes.h).
 */
#include "pwr_ompi/boxes.h"

_Static_assert(PWR_BOX_SETS >= 2 * PWR_BOX_BATCH && PWR_BOX_ROUNDS >= 2 * PWR_BOX_BATCH,
               "the multiple of a batch that is waited for is no earlier than the invariant says");

static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static unsigned line_of(uint32_t round)
{
    return round % PWR_BOX_ROUNDS;
}

/* The first round of the batch. */
static uint32_t batch_of(uint32_t round)
{
    return round / PWR_BOX_BATCH * PWR_BOX_BATCH;
}

/* This round's. */
static pwr_post_t *post_of(const pwr_boxes_t *b, int local)
{
    return &b->lines[local].posted[line_of(b->round)];
}

static unsigned char *set(const pwr_boxes_t *b, uint32_t round)
{
    return b->sets + round % PWR_BOX_SETS * b->set_bytes;
}

static unsigned char *box(const pwr_boxes_t *b, uint32_t round, int local, size_t bytes)
{
    return bytes <= PWR_BOX_INLINE ? b->lines[local].posted[line_of(round)].with.bytes
                                   : set(b, round) + (size_t)local * b->box_stride;
}

static unsigned char *whole_set(const pwr_boxes_t *b, int local, size_t bytes)
{
    return bytes <= PWR_BOX_INLINE ? post_of(b, local)->with.bytes : set(b, b->round);
}

/* Who shares a CPU goes to sleep without lingering. */
static void set_flag(const pwr_boxes_t *b, pwr_flag_t *flag)
{
    pwr_flag_publish(flag, b->round);
    if (pwr_boxes_are_crowded(b)) {
        pwr_fence();
    }
    pwr_flag_wake(flag);
}

/* Of several flags of one wait: only those that are not there, and the last one. */
static void wait_for_flag(const pwr_boxes_t *b, pwr_box_wait_t what, pwr_flag_t *flag,
                          uint32_t target, bool last)
{
    if (last || !pwr_flag_reached(flag, target)) {
        b->wait(b->who, what, flag, target);
    }
}

static void learn(pwr_boxes_t *b, uint32_t known)
{
    if (is_before(b->known, known)) {
        b->known = known;
    }
}

void pwr_boxes_enter(pwr_boxes_t *b, int num_local, int my_local, bool crowded)
{
    b->num_local = num_local;
    b->my_local = my_local;
    if (crowded) {
        pwr_flag_set(&b->control->crowded, 1);
    }
}

void pwr_boxes_begin(pwr_boxes_t *b, pwr_boxes_wait_fn_t wait, void *who)
{
    b->wait = wait;
    b->who = who;
    ++b->round;
    uint32_t old = b->round - PWR_BOX_ROUNDS;
    if (b->round - b->known >= PWR_BOX_REFRESH) {
        b->known = old; /* too little to know for this and any later round */
    }
    uint32_t *posted = &b->posted[line_of(b->round)];
    if (b->round - *posted >= PWR_BOX_REFRESH) {
        *posted = old; /* nobody waits for it */
        pwr_flag_set(&post_of(b, b->my_local)->flag, old);
    }
    if (b->round - b->left >= PWR_BOX_REFRESH) {
        b->left = old;
        pwr_flag_set(&b->lines[b->my_local].left, old);
    }
}

static int last_other(const pwr_boxes_t *b)
{
    int last = b->num_local - 1;
    return last == b->my_local ? last - 1 : last;
}

/* The invariant: all have ended the round that is depth before this one.  Who runs that far ahead
   waits until about half of the depth is free, instead of asking for every round. */
static void wait_until_free(pwr_boxes_t *b, unsigned depth)
{
    if (!is_before(b->known, b->round - depth + 1)) {
        return;
    }
    uint32_t target = batch_of(b->round - depth / 2);
    uint32_t least = b->round;
    for (int i = 0; i < b->num_local; ++i) {
        if (i != b->my_local) {
            pwr_flag_t *left = &b->lines[i].left;
            wait_for_flag(b, PWR_BOX_FREE, left, target, i == last_other(b));
            uint32_t ended = atomic_load_explicit(&left->value, memory_order_acquire);
            least = is_before(ended + 1, least) ? ended + 1 : least;
        }
    }
    learn(b, least);
}

static unsigned depth_for(size_t bytes)
{
    return bytes <= PWR_BOX_INLINE ? PWR_BOX_ROUNDS : PWR_BOX_SETS;
}

unsigned char *pwr_boxes_fill(pwr_boxes_t *b, size_t bytes)
{
    wait_until_free(b, depth_for(bytes));
    return box(b, b->round, b->my_local, bytes);
}

void pwr_boxes_join(pwr_boxes_t *b, int error)
{
    unsigned line = line_of(b->round);
    pwr_post_t *post = post_of(b, b->my_local);
    post->with.error = error;
    if (pwr_boxes_are_crowded(b)) {
        b->joined[line] += (uint32_t)b->num_local;
        pwr_flag_arrive(&b->control->joined[line], b->joined[line]);
        return;
    }
    b->posted[line] = b->round;
    set_flag(b, &post->flag);
}

/* The first num ranks of the node.  Returns the error of the first one that joined with one. */
static int wait_for_first(const pwr_boxes_t *b, int num, int last)
{
    bool counted = pwr_boxes_are_crowded(b);
    int error = 0;
    if (counted && num > 0) {
        unsigned line = line_of(b->round);
        wait_for_flag(b, PWR_BOX_JOINED, &b->control->joined[line], b->joined[line], true);
    }
    for (int i = 0; i < num; ++i) {
        pwr_post_t *post = post_of(b, i);
        if (!counted) {
            wait_for_flag(b, PWR_BOX_JOINED, &post->flag, b->round, i == last);
        }
        error = 0 == error ? post->with.error : error;
    }
    return error;
}

int pwr_boxes_wait_all(pwr_boxes_t *b)
{
    int error = wait_for_first(b, b->num_local, last_other(b));
    learn(b, b->round);
    return error;
}

int pwr_boxes_wait_below(const pwr_boxes_t *b)
{
    return wait_for_first(b, b->my_local, b->my_local - 1);
}

const unsigned char *pwr_boxes_read(const pwr_boxes_t *b, int local, size_t bytes)
{
    return box(b, b->round, local, bytes);
}

const unsigned char *pwr_boxes_read_last(const pwr_boxes_t *b, int local, size_t bytes)
{
    return box(b, b->round - 1, local, bytes);
}

unsigned char *pwr_boxes_area(pwr_boxes_t *b)
{
    wait_until_free(b, PWR_BOX_SETS);
    return set(b, b->round);
}

unsigned char *pwr_boxes_fill_set(pwr_boxes_t *b, size_t bytes)
{
    wait_until_free(b, depth_for(bytes));
    return whole_set(b, b->my_local, bytes);
}

void pwr_boxes_post(pwr_boxes_t *b, int error)
{
    pwr_post_t *post = post_of(b, b->my_local);
    post->with.error = error;
    post->with.known = b->known;
    b->posted[line_of(b->round)] = b->round;
    set_flag(b, &post->flag);
}

int pwr_boxes_wait_for(pwr_boxes_t *b, int local, pwr_boxes_wait_fn_t wait, void *who)
{
    pwr_post_t *post = post_of(b, local);
    wait(who, PWR_BOX_POSTED, &post->flag, b->round);
    learn(b, post->with.known);
    return post->with.error;
}

const unsigned char *pwr_boxes_read_set(const pwr_boxes_t *b, int local, size_t bytes)
{
    return whole_set(b, local, bytes);
}

void pwr_boxes_end(pwr_boxes_t *b)
{
    if (batch_of(b->left) != batch_of(b->round)) {
        b->left = b->round;
        set_flag(b, &b->lines[b->my_local].left);
    }
}
