/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Pieces of a large message in flight (protocol: pipeline.h).
 */
#include "algorithms/leader/pipeline.h"

#include "algorithms/single_copy/single_copy.h"

/* A stage is reused after PWR_SEGMENT_SLOTS pieces; its messages must be complete by then. */
enum { AHEAD = 4, SENDING = 3 };
_Static_assert(AHEAD + SENDING <= PWR_SEGMENT_SLOTS, "a stage is over before it is used again");

typedef struct stage {
    coll_poweraware_piece_t piece;
    coll_poweraware_claim_t claim;
    int lane; /* of the messages of this piece */
} stage_t;

typedef struct run {
    const coll_poweraware_pipeline_t *pipeline;
    void *self;
    coll_poweraware_call_t *call;
    int leader;
    size_t num_pieces;
    size_t claimed; /* pieces that are through step 1, ... */
    size_t opened;  /* ... 2, ... */
    size_t sent;    /* ... 4 */
    stage_t stages[PWR_SEGMENT_SLOTS];
} run_t;

/* Of a message shorter than that many chunks. */
enum { FEWEST_PIECES = 8, SMALLEST_PIECE = 8 * 1024, SMALLEST_CROWDED = 64 * 1024 };

size_t coll_poweraware_piece_bytes(const coll_poweraware_call_t *call, size_t message_bytes)
{
    size_t most = coll_poweraware_chunk_bytes(call);
    bool crowded = call->crowded && call->hierarchy->num_nodes > 1;
    size_t least = crowded ? SMALLEST_CROWDED : SMALLEST_PIECE;
    size_t share = message_bytes / FEWEST_PIECES;
    share = share < least ? least : share;
    return share < most ? share : most;
}

static stage_t *stage_of(run_t *run, size_t index)
{
    return &run->stages[index % PWR_SEGMENT_SLOTS];
}

static bool only_filler(const coll_poweraware_piece_t *piece)
{
    return piece->fills && 1 == piece->fillers;
}

/* 1. */
static void claim(run_t *run, stage_t *stage, size_t index)
{
    stage->piece = (coll_poweraware_piece_t){.from = COLL_POWERAWARE_NO_RANK};
    stage->lane = 1 + (int)(index % PWR_SEGMENT_SLOTS);
    run->pipeline->describe(run->self, index, &stage->piece);
    if (stage->piece.bytes > 0) {
        stage->claim = coll_poweraware_claim(run->call, stage->piece.bytes, stage->piece.fillers,
                                             stage->piece.readers);
    }
}

/* 4.  Messages between two ranks are told apart by their order alone: pieces are sent in theirs. */
static void send_next(run_t *run)
{
    stage_t *stage = stage_of(run, run->sent++);
    const coll_poweraware_piece_t *piece = &stage->piece;
    const unsigned char *data = NULL != piece->direct ? piece->direct : stage->claim.data;
    if (0 == piece->bytes) {
        return;
    }
    run->call->lane = stage->lane;
    for (int i = 0; i < piece->num_to; ++i) {
        coll_poweraware_post_send(run->call, data, piece->bytes, MPI_BYTE, piece->to[i]);
    }
}

/* 4.  What need not wait for others before it is sent. */
static void send_filled(run_t *run)
{
    while (run->sent < run->opened) {
        const coll_poweraware_piece_t *piece = &stage_of(run, run->sent)->piece;
        bool filled = only_filler(piece) && COLL_POWERAWARE_NO_RANK == piece->from;
        if (0 != piece->bytes && 0 != piece->num_to && !filled) {
            return;
        }
        send_next(run);
    }
}

static void complete_messages(run_t *run, const stage_t *stage)
{
    run->call->lane = stage->lane;
    coll_poweraware_complete(run->call, OMPI_SUCCESS);
}

/* Readers of a slot with one filler learn of its error. */
static void count_filled(const run_t *run, stage_t *stage)
{
    if (only_filler(&stage->piece)) {
        pwr_slot_set_error(stage->claim.slot, run->call->error);
    }
    pwr_flag_arrive(&stage->claim.slot->arrived, stage->claim.filled);
}

/* 2. my part. */
static void fill(run_t *run, stage_t *stage)
{
    const coll_poweraware_piece_t *piece = &stage->piece;
    if (NULL != piece->direct && run->sent == run->opened) {
        send_next(run);
    }
    if (NULL == piece->direct || !piece->reads || piece->readers > 1) {
        uint64_t begin_ns = coll_poweraware_begin_work(run->call, 0, piece->bytes);
        coll_poweraware_note_error(run->call,
                                   run->pipeline->fill(run->self, piece, stage->claim.data));
        coll_poweraware_end_work(run->call, 0, begin_ns);
    }
    count_filled(run, stage);
}

/* 2. a message's part. */
static void receive(run_t *run, stage_t *stage)
{
    const coll_poweraware_piece_t *piece = &stage->piece;
    unsigned char *data = NULL != piece->direct ? piece->direct : stage->claim.data;
    run->call->lane = stage->lane;
    coll_poweraware_post_recv(run->call, data, piece->bytes, MPI_BYTE, piece->from);
}

static bool can_open(const stage_t *stage)
{
    return 0 == stage->piece.bytes || !stage->piece.fills ||
           pwr_flag_reached(&stage->claim.slot->released, stage->claim.free);
}

/* 2.  May wait. */
static void open_stage(run_t *run, stage_t *stage)
{
    const coll_poweraware_piece_t *piece = &stage->piece;
    if (0 == piece->bytes || !piece->fills) {
        return;
    }
    pwr_flag_t *released = &stage->claim.slot->released;
    if (piece->rests && run->call->hierarchy->my_rank != run->leader) {
        coll_poweraware_rest(run->call, PWR_SITE_SLOT_FREE, released, stage->claim.free,
                             run->leader);
    } else {
        coll_poweraware_wait(run->call, PWR_SITE_SLOT_FREE, released, stage->claim.free);
    }
    if (COLL_POWERAWARE_NO_RANK == piece->from) {
        fill(run, stage);
    } else {
        receive(run, stage);
    }
}

/* Claims and opens piece index, and those after it that can be without waiting. */
static void open_ahead(run_t *run, size_t index)
{
    while (run->claimed < run->num_pieces && run->claimed < index + AHEAD) {
        claim(run, stage_of(run, run->claimed), run->claimed);
        ++run->claimed;
    }
    while (run->opened < run->claimed &&
           (run->opened == index || can_open(stage_of(run, run->opened)))) {
        open_stage(run, stage_of(run, run->opened));
        ++run->opened;
        send_filled(run);
    }
}

/* Whether to wait seldom and long: a lever costs about as much time as one piece takes on a fast
   network, and where ranks share CPUs, so does a change of rank. */
static bool waits_long(const coll_poweraware_call_t *call)
{
    return pwr_boxes_are_crowded(call->boxes) ||
           (call->hierarchy->num_nodes > 1 && coll_poweraware_throttles(call));
}

/* 3.  The last of the pieces from index on that I may wait for at once: to hold the slots of those
   that this rank has claimed leaves enough for the others. */
static stage_t *last_to_rest_for(run_t *run, size_t index)
{
    stage_t *last = stage_of(run, index);
    if (!waits_long(run->call)) {
        return last;
    }
    for (size_t next = index + 1; next < run->opened; ++next) {
        stage_t *stage = stage_of(run, next);
        if (0 == stage->piece.bytes || !stage->piece.rests || !stage->piece.reads) {
            break;
        }
        last = stage;
    }
    return last;
}

/* 3. */
static void wait_filled(run_t *run, size_t index)
{
    stage_t *stage = stage_of(run, index);
    pwr_flag_t *arrived = &stage->claim.slot->arrived;
    if (pwr_flag_reached(arrived, stage->claim.filled)) {
        return;
    }
    if (stage->piece.rests && run->call->hierarchy->my_rank != run->leader) {
        stage_t *last = last_to_rest_for(run, index);
        coll_poweraware_rest(run->call, PWR_SITE_SLOT_FILLED, &last->claim.slot->arrived,
                             last->claim.filled, run->leader);
    }
    coll_poweraware_wait(run->call, PWR_SITE_SLOT_FILLED, arrived, stage->claim.filled);
}

/* 3.  The piece is in its slot, or in my own memory. */
static void complete_piece(run_t *run, size_t index)
{
    stage_t *stage = stage_of(run, index);
    const coll_poweraware_piece_t *piece = &stage->piece;
    if (COLL_POWERAWARE_NO_RANK != piece->from) {
        complete_messages(run, stage);
        count_filled(run, stage);
    } else if (piece->reads && !only_filler(piece)) {
        wait_filled(run, index);
        if (1 == piece->fillers) {
            coll_poweraware_note_error(run->call, stage->claim.slot->error);
        }
    }
}

/* 3-6. */
static void close_stage(run_t *run, size_t index)
{
    stage_t *stage = stage_of(run, index);
    const coll_poweraware_piece_t *piece = &stage->piece;
    if (0 == piece->bytes) {
        return;
    }
    complete_piece(run, index);
    while (run->sent <= index) {
        send_next(run);
    }
    send_filled(run);
    if (piece->takes && OMPI_SUCCESS == run->call->error) { /* 5 */
        uint64_t begin_ns = coll_poweraware_begin_work(run->call, 0, piece->bytes);
        coll_poweraware_note_error(run->call,
                                   run->pipeline->take(run->self, piece, stage->claim.data));
        coll_poweraware_end_work(run->call, 0, begin_ns);
    }
    if (piece->reads && 0 == piece->num_to) { /* 6 */
        pwr_flag_arrive(&stage->claim.slot->released, stage->claim.gone);
    }
}

/* 6. */
static void settle(run_t *run, size_t index)
{
    stage_t *stage = stage_of(run, index);
    if (stage->piece.bytes > 0 && stage->piece.num_to > 0) {
        complete_messages(run, stage);
        pwr_flag_arrive(&stage->claim.slot->released, stage->claim.gone);
    }
}

static void run_stages(run_t *run)
{
    size_t settled = 0;
    for (size_t index = 0; index < run->num_pieces; ++index) {
        open_ahead(run, index);
        close_stage(run, index);
        if (index >= SENDING) {
            settle(run, settled++);
        }
    }
    while (settled < run->num_pieces) {
        settle(run, settled++);
    }
}

int coll_poweraware_pipeline_run(const coll_poweraware_pipeline_t *pipeline, void *self,
                                 coll_poweraware_call_t *call, size_t num_pieces, int leader)
{
    run_t run = {
        .pipeline = pipeline,
        .self = self,
        .call = call,
        .leader = leader,
        .num_pieces = num_pieces,
    };
    bool leads = call->hierarchy->my_rank == leader && num_pieces > 0;
    if (leads) {
        coll_poweraware_begin_network(call, OMPI_SUCCESS);
    }
    run_stages(&run);
    if (leads) {
        coll_poweraware_end_network(call);
    }
    call->lane = 0;
    /* nobody takes a piece before the first is filled */
    call->work_ns += num_pieces > 0 ? call->work_ns / num_pieces : 0;
    coll_poweraware_report_work(call, PWR_COPY_SHARED);
    return call->error;
}
