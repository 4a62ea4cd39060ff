/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What algorithms are made of: post, complete, wait, throttled wait, chunks, boxes.
 *
 * Algorithms know the hierarchy, the segment and these.  They know neither MSRs nor Open MPI's
 * series nor the report.
 */
#ifndef COLL_POWERAWARE_PRIMITIVES_H
#define COLL_POWERAWARE_PRIMITIVES_H

#include <setjmp.h>

#include "collectives.h"
#include "settings.h"

#include "pwr/lever.h"
#include "pwr_ompi/hierarchy.h"
#include "pwr_ompi/operation.h"
#include "pwr_ompi/segment.h"
#include "pwr_ompi/single_copy.h"

/* A shorter block costs less as a message than as a system call that looks up another process:
   2 KiB among 4 ranks took 3 times as long by single copy, 4 KiB as long as by messages. */
enum { COLL_POWERAWARE_SHORTEST_SINGLE_COPY = 4096 };

typedef struct coll_poweraware_message {
    ompi_request_t *request;
    int peer;
    bool receives;
    bool bytes_due; /* if received, it must not come out empty */
    bool by_ucx;    /* not through the PML */
} coll_poweraware_message_t;

/* Further lanes: sets of messages that are completed apart from the others. */
enum { COLL_POWERAWARE_LANES = 1 + PWR_SEGMENT_SLOTS, COLL_POWERAWARE_LANE_MESSAGES = 32 };

/* The most messages of lane 0 that an algorithm has outstanding: a window with all ranks of two
   nodes, one to and from every node, or one to each child in a tree of nodes; and so many more,
   where sums are sent in parts. */
enum { COLL_POWERAWARE_MOST_PARTS = 64 };
static inline int coll_poweraware_max_requests(const pwr_hierarchy_t *hierarchy)
{
    enum { TREE_CHILDREN = 35 };
    int window =
        hierarchy->max_local > hierarchy->num_nodes ? hierarchy->max_local : hierarchy->num_nodes;
    return 2 * window + TREE_CHILDREN + COLL_POWERAWARE_MOST_PARTS;
}

static inline int coll_poweraware_first_message(const pwr_hierarchy_t *hierarchy, int lane)
{
    return 0 == lane ? 0
                     : coll_poweraware_max_requests(hierarchy) +
                           (lane - 1) * COLL_POWERAWARE_LANE_MESSAGES;
}

/* Counts and displacements that an algorithm works out of what the application passed. */
static inline size_t coll_poweraware_max_numbers(const pwr_hierarchy_t *hierarchy)
{
    enum { ARRAYS = 4 };
    return ARRAYS * ((size_t)hierarchy->size + 1);
}

/* One call of a collective on one communicator.  What is the same for all of its calls comes
   first. */
typedef struct coll_poweraware_call {
    struct ompi_communicator_t *comm;
    const coll_poweraware_settings_t *settings;
    const pwr_hierarchy_t *hierarchy;
    const struct coll_poweraware_others *others; /* comm/components.h */
    pwr_segment_t *segment;
    size_t slot_bytes;  /* of its slots: while algorithms are chosen what they can be, then as they
                           are */
    pwr_boxes_t *boxes; /* the segment's */
    bool crowded;       /* on every node ranks share CPUs */
    size_t eager_bytes; /* of a message to another node, on all ranks (pwr_ompi/eager.h) */
    int *pids; /* [num_local] for single copy; NULL: there is none, on no rank of the node */
    coll_poweraware_message_t *messages; /* of all lanes, one after the other */
    size_t *numbers; /* [coll_poweraware_max_numbers(hierarchy)], the algorithm's own */
    char *scratch;   /* [COLL_POWERAWARE_SCRATCH_BYTES], see coll_poweraware_scratch */
    pwr_operation_t *operation;
    coll_poweraware_collective_t collective;
    int tag;  /* of all messages of this call */
    int lane; /* in which messages are posted, and of which they are completed, from now on: 0 at
                 first; a call completes all that it used */
    int posted[COLL_POWERAWARE_LANES];
    int error;     /* the first one on this rank; its messages are empty from then on */
    bool asks_gpu; /* all ranks look for buffers on a GPU in this call (device.h) */
    struct coll_poweraware_team *team; /* primitives/gpu_team.h; NULL: none so far */
    struct pwr_gpu_pinned *pinned; /* pwr_gpu/pinned.h, of leaders on several nodes; NULL as well */
    bool comes_to_team;            /* the next calls of this kind may be done for that reason */
    bool undone;                   /* an algorithm for these found others, and has done nothing */
    size_t measured_bytes;         /* of a message of which what it costs is to be known
                                      (algorithms/single_copy), else 0 */
    uint64_t work_ns;              /* of that */
    jmp_buf *way_out;              /* NULL where communicators cannot end while they are used */
} coll_poweraware_call_t;

static inline int coll_poweraware_first_error(int first, int then)
{
    return OMPI_SUCCESS == first ? then : first;
}
static inline void coll_poweraware_note_error(coll_poweraware_call_t *call, int rc)
{
    call->error = coll_poweraware_first_error(call->error, rc);
}

/* Whether leaders use the fewest messages, up a tree of nodes and down again, and not the fewest
   steps.  Two of them need one message each in any case. */
static inline bool coll_poweraware_saves_messages(const coll_poweraware_call_t *call)
{
    return call->crowded && call->hierarchy->num_nodes > 2;
}

/* The leader of a node: its lowest rank; of the root's node, the root, if there is one. */
enum { COLL_POWERAWARE_NO_RANK = -1 };
static inline int coll_poweraware_leader(const coll_poweraware_call_t *call, int node, int root)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    return COLL_POWERAWARE_NO_RANK != root && node == h->node_of[root] ? root : h->leader_of[node];
}
static inline int coll_poweraware_my_leader(const coll_poweraware_call_t *call, int root)
{
    return coll_poweraware_leader(call, call->hierarchy->my_node, root);
}

/* call.c: once per communicator, but for pids; NULL when out of memory. */
coll_poweraware_call_t *coll_poweraware_call_new(struct ompi_communicator_t *comm,
                                                 const coll_poweraware_settings_t *settings,
                                                 const pwr_hierarchy_t *hierarchy,
                                                 pwr_segment_t *segment);
void coll_poweraware_call_free(coll_poweraware_call_t *call);
/* A new one. */
void coll_poweraware_call_begin(coll_poweraware_call_t *call, pwr_operation_t *operation,
                                coll_poweraware_collective_t collective);

/* Memory of this rank that stays in its caches, for the algorithm: the same in all calls, because
   to touch new pages costs as much time as to copy them.  NULL when out of memory. */
enum { COLL_POWERAWARE_SCRATCH_BYTES = 128 * 1024 };
char *coll_poweraware_scratch(coll_poweraware_call_t *call);

/* Copies between memory of mine and of a local rank; where call->pids is not NULL.  That rank stays
   in the call until it knows that nobody copies any more, and has waits in it: there it makes the
   copies that the kernel refuses. */
void coll_poweraware_read(const coll_poweraware_call_t *call, int local, void *to, uint64_t from,
                          size_t bytes);
void coll_poweraware_write(const coll_poweraware_call_t *call, int local, uint64_t to,
                           const void *from, size_t bytes);
/* Whether the kernel has refused one on this node.  Ranks learn of it at different times: so one
   tells the others in a round of boxes, and all of the node end single copy in that call, for the
   ones after it. */
bool coll_poweraware_single_copy_refused(const coll_poweraware_call_t *call);
void coll_poweraware_end_single_copy(coll_poweraware_call_t *call);

/* Non-blocking messages.  What cannot be posted is posted empty, and after an error everything that
   this rank sends is empty: so an algorithm goes on with its messages, nobody waits for one that
   never comes, and nothing is left over for the next call.  _complete tells what went wrong.
   At most coll_poweraware_max_requests() may be outstanding in lane 0, and
   COLL_POWERAWARE_LANE_MESSAGES in each of the others. */
void coll_poweraware_post_recv(coll_poweraware_call_t *call, void *buffer, size_t count,
                               struct ompi_datatype_t *datatype, int peer);
void coll_poweraware_post_send(coll_poweraware_call_t *call, const void *buffer, size_t count,
                               struct ompi_datatype_t *datatype, int peer);
/* One of the two. */
static inline void coll_poweraware_post(coll_poweraware_call_t *call, bool send, void *buffer,
                                        size_t count, struct ompi_datatype_t *datatype, int peer)
{
    if (send) {
        coll_poweraware_post_send(call, buffer, count, datatype, peer);
    } else {
        coll_poweraware_post_recv(call, buffer, count, datatype, peer);
    }
}
/* Completes everything posted in this lane.  Returns the first error of the call so far; first, an
   error that the algorithm met elsewhere, counts.  An empty message where bytes were due is an
   error. */
int coll_poweraware_complete(coll_poweraware_call_t *call, int first);

static inline coll_poweraware_message_t *coll_poweraware_message(const coll_poweraware_call_t *call,
                                                                 int lane, int index)
{
    return &call->messages[coll_poweraware_first_message(call->hierarchy, lane) + index];
}

/* Cancels receives that are under way and forgets all messages, when the communicator has ended.
   Returns whether all messages are over: else one may still touch the segment. */
bool coll_poweraware_cancel_messages(coll_poweraware_call_t *call);

/* Waits for a flag of the segment with the CPU given back, and throttled to T<level>, unless the
   flag is there already or level is 0.  On return the CPU runs at full duty.  While throttled, this
   rank takes part in no communication.  This and all primitives that wait or complete do not return
   when the communicator has ended (revoked, or a process of it failed): the call then ends there
   and then, see call.h. */
void coll_poweraware_wait_throttled(const coll_poweraware_call_t *call, pwr_site_t site,
                                    pwr_flag_t *flag, uint32_t target, unsigned level);
static inline void coll_poweraware_wait(const coll_poweraware_call_t *call, pwr_site_t site,
                                        pwr_flag_t *flag, uint32_t target)
{
    coll_poweraware_wait_throttled(call, site, flag, target, PWR_TSTATE_FULL);
}

/* Whether this rank's clock is throttled where it rests in this call: then few long rests are
   better than many short ones. */
static inline bool coll_poweraware_throttles(const coll_poweraware_call_t *call)
{
    return pwr_operation_throttles(call->operation);
}

/* The network phase of a leader-based collective (ICPP 2010 V-B).  With T-states per core, resting
   ranks go to the deepest state and the leader stays at full duty; with T-states per package, the
   leader and those who share its package go to the partial state.
   begin, end: bracket everything that a leader does on the network; nothing where there is one
   node.  error: what went wrong before; other leaders then hear of it, because all that this one
   sends is empty.
   rest: wait for flag while leader is on the network. */
void coll_poweraware_begin_network(coll_poweraware_call_t *call, int error);
void coll_poweraware_end_network(const coll_poweraware_call_t *call);
void coll_poweraware_rest(const coll_poweraware_call_t *call, pwr_site_t site, pwr_flag_t *flag,
                          uint32_t target, int leader);

/* For primitives: does not return when the communicator has ended. */
void coll_poweraware_leave_if_ended(const coll_poweraware_call_t *call);

/* ---- boxes: small messages between the ranks of a node (pwr_ompi/boxes.h) ----
   Every rank of the node goes through the same rounds, each of a kind that all of them know.
   local is an index of hierarchy->local_ranks; bytes is known to writer and readers alike, and is
   at most segment->box_bytes of a box, boxes->set_bytes of a set.  Errors are OMPI_* codes: after
   one the message means nothing. */
void coll_poweraware_wait_in_round(void *call, pwr_box_wait_t what, pwr_flag_t *flag,
                                   uint32_t target);
static inline void coll_poweraware_begin_round(coll_poweraware_call_t *call)
{
    pwr_boxes_begin(call->boxes, coll_poweraware_wait_in_round, call);
}
/* A round without messages: all wait for all.  Returns the first error. */
static inline int coll_poweraware_meet(coll_poweraware_call_t *call, int error)
{
    coll_poweraware_begin_round(call);
    pwr_boxes_fill(call->boxes, 0);
    pwr_boxes_join(call->boxes, error);
    return pwr_boxes_wait_all(call->boxes);
}
/* poster: a rank of the communicator that is on the network before it posts. */
const unsigned char *coll_poweraware_rest_for_set(coll_poweraware_call_t *call, int poster,
                                                  size_t bytes, int *error);

/* ---- chunks: large messages ---- */

/* The next chunk's slot of the segment; the same on all ranks of the node. */
typedef struct coll_poweraware_chunk {
    pwr_slot_t *slot;
    pwr_slot_expect_t *expect;
    unsigned char *data; /* [call->slot_bytes] */
} coll_poweraware_chunk_t;

coll_poweraware_chunk_t coll_poweraware_next_chunk(coll_poweraware_call_t *call);
/* Waits until every rank of the node has released the slot's previous chunk. */
void coll_poweraware_wait_free(const coll_poweraware_call_t *call,
                               const coll_poweraware_chunk_t *chunk);
/* This rank will not touch the chunk any more. */
void coll_poweraware_release_chunk(const coll_poweraware_call_t *call,
                                   coll_poweraware_chunk_t *chunk);

/* A chunk of which only some ranks of the node have a part.  All of them claim it, in the same
   order and with the same numbers; fillers then count themselves on `arrived`, readers on
   `released`, the others do nothing.  A claim keeps its counts, so that several may be held. */
typedef struct coll_poweraware_claim {
    pwr_slot_t *slot;
    unsigned char *data; /* [bytes] */
    uint32_t free;       /* `released` when the slot may be filled */
    uint32_t filled;     /* `arrived` when it is */
    uint32_t gone;       /* `released` when all readers are through */
} coll_poweraware_claim_t;

/* bytes: at most call->slot_bytes. */
coll_poweraware_claim_t coll_poweraware_claim(coll_poweraware_call_t *call, size_t bytes,
                                              int fillers, int readers);

/* The longest message between nodes that is sent without asking the receiver, where that is not
   very little: else, and on one node, SIZE_MAX. */
size_t coll_poweraware_message_bytes(const coll_poweraware_call_t *call);
/* How much of a large message moves at once: coll_poweraware_chunk_bytes, if a slot has room for
   it, and no more than the one above. */
size_t coll_poweraware_chunk_bytes(const coll_poweraware_call_t *call);

#endif
