/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The blocks of Gather and Scatter as streams of packed bytes, one stream per node.
 *
 * The stream of a node has the blocks of its ranks in the order of ranks, without the root's own,
 * and is cut into pieces.  The sequence of pieces (pipeline.h) is on the root's node: those of its
 * own stream, in turn with those of the other nodes, one node after the other; elsewhere: those of
 * its own stream.
 *
 * On one node the root may expose its memory instead (single_copy.h).
 */
#ifndef COLL_POWERAWARE_ROOTED_H
#define COLL_POWERAWARE_ROOTED_H

#include "algorithms/leader/pipeline.h"
#include "pwr_ompi/packer.h"

/* The block that is being packed or unpacked. */
typedef struct coll_poweraware_open_block {
    pwr_packer_t packer;
    int rank; /* whose, or COLL_POWERAWARE_NO_RANK */
} coll_poweraware_open_block_t;

typedef struct coll_poweraware_rooted {
    coll_poweraware_call_t *call;
    int root;
    int root_node;
    int leader;   /* of my node */
    int my_index; /* of my block in my node's stream, or -1 */
    size_t block; /* packed bytes */
    size_t piece_bytes;
    size_t num_pieces;
    char *buffer; /* of all blocks at the root, of my own elsewhere */
    size_t count; /* of a block */
    struct ompi_datatype_t *datatype;
    ptrdiff_t stride;                        /* bytes between blocks */
    coll_poweraware_open_block_t mine;       /* not at the root */
    coll_poweraware_open_block_t of_node[2]; /* at the root: of its own stream, of the others' */
    size_t own_first;                        /* the next piece of my node's stream ... */
    int other_node;                          /* ... and of the other nodes' */
    size_t other_first;
} coll_poweraware_rooted_t;

/* What a piece has of one block. */
typedef struct coll_poweraware_part {
    int rank;
    size_t first; /* byte of the block */
    size_t bytes;
    size_t at; /* byte of the piece */
} coll_poweraware_part_t;

/* buffer: all blocks at the root, elsewhere my own; count and datatype of one of them.  packs:
   whether ranks other than the root pack.  What fails is the call's error. */
void coll_poweraware_rooted_begin(coll_poweraware_rooted_t *rooted, coll_poweraware_call_t *call,
                                  int root, const void *buffer, size_t count,
                                  struct ompi_datatype_t *datatype, bool packs);

/* On one node (single_copy.h): the same on all ranks. */
bool coll_poweraware_rooted_lend(const coll_poweraware_rooted_t *rooted, bool to_root, int *rc);

/* Which bytes the next piece of the sequence has: node, first and bytes. */
void coll_poweraware_rooted_next(coll_poweraware_rooted_t *rooted, size_t index,
                                 coll_poweraware_piece_t *piece);

/* The blocks that a piece has something of: their number, and each of them. */
int coll_poweraware_rooted_num_parts(const coll_poweraware_rooted_t *rooted,
                                     const coll_poweraware_piece_t *piece);
coll_poweraware_part_t coll_poweraware_rooted_part(const coll_poweraware_rooted_t *rooted,
                                                   const coll_poweraware_piece_t *piece, int part);
/* What it has of my own block: bytes is 0 if nothing. */
coll_poweraware_part_t coll_poweraware_rooted_my_part(const coll_poweraware_rooted_t *rooted,
                                                      const coll_poweraware_piece_t *piece);

/* Memory that holds the piece as it travels, else NULL: at the root, and elsewhere if it is all of
   my own block. */
unsigned char *coll_poweraware_rooted_direct(const coll_poweraware_rooted_t *rooted,
                                             const coll_poweraware_piece_t *piece);

/* Elsewhere: packs or unpacks what a piece has of my block. */
int coll_poweraware_rooted_pack_mine(coll_poweraware_rooted_t *rooted,
                                     const coll_poweraware_piece_t *piece, unsigned char *slot);
int coll_poweraware_rooted_unpack_mine(coll_poweraware_rooted_t *rooted,
                                       const coll_poweraware_piece_t *piece,
                                       const unsigned char *slot);

/* At the root: packs or unpacks a piece. */
int coll_poweraware_rooted_pack(coll_poweraware_rooted_t *rooted,
                                const coll_poweraware_piece_t *piece, unsigned char *slot);
int coll_poweraware_rooted_unpack(coll_poweraware_rooted_t *rooted,
                                  const coll_poweraware_piece_t *piece, const unsigned char *slot);

char *coll_poweraware_rooted_block(const coll_poweraware_rooted_t *rooted, int rank);

void coll_poweraware_rooted_end(coll_poweraware_rooted_t *rooted);

#endif
