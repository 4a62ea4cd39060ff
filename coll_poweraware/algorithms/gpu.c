/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives in the memory of a GPU, by one kernel for all ranks: reductions (pwr_gpu/reduce.h),
 * and those that move blocks (pwr_gpu/copy.h).
 *
 * 1. Each rank offers its buffers, in a round of boxes; the others sleep from then on.
 * 2. The lowest rank of the node opens them, and launches one kernel that reads all inputs and
 *    writes all outputs.  It polls for as long as that is cheaper than to sleep, then sleeps.
 * 3. It tells the others in a second round: done, not done, or failed.
 *
 * Where ranks have several GPUs, whose kernels reach each other's memory, reductions need no
 * leader: in the round each rank says that it has such buffers, and then launches a kernel of its
 * own (pwr_gpu/team.h).  Blocks are moved by a kernel of each rank, too, once the leader has told
 * them that there are several GPUs.  No data come to the host.  GGAS (IV) has each GPU push its
 * data to the others; what shares one GPU has nothing to push.
 *
 * On several nodes a reduction goes through the leaders, in chunks: a kernel reduces the inputs of
 * the node into memory of the CPU, leaders reduce among them, and a kernel writes the result to all
 * outputs.  So each byte crosses the bus once each way on a node, not once for each rank.
 */
#include <string.h>

#include "algorithms/algorithms.h"
#include "algorithms/blocks.h"
#include "algorithms/leader/among_leaders.h"
#include "primitives/gpu_team.h"

#include "pwr_gpu/copy.h"
#include "pwr_gpu/reduce.h"
#include "pwr_ompi/device_memory.h"
#include "pwr_ompi/process.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/op/op.h"
#include "ompi/op/op.h"

enum { UNDONE = 1, EACH_ITS_OWN }; /* beside the codes of Open MPI, which are not positive */

/* What this rank has for the call, in the memory of a GPU or elsewhere; NULL: nothing. */
typedef struct buffers {
    const void *in;
    void *out;
    bool plain; /* all of their bytes lie one behind the other */
} buffers_t;

/* What the leader does with the offers of all; NULL: somebody has none.  Returns what to post: an
   OMPI_* code, UNDONE, or, of collectives that move blocks, EACH_ITS_OWN. */
typedef int work_t(coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                   const pwr_gpu_offer_t *const *offers);

typedef struct message {
    uint32_t offers; /* 0: I have no buffers that others can open */
    uint32_t has;    /* 0: nor such that kernels of mine can use; where there may be a team */
    pwr_gpu_offer_t offer;
    coll_poweraware_team_message_t team;
} message_t;

/* ---- what kernels there are ---- */

static bool find_op(const struct ompi_op_t *op, pwr_gpu_op_t *found)
{
    static const struct {
        MPI_Op mpi;
        pwr_gpu_op_t op;
    } ops[] = {
        {MPI_SUM, PWR_GPU_SUM},
        {MPI_PROD, PWR_GPU_PROD},
        {MPI_MIN, PWR_GPU_MIN},
        {MPI_MAX, PWR_GPU_MAX},
    };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i) {
        if (op == ops[i].mpi) {
            *found = ops[i].op;
            return true;
        }
    }
    return false;
}

static bool find_type(const struct ompi_datatype_t *datatype, pwr_gpu_type_t *found)
{
    if (!ompi_datatype_is_predefined(datatype)) {
        return false;
    }
    bool is_long = 8 == datatype->super.size;
    if (!is_long && 4 != datatype->super.size) {
        return false;
    }
    switch (ompi_op_ddt_map[datatype->id]) {
    case OMPI_OP_BASE_TYPE_INT32_T:
    case OMPI_OP_BASE_TYPE_INT64_T:
    case OMPI_OP_BASE_TYPE_INTEGER:
    case OMPI_OP_BASE_TYPE_INTEGER4:
    case OMPI_OP_BASE_TYPE_INTEGER8:
        *found = is_long ? PWR_GPU_I64 : PWR_GPU_I32;
        return true;
    case OMPI_OP_BASE_TYPE_UINT32_T:
    case OMPI_OP_BASE_TYPE_UINT64_T:
        *found = is_long ? PWR_GPU_U64 : PWR_GPU_U32;
        return true;
    case OMPI_OP_BASE_TYPE_FLOAT:
    case OMPI_OP_BASE_TYPE_DOUBLE:
    case OMPI_OP_BASE_TYPE_REAL:
    case OMPI_OP_BASE_TYPE_REAL4:
    case OMPI_OP_BASE_TYPE_REAL8:
    case OMPI_OP_BASE_TYPE_DOUBLE_PRECISION:
        *found = is_long ? PWR_GPU_F64 : PWR_GPU_F32;
        return true;
    default:
        return false;
    }
}

/* Of a reduction for which there is a kernel. */
typedef struct kind {
    pwr_gpu_op_t op;
    pwr_gpu_type_t type;
} kind_t;

static bool find_kind(const coll_poweraware_args_t *args, kind_t *kind)
{
    return find_op(args->op, &kind->op) && find_type(args->rdtype, &kind->type);
}

static kind_t kind_of(const coll_poweraware_args_t *args)
{
    kind_t kind = {PWR_GPU_SUM, PWR_GPU_F64};
    find_kind(args, &kind);
    return kind;
}

static bool can(const coll_poweraware_call_t *call, size_t bytes)
{
    return call->asks_gpu && 0 != bytes && call->hierarchy->max_local <= PWR_GPU_MEMBERS &&
           sizeof(message_t) <= call->segment->box_bytes;
}

/* ---- 1. offers ---- */

static void say_failed(void)
{
    pwr_say(1, "a collective on the GPU failed: %s", pwr_gpu_why());
}

static void say_staged(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    pwr_say(atomic_flag_test_and_set(&told) ? 2 : 1,
            "collectives of buffers on a GPU go through the host: %s", pwr_gpu_why());
}

static bool are_on_gpu(const buffers_t *buffers)
{
    return buffers->plain && pwr_device_memory_may_be() &&
           (NULL == buffers->in || pwr_device_memory_is(buffers->in)) &&
           (NULL == buffers->out || pwr_device_memory_is(buffers->out));
}

static void offer(const buffers_t *buffers, message_t *message)
{
    message->offers = are_on_gpu(buffers);
    if (message->offers) {
        pwr_gpu_offered_t offered =
            pwr_gpu_offer(&message->offer, buffers->in, buffers->out, false);
        message->offers = PWR_GPU_OFFERED == offered;
        if (message->offers) {
            pwr_gpu_settle();
        }
        if (PWR_GPU_NEVER == offered) {
            say_staged();
        }
    }
}

/* In the round of a collective for which there is no team. */
static void offer_alone(coll_poweraware_call_t *call, const buffers_t *buffers)
{
    coll_poweraware_begin_round(call);
    offer(buffers, (message_t *)pwr_boxes_fill(call->boxes, sizeof(message_t)));
    pwr_boxes_join(call->boxes, OMPI_SUCCESS);
}

/* ---- blocks that move ---- */

static pwr_gpu_pattern_t pattern_of(coll_poweraware_collective_t collective)
{
    switch (collective) {
    case COLL_POWERAWARE_BCAST:
        return PWR_GPU_BCAST;
    case COLL_POWERAWARE_SCATTER:
        return PWR_GPU_SCATTER;
    case COLL_POWERAWARE_ALLTOALL:
        return PWR_GPU_ALLTOALL;
    default:
        return PWR_GPU_GATHER;
    }
}

/* Of this rank, or one of the blocks that it has. */
static coll_poweraware_block_t own_block(const coll_poweraware_call_t *call,
                                         const coll_poweraware_args_t *args)
{
    return COLL_POWERAWARE_BCAST == call->collective || COLL_POWERAWARE_ALLTOALL == call->collective
               ? coll_poweraware_one_block(args->rbuf, args->rcount, args->rdtype)
               : coll_poweraware_own_block(call, args);
}

/* ---- 2. the leader ---- */

/* Everybody has joined the round before this one. */
static bool hear_offers(const coll_poweraware_call_t *call, const pwr_gpu_offer_t **offers)
{
    bool all = true;
    for (int i = 0; i < call->hierarchy->num_local; ++i) {
        const message_t *its =
            (const message_t *)pwr_boxes_read_last(call->boxes, i, sizeof(message_t));
        all &= 0 != its->offers;
        offers[i] = &its->offer;
    }
    return all;
}

/* What to post. */
static int verdict_of(pwr_gpu_result_t result)
{
    switch (result) {
    case PWR_GPU_DONE:
        return OMPI_SUCCESS;
    case PWR_GPU_CANNOT:
        say_staged();
        return UNDONE;
    default:
        say_failed();
        return OMPI_ERROR;
    }
}

/* After the leader has said so, in the round after that of the offers.  What is not done can be
   done again: no block of an input has been written to.  Returns the verdict of all. */
static int by_each(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    const pwr_gpu_offer_t *offers[PWR_GPU_MEMBERS];
    hear_offers(call, offers);
    int verdict =
        verdict_of(pwr_gpu_copy_own(offers, call->hierarchy->num_local, call->hierarchy->my_local,
                                    pattern_of(call->collective), own_block(call, args).bytes));
    pwr_boxes_end(call->boxes);
    coll_poweraware_begin_round(call);
    pwr_boxes_fill(call->boxes, 0);
    pwr_boxes_join(call->boxes, verdict);
    return pwr_boxes_wait_all(call->boxes);
}

/* When all have joined the round of offers, or will have. */
static int by_leader(coll_poweraware_call_t *call, const coll_poweraware_args_t *args, work_t *work)
{
    int leader = coll_poweraware_my_leader(call, COLL_POWERAWARE_NO_RANK);
    bool leading = call->hierarchy->my_rank == leader;
    int verdict;
    if (leading) {
        const pwr_gpu_offer_t *offers[PWR_GPU_MEMBERS];
        pwr_boxes_wait_all(call->boxes);
        coll_poweraware_begin_round(call);
        pwr_boxes_fill_set(call->boxes, 0);
        verdict = work(call, args, hear_offers(call, offers) ? offers : NULL); /* 2 */
        pwr_boxes_post(call->boxes, verdict);
    } else {
        coll_poweraware_begin_round(call);
        coll_poweraware_rest_for_set(call, leader, 0, &verdict); /* 3 */
    }
    verdict = EACH_ITS_OWN == verdict ? by_each(call, args) : verdict;
    pwr_boxes_end(call->boxes);
    call->undone = UNDONE == verdict;
    return call->undone ? OMPI_SUCCESS : verdict;
}

/* ---- kernels of all ranks at once ---- */

/* The round of offers, with what ranks say of their team.  Returns whether there may be one. */
static bool offer_with_team(coll_poweraware_call_t *call, const buffers_t *buffers)
{
    message_t *message = (message_t *)pwr_boxes_fill(call->boxes, sizeof(message_t));
    bool may_be = coll_poweraware_team_say(call, &message->team);
    message->offers = 0;
    if (NULL == coll_poweraware_team(call)) {
        offer(buffers, message);
    }
    if (may_be) {
        message->has = are_on_gpu(buffers) && pwr_gpu_can_use(buffers->in, buffers->out);
    }
    if (may_be && message->has && !message->offers) {
        pwr_gpu_settle();
    }
    pwr_boxes_join(call->boxes, OMPI_SUCCESS);
    return may_be;
}

/* Hears all.  Returns the team, if it is to make this call.  Ranks that have one GPU come to none:
   there the leader's kernel takes as long for two ranks, and 0.6 of the time for eight (H200, MPS).
 */
static pwr_gpu_team_t *hear_all(coll_poweraware_call_t *call)
{
    const pwr_gpu_offer_t *offers[PWR_GPU_MEMBERS];
    bool ready = false, all_have = true;
    pwr_boxes_wait_all(call->boxes);
    for (int i = 0; i < call->hierarchy->num_local; ++i) {
        const message_t *its = (const message_t *)pwr_boxes_read(call->boxes, i, sizeof(message_t));
        ready = coll_poweraware_team_hear(call, i, &its->team);
        all_have &= 0 != its->has;
        offers[i] = &its->offer;
    }
    if (!ready && all_have && !pwr_gpu_are_several(offers, call->hierarchy->num_local)) {
        coll_poweraware_team_drop(call);
    } else if (ready || all_have) {
        call->comes_to_team = coll_poweraware_team_go_on(call);
    }
    call->undone = ready && !all_have;
    return ready ? coll_poweraware_team(call) : NULL;
}

/* ---- Reduce, Allreduce ---- */

bool coll_poweraware_gpu_reduce_can(const coll_poweraware_call_t *call,
                                    const coll_poweraware_args_t *args, size_t bytes)
{
    kind_t kind;
    return can(call, bytes) && find_kind(args, &kind);
}

static int reduce(coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                  const pwr_gpu_offer_t *const *offers)
{
    const kind_t kind = kind_of(args);
    return NULL == offers ? UNDONE
                          : verdict_of(pwr_gpu_reduce(offers, call->hierarchy->num_local, kind.op,
                                                      kind.type, args->rcount));
}

static int reduce_by_team(coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                          const buffers_t *buffers, pwr_gpu_team_t *team)
{
    int root = COLL_POWERAWARE_ALLREDUCE == call->collective ? -1 : args->root;
    const kind_t kind = kind_of(args);
    if (PWR_GPU_DONE == pwr_gpu_team_reduce_now(team, buffers->in, buffers->out, kind.op, kind.type,
                                                args->rcount, root)) {
        return OMPI_SUCCESS;
    }
    say_failed();
    coll_poweraware_team_drop(call);
    return OMPI_ERROR;
}

/* ---- ... on several nodes ---- */

enum { CHUNK_BYTES = 512 * 1024 };

static int leader_of(const void *call, int node)
{
    return coll_poweraware_leader(call, node, COLL_POWERAWARE_NO_RANK);
}

static coll_poweraware_leaders_t leaders_of(coll_poweraware_call_t *call,
                                            const coll_poweraware_operands_t *operands)
{
    return (coll_poweraware_leaders_t){
        .call = call, .operands = operands, .of_node = leader_of, .self = call};
}

/* Whether mine is true of the leaders of all nodes. */
static bool all_leaders(coll_poweraware_call_t *call, bool mine)
{
    const coll_poweraware_operands_t operands = {
        .datatype = MPI_INT, .op = MPI_MIN, .extent = sizeof(int), .plain = true};
    const coll_poweraware_leaders_t leaders = leaders_of(call, &operands);
    int sum = mine, room = 0;
    coll_poweraware_begin_network(call, OMPI_SUCCESS);
    void *least = coll_poweraware_sum_whole(&leaders, (char *)&sum, (char *)&room, 1);
    coll_poweraware_end_network(call);
    return OMPI_SUCCESS == call->error && 0 != *(const int *)least;
}

/* Memory to reduce and to receive in: all leaders have it from the first such call on. */
static bool has_pinned(coll_poweraware_call_t *call, bool may)
{
    if (NULL == call->pinned) {
        pwr_gpu_pinned_t *new = may ? pwr_gpu_pinned_new((size_t)2 * CHUNK_BYTES) : NULL;
        if (may && NULL == new) {
            say_staged();
        }
        if (all_leaders(call, NULL != new)) {
            call->pinned = new;
        } else {
            pwr_gpu_pinned_free(new);
        }
    }
    return NULL != call->pinned;
}

/* A leader that cannot sends empty messages (primitives/messages.c).  Each leader's result has
   something of all others': so none has one then, and all know in the same chunk. */
static int reduce_across(coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                         const pwr_gpu_offer_t *const *offers)
{
    const coll_poweraware_operands_t operands = coll_poweraware_operands(args);
    const coll_poweraware_leaders_t leaders = leaders_of(call, &operands);
    const int num = call->hierarchy->num_local;
    const size_t most = CHUNK_BYTES / (size_t)operands.extent;
    const kind_t kind = kind_of(args);
    if (!has_pinned(call, NULL != offers)) {
        return UNDONE;
    }
    char *sum = pwr_gpu_pinned_memory(call->pinned), *room = sum + CHUNK_BYTES;
    for (size_t first = 0; first < args->rcount; first += most) {
        size_t left = args->rcount - first, count = left < most ? left : most;
        int rc = NULL == offers
                     ? UNDONE
                     : verdict_of(pwr_gpu_reduce_to_host(call->pinned, sum, offers, num, kind.op,
                                                         kind.type, first, count));
        coll_poweraware_begin_network(call, OMPI_SUCCESS == rc ? OMPI_SUCCESS : OMPI_ERROR);
        const char *result = coll_poweraware_sum_everywhere(&leaders, sum, room, count);
        coll_poweraware_end_network(call);
        if (OMPI_SUCCESS != call->error) {
            return 0 == first ? UNDONE : call->error;
        }
        if (PWR_GPU_DONE !=
            pwr_gpu_result_from_host(call->pinned, result, offers, num, kind.type, first, count)) {
            say_failed();
            coll_poweraware_note_error(call, OMPI_ERROR);
        }
    }
    return call->error;
}

/* ---- both ---- */

int coll_poweraware_gpu_reduce(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    bool has_result =
        COLL_POWERAWARE_ALLREDUCE == call->collective || args->root == call->hierarchy->my_rank;
    buffers_t buffers = {.in = MPI_IN_PLACE == args->sbuf ? args->rbuf : args->sbuf,
                         .out = has_result ? args->rbuf : NULL,
                         .plain = true};
    if (call->hierarchy->num_nodes > 1) {
        offer_alone(call, &buffers);
        return by_leader(call, args, reduce_across);
    }
    coll_poweraware_begin_round(call);
    pwr_gpu_team_t *team = offer_with_team(call, &buffers) ? hear_all(call) : NULL;
    if (NULL == team) {
        return by_leader(call, args, reduce);
    }
    pwr_boxes_end(call->boxes);
    return call->undone ? OMPI_SUCCESS : reduce_by_team(call, args, &buffers, team);
}

/* ---- Bcast, Gather, Allgather, Scatter, Alltoall ---- */

bool coll_poweraware_gpu_copy_can(const coll_poweraware_call_t *call,
                                  const coll_poweraware_args_t *args, size_t bytes)
{
    bool in_place = COLL_POWERAWARE_ALLTOALL == call->collective && MPI_IN_PLACE == args->sbuf;
    return can(call, bytes) && 1 == call->hierarchy->num_nodes && !in_place;
}

static int copy(coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                const pwr_gpu_offer_t *const *offers)
{
    const int num = call->hierarchy->num_local;
    if (NULL == offers) {
        return UNDONE;
    }
    return pwr_gpu_are_several(offers, num)
               ? EACH_ITS_OWN
               : verdict_of(pwr_gpu_copy(offers, num, pattern_of(call->collective),
                                         own_block(call, args).bytes));
}

/* All blocks of a buffer as one; NULL, and no more plain: they are apart. */
static char *all_of(const coll_poweraware_call_t *call, coll_poweraware_blocks_t blocks,
                    bool *plain)
{
    coll_poweraware_block_t all = coll_poweraware_block_of(&blocks, 0);
    all.count *= (size_t)call->hierarchy->size;
    char *bytes = coll_poweraware_block_plain(&all);
    *plain &= NULL != bytes;
    return bytes;
}

static char *own_of(const coll_poweraware_call_t *call, const coll_poweraware_args_t *args,
                    bool *plain)
{
    coll_poweraware_block_t own = own_block(call, args);
    char *bytes = coll_poweraware_block_plain(&own);
    *plain &= NULL != bytes;
    return bytes;
}

int coll_poweraware_gpu_copy(coll_poweraware_call_t *call, const coll_poweraware_args_t *args)
{
    bool is_root = args->root == call->hierarchy->my_rank;
    buffers_t b = {.plain = true};
    switch (call->collective) {
    case COLL_POWERAWARE_BCAST:
        b.out = own_of(call, args, &b.plain);
        if (is_root) {
            b.in = b.out;
            b.out = NULL;
        }
        break;
    case COLL_POWERAWARE_SCATTER:
        b.in = is_root ? all_of(call, coll_poweraware_all_blocks(call, args), &b.plain) : NULL;
        b.out = own_of(call, args, &b.plain);
        break;
    case COLL_POWERAWARE_ALLTOALL:
        b.in = all_of(call, coll_poweraware_send_blocks(call, args), &b.plain);
        b.out = all_of(call, coll_poweraware_recv_blocks(call, args), &b.plain);
        break;
    default: /* Gather, Allgather */
        b.in = own_of(call, args, &b.plain);
        b.out = is_root || COLL_POWERAWARE_ALLGATHER == call->collective
                    ? all_of(call, coll_poweraware_all_blocks(call, args), &b.plain)
                    : NULL;
    }
    offer_alone(call, &b);
    return by_leader(call, args, copy);
}
