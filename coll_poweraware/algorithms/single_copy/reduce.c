/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reduce, Allreduce and Reduce_scatter(_block) of long messages on one node: all ranks expose their
 * contributions, and where the sum goes.
 *
 * 1. Everybody tells where its memory is, or that it does not expose it.
 * 2. Every rank reduces its part of the elements, in pieces that stay in its own cache: operands of
 *    others are copied there first.  Its sum goes straight into its own buffer, or is copied into
 *    the root's.  Where that is quicker, the root's part is all of them.
 * 3. All meet: sums are there, and nobody needs a contribution any more.
 * 4. Allreduce: everybody copies the sums of all other parts; all meet again.
 *
 * In place, what a rank overwrites in 2 are elements of its own part, which nobody else reads.
 * Reduce_scatter is another matter, and goes through shared memory.
 *
 * Order: as in reduce_node.h, so the bytes are the same whichever way a message goes.
 */
#include "algorithms/single_copy/single_copy.h"

#include "algorithms/operands.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

enum { PIECE_BYTES = COLL_POWERAWARE_SCRATCH_BYTES / 2 };

typedef const coll_poweraware_reduce_copy_t message_t;

typedef struct sum {
    coll_poweraware_call_t *call;
    message_t *message;
    coll_poweraware_operands_t operands;
    size_t size;   /* bytes of an element */
    char *operand; /* [PIECE_BYTES] */
    char *result;  /* [PIECE_BYTES] */
} sum_t;

static int root_of(const sum_t *s)
{
    return s->message->to >= 0 ? s->call->hierarchy->local_of[s->message->to] : -1;
}

/* Two ranks share the work of 64 KiB, each with a CPU and 10 GB/s, in 10 us; the root does it in 7.
 */
static bool root_alone(const sum_t *s)
{
    enum { SHORTEST_SHARED = 128 * 1024 };
    return s->message->alone && s->message->count * s->size < SHORTEST_SHARED;
}

/* The root copies num_local - 1 operands of what it reduces; the others their sum in addition. */
static size_t root_has_more(const sum_t *s, size_t local)
{
    size_t ranks = (size_t)s->call->hierarchy->num_local;
    size_t shares = ranks * (ranks - 1) + 1;
    size_t before = local * (ranks - 1) + (local > (size_t)root_of(s));
    size_t count = s->message->count;
    return count / shares * before + count % shares * before / shares;
}

/* Where a local rank's part begins; that of num_local: where the last one's ends. */
static size_t first_of(const sum_t *s, int local)
{
    message_t *message = s->message;
    if (COLL_POWERAWARE_TO_EACH == message->to) {
        return message->begin[local];
    }
    if (root_alone(s)) {
        return local <= root_of(s) ? 0 : message->count;
    }
    if (message->to >= 0) {
        return root_has_more(s, (size_t)local);
    }
    coll_poweraware_range_t all = {0, message->count};
    return coll_poweraware_part(all, (size_t)local, (size_t)s->call->hierarchy->num_local).from;
}

/* ---- 2. ---- */

/* A local rank's operand of elements from first on; buffer is where it may be copied to. */
static const char *operand(const sum_t *s, int local, size_t first, size_t count, char *buffer)
{
    if (local == s->call->hierarchy->my_local) {
        return s->operands.contribution + first * s->size;
    }
    uint64_t from = coll_poweraware_exposed_by(s->call, local).from + first * s->size;
    coll_poweraware_read(s->call, local, buffer, from, count * s->size);
    return buffer;
}

/* From the right: sum = x op sum keeps the order. */
static void reduce_piece(const sum_t *s, size_t first, size_t count, char *sum)
{
    struct ompi_op_t *op = s->operands.op;
    struct ompi_datatype_t *datatype = s->operands.datatype;
    int last = s->call->hierarchy->num_local - 1;
    const char *right = operand(s, last, first, count, sum);
    if (right != sum) {
        coll_poweraware_copy_operands(&s->operands, sum, right, count);
    }
    for (int local = last - 1; local >= 0; --local) {
        const char *left = operand(s, local, first, count, s->operand);
        ompi_op_reduce(op, (char *)left, sum, (int)count, datatype);
    }
}

/* Where the sum of my part belongs, in my own memory. */
static char *place_of(const sum_t *s, size_t first)
{
    size_t before =
        COLL_POWERAWARE_TO_EACH == s->message->to ? first_of(s, s->call->hierarchy->my_local) : 0;
    return s->operands.rbuf + (first - before) * s->size;
}

static void finish_piece(const sum_t *s, size_t first, size_t count, const char *sum)
{
    int root = root_of(s);
    if (root >= 0 && root != s->call->hierarchy->my_local) {
        uint64_t to = coll_poweraware_exposed_by(s->call, root).to + first * s->size;
        coll_poweraware_write(s->call, root, to, sum, count * s->size);
    } else {
        coll_poweraware_copy_operands(&s->operands, place_of(s, first), sum, count);
    }
}

static void reduce_my_part(const sum_t *s)
{
    const pwr_hierarchy_t *h = s->call->hierarchy;
    size_t end = first_of(s, h->my_local + 1);
    size_t most = PIECE_BYTES / s->size;
    bool here = !s->operands.in_place && (root_of(s) < 0 || root_of(s) == h->my_local);
    for (size_t first = first_of(s, h->my_local); first < end; first += most) {
        size_t count = end - first < most ? end - first : most;
        char *sum = here ? place_of(s, first) : s->result;
        reduce_piece(s, first, count, sum);
        if (!here) {
            finish_piece(s, first, count, sum);
        }
    }
}

/* ---- 4. ---- */

static void copy_other_parts(const sum_t *s, const size_t *to)
{
    const pwr_hierarchy_t *h = s->call->hierarchy;
    for (int d = 1; d < h->num_local; ++d) {
        int local = (h->my_local + d) % h->num_local;
        size_t first = first_of(s, local) * s->size;
        size_t bytes = first_of(s, local + 1) * s->size - first;
        coll_poweraware_read(s->call, local, s->operands.rbuf + first, to[local] + first, bytes);
    }
}

/* ---- the call ---- */

static bool can_expose(const sum_t *s)
{
    bool its_own = COLL_POWERAWARE_TO_EACH == s->message->to && s->operands.in_place;
    return s->operands.plain && s->size > 0 && s->size <= PIECE_BYTES && !its_own;
}

/* 2 to 4. */
static int run(sum_t *s)
{
    const pwr_hierarchy_t *h = s->call->hierarchy;
    char *scratch = coll_poweraware_scratch(s->call);
    bool to_all = COLL_POWERAWARE_TO_ALL == s->message->to;
    size_t *to = s->call->numbers; /* TO_EACH has its own there */
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    if (NULL != scratch) {
        s->operand = scratch;
        s->result = scratch + PIECE_BYTES;
        for (int i = 0; i < h->num_local && to_all; ++i) {
            to[i] = coll_poweraware_exposed_by(s->call, i).to; /* before the boxes are used again */
        }
        uint64_t begin_ns = coll_poweraware_begin_work(s->call, 2, 0);
        reduce_my_part(s); /* 2 */
        coll_poweraware_end_work(s->call, 2, begin_ns);
        rc = OMPI_SUCCESS;
    }
    rc = coll_poweraware_meet(s->call, rc); /* 3 */
    if (to_all) {                           /* 4 */
        uint64_t begin_ns = coll_poweraware_begin_work(s->call, 4, 0);
        if (OMPI_SUCCESS == rc) {
            copy_other_parts(s, to);
        }
        coll_poweraware_end_work(s->call, 4, begin_ns);
        rc = coll_poweraware_meet(s->call, rc);
    }
    coll_poweraware_report_work(s->call, PWR_COPY_SINGLE);
    return rc;
}

bool coll_poweraware_reduce_single_copy(coll_poweraware_call_t *call, message_t *message, int *rc)
{
    sum_t s = {
        .call = call, .message = message, .operands = coll_poweraware_operands(message->args)};
    size_t type_bytes;
    s.size = (size_t)s.operands.extent;
    ompi_datatype_type_size(s.operands.datatype, &type_bytes);
    size_t bytes = message->count * type_bytes; /* the same on all ranks, whatever their layouts */
    coll_poweraware_exposed_t mine = {
        .from = (uint64_t)(uintptr_t)s.operands.contribution,
        .to = (uint64_t)(uintptr_t)s.operands.rbuf,
        .exposes = can_expose(&s),
    };
    if (!coll_poweraware_single_copy_can(call, bytes / (size_t)call->hierarchy->num_local) ||
        !coll_poweraware_expose_all(call, mine, bytes)) { /* 1 */
        return false;
    }
    *rc = run(&s);
    return true;
}
