/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Data of the collectives that move blocks between ranks: which block goes where, written and
 * checked.
 */
#ifndef PWR_OSU_BLOCKS_H
#define PWR_OSU_BLOCKS_H

#include "osu.h"

/* Blocks are as long as the message and lie side by side in rank order. */
typedef struct pwr_osu_blocks {
    bool send_each;     /* the send buffer has a block for each rank, not one for all or for root */
    bool recv_each;     /* the receive buffer has a block from each rank, not one from root */
    bool sends_root;    /* only root sends */
    bool receives_root; /* only root receives */
} pwr_osu_blocks_t;

/* What send_bytes and recv_bytes of a descriptor need. */
size_t pwr_osu_one_block(int np, size_t bytes);
size_t pwr_osu_all_blocks(int np, size_t bytes);

/* What fill and check of a descriptor need; a buffer that means nothing on a rank must stay as it
   is. */
void pwr_osu_blocks_fill(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call);
bool pwr_osu_blocks_check(const pwr_osu_blocks_t *blocks, const pwr_osu_call_t *call,
                          pwr_osu_error_t *error);

/* Counts and displacements of blocks side by side, in elements of MPI_CHAR. */
typedef struct pwr_osu_vectors {
    const int *counts;         /* [np] */
    const int *displs;         /* [np] */
    const MPI_Datatype *types; /* [np] */
} pwr_osu_vectors_t;

/* Made anew only when np or bytes is another than in the call before; valid until then. */
const pwr_osu_vectors_t *pwr_osu_vectors(int np, size_t bytes);

#endif
