/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Rounds of boxes (protocol: pwr_ompi/segment.h).
 */
#include "coll_poweraware_words.h"

static unsigned char *box(const coll_poweraware_call_t *call, int local)
{
    const pwr_segment_t *s = call->segment;
    return s->boxes + ((size_t)local * 2 + s->round % 2) * s->box_bytes;
}

static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* Round numbers wrap.  Whoever neither posts nor is read for this long gets a fresh number, so that
   numbers that are compared never are 2^31 apart. */
enum { REFRESH_ROUNDS = 1 << 29 };

static void forget_what_was_seen(pwr_segment_t *s, int num_local)
{
    for (int i = 0; i < num_local; ++i) {
        s->seen[i] = s->round - 2;
    }
}

void coll_poweraware_begin_round(coll_poweraware_call_t *call)
{
    pwr_segment_t *s = call->segment;
    ++s->round;
    if (0 == s->round % REFRESH_ROUNDS) {
        forget_what_was_seen(s, call->hierarchy->num_local);
    }
}

unsigned char *coll_poweraware_my_box(coll_poweraware_call_t *call)
{
    pwr_segment_t *s = call->segment;
    const pwr_hierarchy_t *h = call->hierarchy;
    for (int i = 0; i < h->num_local; ++i) {
        /* who posted in the last round has left the one before */
        if (i != h->my_local && is_before(s->seen[i], s->round - 1)) {
            coll_poweraware_wait(call, &s->lines[i].left, s->round - 2);
        }
    }
    return box(call, h->my_local);
}

void coll_poweraware_post_box(coll_poweraware_call_t *call)
{
    pwr_segment_t *s = call->segment;
    s->posted = s->round;
    pwr_flag_set(&s->lines[call->hierarchy->my_local].posted, s->round);
}

const unsigned char *coll_poweraware_read_box(coll_poweraware_call_t *call, int local)
{
    pwr_segment_t *s = call->segment;
    coll_poweraware_wait(call, &s->lines[local].posted, s->round);
    s->seen[local] = s->round;
    return box(call, local);
}

const unsigned char *coll_poweraware_rest_for_box(coll_poweraware_call_t *call, int local,
                                                  int leader)
{
    pwr_segment_t *s = call->segment;
    coll_poweraware_rest(call, &s->lines[local].posted, s->round, leader);
    s->seen[local] = s->round;
    return box(call, local);
}

void coll_poweraware_end_round(coll_poweraware_call_t *call)
{
    pwr_segment_t *s = call->segment;
    pwr_rank_lines_t *mine = &s->lines[call->hierarchy->my_local];
    if (s->round - s->posted >= REFRESH_ROUNDS) {
        s->posted = s->round;
        pwr_flag_set(&mine->posted, s->round); /* nobody reads my box of this round */
    }
    pwr_flag_set(&mine->left, s->round);
}
