/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One shared memory segment per node and communicator, and what is in it.
 *
 * Layout:  part 1: control block | lines, costs, positions of each rank | sets of boxes
 *          part 2: slots
 *
 * The parts are mapped one by one, when an algorithm first needs them.  All memory is backed before
 * it is used, which costs about 0.4 ms per MiB and more the more ranks share a CPU: a communicator
 * that lives for a few small messages must not pay for slots.  Slots may be backed bit by bit, so
 * that no call is seen to take long, and be short until longer ones are needed.
 *
 * Every rank keeps the counts it expects privately: all ranks of a node make the same calls in the
 * same order, so their expectations agree without talking.  Flags only count up.
 *
 * Slots, for messages that move in chunks.  Chunk s uses slot s % PWR_SEGMENT_SLOTS: some are
 * filled while others are copied out or are on the network.
 *
 *   arrived   a rank has put its part of the chunk into the slot  (+1 per rank that has one)
 *   reduced   a rank has reduced its slice            (+1 per rank and chunk of a reduction)
 *   ready     the leader has put a result into the slot            (+1 per chunk of a reduction)
 *   released  a rank will not touch this chunk any more            (+1 per rank that touches it)
 *
 * Who has a part in a chunk, all ranks of the node know equally: the others need not wait for it,
 * nor be waited for.
 * Invariant: nobody writes to a slot before `released` says that all have left its last chunk.
 *
 * Boxes, for small messages: pwr_ompi/boxes.h.  Who is in which call: pwr_ompi/positions.h.  Copies
 * that the kernel refuses: pwr_ompi/owner_copy.h.
 */
#ifndef PWR_OMPI_SEGMENT_H
#define PWR_OMPI_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/status.h"
#include "pwr/wait.h"
#include "pwr_gpu/team.h"
#include "pwr_ompi/boxes.h"
#include "pwr_ompi/copy_costs.h"
#include "pwr_ompi/owner_copy.h"
#include "pwr_ompi/positions.h"

enum { PWR_SEGMENT_SLOTS = 8, PWR_SEGMENT_NAME_MAX = 64 };

typedef struct pwr_slot {
    pwr_flag_t ready;
    pwr_flag_t arrived;
    pwr_flag_t reduced;
    pwr_flag_t released;
    /* OMPI_* code of the one rank that fills the slot, or of the leader's network phase; written
       before arrived or ready. */
    int32_t error;
} pwr_slot_t;

/* Readers keep the line as long as it says the same. */
static inline void pwr_slot_set_error(pwr_slot_t *slot, int32_t error)
{
    if (error != slot->error) {
        slot->error = error;
    }
}

/* Who has reduced buffers on a GPU. */
typedef struct pwr_segment_gpu {
    _Atomic uint32_t wanted; /* ranks */
    _Atomic uint64_t from;   /* number of the Allreduce from which on all look for such; 0: none */
    _Alignas(64) unsigned char team[PWR_GPU_TEAM_BYTES]; /* of kernels (pwr_gpu/team.h) */
} pwr_segment_gpu_t;

typedef struct pwr_segment_control {
    pwr_flag_t turn; /* Alltoall: completed steps of this node's ranks */
    pwr_slot_t slot[PWR_SEGMENT_SLOTS];
    pwr_boxes_control_t boxes;
    pwr_owner_copy_t owner_copy;
    pwr_segment_gpu_t gpu;
} pwr_segment_control_t;

typedef struct pwr_slot_expect {
    uint32_t ready;
    uint32_t arrived;
    uint32_t reduced;
    uint32_t released;
    size_t next;   /* byte of the slot at which the next chunk goes, if in_use has room for it */
    size_t in_use; /* bytes of the slot */
} pwr_slot_expect_t;

/* The same on all nodes of a communicator, so that what fits is known equally. */
typedef struct pwr_segment_shape {
    int num_ranks; /* the most on any node */
    size_t box_bytes;
    size_t slot_bytes;
} pwr_segment_shape_t;

/* Divides about bytes, at least a few pages, between boxes and slots. */
pwr_segment_shape_t pwr_segment_shape(size_t bytes, int num_ranks);

typedef enum pwr_segment_part {
    PWR_SEGMENT_BOXES, /* control block, lines, costs, positions, boxes */
    PWR_SEGMENT_CHUNKS /* the slots' data */
} pwr_segment_part_t;

enum { PWR_SEGMENT_PARTS = 2 };

typedef struct pwr_segment {
    pwr_segment_shape_t shape;
    void *part[PWR_SEGMENT_PARTS];          /* NULL: not mapped */
    pwr_segment_control_t *control;         /* PWR_SEGMENT_BOXES */
    pwr_boxes_t boxes;                      /* PWR_SEGMENT_BOXES */
    pwr_copier_t copier;                    /* PWR_SEGMENT_BOXES */
    pwr_positions_t positions;              /* PWR_SEGMENT_BOXES */
    unsigned char *data[PWR_SEGMENT_SLOTS]; /* PWR_SEGMENT_CHUNKS */
    size_t box_bytes;
    size_t slot_bytes;               /* as they are now: shape.slot_bytes at most */
    char name[PWR_SEGMENT_NAME_MAX]; /* of the part that this process created last, ... */
    int name_fd;                     /* ... and holds; -1: none, it is removed */
    bool slots_backed;               /* from the beginning, as far as this process knows */
    size_t touched;                  /* bytes of the slots */
    pwr_status_t touch;              /* PWR_OK, or what was wrong with some of them */
    uint32_t next_chunk;             /* private: chunks so far, modulo 2^32 */
    uint32_t expect_turn;            /* private: steps of this node completed by earlier calls */
    pwr_slot_expect_t expect[PWR_SEGMENT_SLOTS];
} pwr_segment_t;

/* A segment of which nothing is mapped yet: what will fit is known.  NULL when out of memory. */
pwr_segment_t *pwr_segment_new(const pwr_segment_shape_t *shape);
size_t pwr_segment_part_bytes(const pwr_segment_shape_t *shape, pwr_segment_part_t part);

/* Once a part is mapped, before its first use by any rank; the arguments are those of
   pwr_boxes_enter. */
void pwr_segment_enter(pwr_segment_t *segment, pwr_segment_part_t part, int num_local, int my_local,
                       bool crowded);

/* Creates a part (mode 0600) and maps it.  backed: at once, so that a full /dev/shm is an error
   here and not a SIGBUS later; else by touching, where the kernel can say then that there is no
   memory. Errors: PERM, NOMEM (file system full), IO. */
pwr_status_t pwr_segment_create(pwr_segment_t *segment, pwr_segment_part_t part, const char *name,
                                bool backed);
/* Of the part that this process created, before it creates the next one.  Mappings stay. */
void pwr_segment_remove_name(pwr_segment_t *segment);
/* Maps what another rank of this node created with the same shape. */
pwr_status_t pwr_segment_attach(pwr_segment_t *segment, pwr_segment_part_t part, const char *name);
/* Touches some bytes more of the slots, whole pages: they are backed then, and this process's first
   use of them is as fast as later ones.  Changes nothing, several processes may at once.  Returns
   whether that went well so far: where it did not (NOMEM), nobody may use the slots, nor is more
   backed. */
pwr_status_t pwr_segment_touch_slots(pwr_segment_t *segment, size_t bytes);
/* The same for what is in use of slots that were backed from the beginning. */
void pwr_segment_touch_used(pwr_segment_t *segment);
/* Once they are entered: boxes of few ranks.  First calls need not wait for each of their pages. */
void pwr_segment_touch_boxes(pwr_segment_t *segment);
/* What has to be touched before slots of so many bytes can be used. */
size_t pwr_segment_bytes_of_slots(const pwr_segment_t *segment, size_t slot_bytes);
/* From now on all that is touched is used, by all ranks: none has a chunk in a slot. */
void pwr_segment_use_touched(pwr_segment_t *segment);
/* Without effect on a part that is not mapped. */
void pwr_segment_unmap(pwr_segment_t *segment, pwr_segment_part_t part);
/* Unmaps what is mapped, and removes the name.  segment may be NULL. */
void pwr_segment_free(pwr_segment_t *segment);

#endif
