/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A large message in pieces: through the slots of a node's segment, and between leaders of nodes.
 *
 * A collective is a sequence of pieces.  All ranks of a node go through the same sequence; of each
 * piece the algorithm says who fills its slot, who reads it, and what this rank has to do.  For
 * each piece:
 * 1. all claim the next slot;
 * 2. a filler waits until the slot is free and puts its part in, or the leader posts its receive
 *    from another node; this happens up to AHEAD pieces before the next steps;
 * 3. readers wait until the slot is full, throttled while it is the network they wait for;
 * 4. the leader posts the sends to other nodes; up to SENDING pieces stay on their way;
 * 5. readers take out what is theirs;
 * 6. readers release the slot, the leader when its sends from it are complete.
 *
 * No rank of a node waits for a later piece than one that it has in hand, and a message only ever
 * waits for messages of earlier pieces: there is no circle in which all could wait.
 *
 * After an error a rank takes nothing more out; it goes on with all the rest.  Its messages are
 * empty, and the error goes with the slots that it alone fills.
 */
#ifndef COLL_POWERAWARE_PIPELINE_H
#define COLL_POWERAWARE_PIPELINE_H

#include "primitives/primitives.h"

typedef struct coll_poweraware_piece {
    /* The same on all ranks of the node: */
    size_t bytes; /* 0: nobody here has anything to do with it, and nothing else counts */
    int fillers;  /* ranks of this node that put it into the slot */
    int readers;  /* ranks of this node that need the slot until they release it */

    /* This rank's own part: */
    bool fills;
    bool reads;
    bool takes; /* and there is something for me in it */
    bool rests; /* to wait for it is to wait for the network */
    int from;   /* the rank of another node that I fill it from, or COLL_POWERAWARE_NO_RANK */
    int num_to;
    const int *to; /* [num_to] ranks of other nodes; if any, I am a reader */
    /* Memory of mine that messages may use instead of the slot.  If I am the only reader, the slot
       is then neither filled nor taken from. */
    unsigned char *direct;

    /* The algorithm's own: which bytes these are. */
    int node;
    size_t first;
} coll_poweraware_piece_t;

typedef struct coll_poweraware_pipeline {
    /* Called once per piece, in order.  piece is zeroed, from COLL_POWERAWARE_NO_RANK. */
    void (*describe)(void *self, size_t index, coll_poweraware_piece_t *piece);
    /* Puts my part into slot[piece->bytes], takes my part out: each in the order of pieces.  Return
       an OMPI_* code. */
    int (*fill)(void *self, const coll_poweraware_piece_t *piece, unsigned char *slot);
    int (*take)(void *self, const coll_poweraware_piece_t *piece, const unsigned char *slot);
} coll_poweraware_pipeline_t;

/* leader: of my node.  Returns the first error of this rank or of what it was to read. */
int coll_poweraware_pipeline_run(const coll_poweraware_pipeline_t *pipeline, void *self,
                                 coll_poweraware_call_t *call, size_t num_pieces, int leader);

/* A good size of pieces for a message of so many bytes: coll_poweraware_chunk_bytes or, so that a
   shorter one has some pieces to overlap, less.  Where ranks share CPUs on several nodes little
   overlaps, and each piece is a change of process in each leader. */
size_t coll_poweraware_piece_bytes(const coll_poweraware_call_t *call, size_t message_bytes);

#endif
