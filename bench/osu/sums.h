/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Data of the reductions: MPI_SUM of MPI_FLOAT with sums that are known and exact.
 *
 * Element i of rank r is weight(r) * step(i) + base(i, tag), all whole numbers.  The sum over all
 * ranks is step * (sum of weights) + np * base, in closed form, so nothing is added up here; and
 * every partial sum in any order is a whole number up to 2^24, which a float holds exactly: the
 * result must be right to the last bit whatever tree the library used.
 */
#ifndef PWR_OSU_SUMS_H
#define PWR_OSU_SUMS_H

#include "osu.h"

/* What send_bytes of a descriptor needs. */
size_t pwr_osu_message(int np, size_t bytes);

/* Writes what is sent, and to the whole receive buffer of recv_bytes what no sum can be. */
void pwr_osu_sums_fill(const pwr_osu_call_t *call, size_t recv_bytes);

/* The result this rank got. */
typedef struct pwr_osu_result {
    const char *where; /* "sum at root", ... */
    int peer;
    size_t first; /* element of the message its first one is */
    size_t count; /* elements; 0: none, the receive buffer stays as it was */
} pwr_osu_result_t;

/* Checks own contribution and receive buffer of recv_bytes; behind the result nothing may change.
 */
bool pwr_osu_sums_check(const pwr_osu_call_t *call, const pwr_osu_result_t *result,
                        size_t recv_bytes, pwr_osu_error_t *error);

/* Elements of each of np ranks when a message is dealt out evenly, the first ranks getting what is
   left over.  Made anew only when an argument is another than in the call before; [np]. */
const int *pwr_osu_parts(int np, size_t elements);

#endif
