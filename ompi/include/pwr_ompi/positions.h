/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The positions of a node: in which call of a communicator each of its ranks is.
 *
 * All ranks of a node make the same calls of a communicator in the same order and number them.
 * Each tells the others, on a cache line that only it writes, which one it has begun and of which
 * kind that is, and that it has ended it.  Nobody reads that until a wait has become so long that
 * one wants to know for whom: so to tell it costs two plain stores a call.
 *
 * What is read is a moment ago, and a rank may go on while it is read.
 */
#ifndef PWR_OMPI_POSITIONS_H
#define PWR_OMPI_POSITIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word is the number of a call, and in its lowest bits the call's kind + 1, or 0 when it has
   ended.  Numbers wrap and are compared by signed distance.  Zeroed memory: no call so far. */
enum { PWR_POSITION_KIND_BITS = 8, PWR_POSITION_KINDS = (1 << PWR_POSITION_KIND_BITS) - 1 };

/* Shared, per rank of the node. */
typedef struct pwr_position_line {
    _Alignas(128) _Atomic uint32_t at; /* a pair of lines, because processors fetch them so */
    _Atomic uint32_t long_wait;        /* the same word while a wait has lasted too long */
    _Atomic int32_t pid;
} pwr_position_line_t;

/* A rank's view.  Zeroed: none are known. */
typedef struct pwr_positions {
    pwr_position_line_t *lines; /* [num_local], shared */
    int num_local;
    int my_local;
    uint32_t at; /* what my line says */
} pwr_positions_t;

static inline bool pwr_positions_are_known(const pwr_positions_t *positions)
{
    return NULL != positions->lines;
}

/* Where a rank is, as seen from the call that this one has begun. */
typedef enum pwr_position_of {
    PWR_POSITION_ABSENT,    /* has not begun it, and is in no call before it */
    PWR_POSITION_BEHIND,    /* is in one before it */
    PWR_POSITION_WORKING,   /* in it, and no wait of its has lasted too long */
    PWR_POSITION_WAITING,   /* in it, and has waited too long */
    PWR_POSITION_ELSEWHERE, /* has begun a call of another kind in its place */
    PWR_POSITION_THROUGH    /* has ended it */
} pwr_position_t;

/* Once, before the first call of any rank; lines is zeroed memory. */
void pwr_position_enter(pwr_positions_t *positions, pwr_position_line_t *lines, int num_local,
                        int my_local);

/* Relaxed: nothing else is read through it. */
static inline void pwr_position_begin(pwr_positions_t *positions, unsigned kind)
{
    positions->at = ((positions->at >> PWR_POSITION_KIND_BITS) + 1) << PWR_POSITION_KIND_BITS;
    positions->at |= kind + 1;
    atomic_store_explicit(&positions->lines[positions->my_local].at, positions->at,
                          memory_order_relaxed);
}
static inline void pwr_position_end(pwr_positions_t *positions)
{
    positions->at = positions->at >> PWR_POSITION_KIND_BITS << PWR_POSITION_KIND_BITS;
    atomic_store_explicit(&positions->lines[positions->my_local].at, positions->at,
                          memory_order_relaxed);
}

/* A wait of this rank's call lasts too long, or no more. */
void pwr_position_waits_long(pwr_positions_t *positions, bool waits);

/* The rest is for who is in a call. */
pwr_position_t pwr_position_of(const pwr_positions_t *positions, int local);
/* The kind of the call that a rank is in which is BEHIND or ELSEWHERE; negative: in none any more.
 */
int pwr_position_kind(const pwr_positions_t *positions, int local);
int pwr_position_pid(const pwr_positions_t *positions, int local);

#endif
