/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Boxes: small messages between the ranks of a node, in numbered rounds.
 *
 * All ranks of a node go through the same rounds, each at its own pace.  A round is of one of two
 * kinds, known to all of its ranks:
 *
 * together  every rank fills its box and joins; whoever wants to waits for all and reads any box
 * one       one rank, known to all, fills the area of all boxes and posts; the others read it
 *
 * A rank begins the round, fills and joins or posts if that is its part, waits and reads as much as
 * it likes, and ends the round: from then on it reads nothing of it.  Who is to post for all what
 * it makes of the messages of a round together may end that round with its own, the one after it.
 *
 * Shared: on cache lines of their own, of round r at r % DEPTH
 *
 *   posted[]  of each rank: the last round with this line in which it joined or posted
 *   joined[]  of the node: how many have joined, counted instead of `posted` where ranks share
 *             CPUs: the last to join then wakes everybody at once, and nobody is woken in vain
 *   left      of each rank: it has ended this round, and perhaps some after it
 *
 * and SETS sets of boxes: round r uses set r % SETS.  Messages of up to PWR_BOX_INLINE bytes lie
 * beside the flag instead: on its cache line and the one that processors fetch with it.
 *
 * Invariant: nobody writes to what round r uses of either before every rank has ended the last
 * round that used the same, r - DEPTH or r - SETS.  Whoever has seen all join round r knows that
 * all have ended the rounds before it, and tells it (`known`) with every post.  So where
 * collectives are not all from one root, nobody looks at `left`; and rounds in which every rank
 * waits for all are not even written there.
 *
 * `left` is written once per BATCH rounds, because whoever waits for it takes its line away from
 * the rank that writes it: at the end of the first round with another r / BATCH.  So one waits for
 * a multiple of BATCH, and every rank that ends this round or a later one gets there.  A rank that
 * ends none of them waits for all in each, as whoever asks does, who then knows without `left`.
 *
 * Round numbers wrap.  They are compared by signed distance, so a `posted` or `left` that nobody
 * has had a reason to write for REFRESH rounds is written all the same, and a `known` as old is
 * forgotten.
 */
#ifndef PWR_OMPI_BOXES_H
#define PWR_OMPI_BOXES_H

#include <stddef.h>
#include <stdint.h>

#include "pwr/wait.h"

enum {
    PWR_BOX_ROUNDS = 16,    /* DEPTH, a power of 2 */
    PWR_BOX_SETS = 8,       /* a power of 2, at least twice BATCH */
    PWR_BOX_BATCH = 4,      /* a power of 2 */
    PWR_BOX_INLINE = 112,   /* aligned to 16 */
    PWR_BOX_LARGEST = 8192, /* a box much larger than this is no faster than a slot */
    PWR_BOX_REFRESH = 1 << 29
};

/* A flag with what travels on its line. */
typedef union pwr_post {
    pwr_flag_t flag;
    struct {
        uint32_t of_flag[2];
        int32_t error;  /* OMPI_* code of who posted or joined: not 0: its message means nothing */
        uint32_t known; /* one: all ranks have ended all rounds before this one */
        unsigned char bytes[PWR_BOX_INLINE];
    } with;
} pwr_post_t;

/* Shared, per rank of the node. */
typedef struct pwr_rank_lines {
    _Alignas(128) pwr_post_t posted[PWR_BOX_ROUNDS];
    pwr_flag_t left;
} pwr_rank_lines_t;

/* Shared, once per node. */
typedef struct pwr_boxes_control {
    pwr_flag_t joined[PWR_BOX_ROUNDS];
    pwr_flag_t
        crowded; /* not 0: some rank of the node shares its CPU; set before the first round */
} pwr_boxes_control_t;

/* What a round waits for: nobody reads my box of an earlier round; all have joined; one has
   posted. */
typedef enum pwr_box_wait { PWR_BOX_FREE, PWR_BOX_JOINED, PWR_BOX_POSTED } pwr_box_wait_t;

/* Waits until flag reaches target.  Called at least once wherever a round has to look, also where
   the flag is there already: whoever learns from waits learns that, too. */
typedef void (*pwr_boxes_wait_fn_t)(void *who, pwr_box_wait_t what, pwr_flag_t *flag,
                                    uint32_t target);

/* A rank's view.  The pointers are to shared memory, the rest is private. */
typedef struct pwr_boxes {
    pwr_boxes_control_t *control;
    pwr_rank_lines_t *lines; /* [num_local] */
    unsigned char *sets;     /* [PWR_BOX_SETS][set_bytes] */
    size_t set_bytes;        /* box_stride for each rank of the node with the most */
    size_t box_stride;       /* box_bytes and a little more: pwr_box_stride */
    int num_local;
    int my_local;
    pwr_boxes_wait_fn_t wait;
    void *who;
    uint32_t round;
    uint32_t known;
    uint32_t left;                   /* what my line says */
    uint32_t posted[PWR_BOX_ROUNDS]; /* what my lines say */
    uint32_t joined[PWR_BOX_ROUNDS]; /* what the node's counts are to be */
} pwr_boxes_t;

/* From box to box.  Boxes a multiple of 4 KiB apart would compete for the same few places in a
   first level cache. */
static inline size_t pwr_box_stride(size_t box_bytes)
{
    enum { SHIFT_LINES = 9 };
    return box_bytes + SHIFT_LINES * (size_t)PWR_CACHE_LINE;
}

/* Once, before the first round of any rank: who I am.  crowded: this rank shares its CPU. */
void pwr_boxes_enter(pwr_boxes_t *boxes, int num_local, int my_local, bool crowded);

/* Whether some rank of the node shares its CPU: final before the first round, because every rank's
   enter came before it. */
static inline bool pwr_boxes_are_crowded(const pwr_boxes_t *boxes)
{
    return pwr_flag_reached(&boxes->control->crowded, 1);
}

/* wait is called with who. */
void pwr_boxes_begin(pwr_boxes_t *boxes, pwr_boxes_wait_fn_t wait, void *who);
/* Ends this round and those before.  A round together in which every rank waits for all needs no
   end: nobody asks who has left it, because all know of it. */
void pwr_boxes_end(pwr_boxes_t *boxes);

/* ---- together ---- */

/* My box, for a message of bytes <= box_bytes; waits until nobody reads what was in it. */
unsigned char *pwr_boxes_fill(pwr_boxes_t *boxes, size_t bytes);
/* My box is filled or, with an error, not; always after a fill. */
void pwr_boxes_join(pwr_boxes_t *boxes, int error);
/* Returns the error of the first rank that joined with one. */
int pwr_boxes_wait_all(pwr_boxes_t *boxes);
/* The same of those before mine alone; the round then needs an end.  Where ranks share CPUs they
   are counted, and it waits for all. */
int pwr_boxes_wait_below(const pwr_boxes_t *boxes);
/* The box of a rank that has joined; bytes as it said to fill. */
const unsigned char *pwr_boxes_read(const pwr_boxes_t *boxes, int local, size_t bytes);
/* The same of the round before this one, which has not been ended. */
const unsigned char *pwr_boxes_read_last(const pwr_boxes_t *boxes, int local, size_t bytes);

/* ---- one ---- */

/* The poster's: the whole set, or a line for bytes <= PWR_BOX_INLINE. */
unsigned char *pwr_boxes_fill_set(pwr_boxes_t *boxes, size_t bytes);
/* The whole set of the round, also beside a message on a line; waits until nobody reads what was in
   it. */
unsigned char *pwr_boxes_area(pwr_boxes_t *boxes);
/* The set is filled, or, with an error, not. */
void pwr_boxes_post(pwr_boxes_t *boxes, int error);
/* The others': waits for local's post with wait and who, and returns the poster's error. */
int pwr_boxes_wait_for(pwr_boxes_t *boxes, int local, pwr_boxes_wait_fn_t wait, void *who);
const unsigned char *pwr_boxes_read_set(const pwr_boxes_t *boxes, int local, size_t bytes);

#endif
