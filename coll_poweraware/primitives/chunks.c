/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Chunks in the slots of the segment (protocol: pwr_ompi/segment.h).
 */
#include "primitives/primitives.h"

coll_poweraware_chunk_t coll_poweraware_next_chunk(coll_poweraware_call_t *call)
{
    pwr_segment_t *segment = call->segment;
    unsigned index = segment->next_chunk++ % PWR_SEGMENT_SLOTS;
    return (coll_poweraware_chunk_t){
        .slot = &segment->control->slot[index],
        .expect = &segment->expect[index],
        .data = segment->data[index],
    };
}

void coll_poweraware_wait_free(const coll_poweraware_call_t *call,
                               const coll_poweraware_chunk_t *chunk)
{
    coll_poweraware_wait(call, PWR_SITE_SLOT_FREE, &chunk->slot->released, chunk->expect->released);
}

void coll_poweraware_release_chunk(const coll_poweraware_call_t *call,
                                   coll_poweraware_chunk_t *chunk)
{
    chunk->expect->released += (uint32_t)call->hierarchy->num_local;
    pwr_flag_arrive(&chunk->slot->released, chunk->expect->released);
}

/* Memory that two cores have in their caches is slow to write: every line has to be taken away from
   the other core.  So chunks go through all of their slot, and the segment is more than such a
   cache holds: between two cores of an AMD EPYC 9004 (1 MiB each) that share an L3, 256 KiB in
   chunks of 32 KiB move at 9 GB/s through 256 KiB of memory and at 31 through 4 MiB.  The part of
   the slot that is in use grows slowly, because its pages cost time when they are first touched.
 */
static size_t place(const coll_poweraware_call_t *call, pwr_slot_expect_t *expect, size_t bytes)
{
    size_t slot_bytes = call->slot_bytes;
    size_t first = expect->next;
    if (first + bytes > expect->in_use) {
        first = 0;
        expect->in_use += bytes;
        expect->in_use = expect->in_use < slot_bytes ? expect->in_use : slot_bytes;
    }
    expect->next = (first + bytes + PWR_CACHE_LINE - 1) / PWR_CACHE_LINE * PWR_CACHE_LINE;
    return first;
}

coll_poweraware_claim_t coll_poweraware_claim(coll_poweraware_call_t *call, size_t bytes,
                                              int fillers, int readers)
{
    coll_poweraware_chunk_t chunk = coll_poweraware_next_chunk(call);
    coll_poweraware_claim_t claim = {
        .slot = chunk.slot,
        .data = chunk.data + place(call, chunk.expect, bytes),
        .free = chunk.expect->released,
    };
    claim.filled = chunk.expect->arrived += (uint32_t)fillers;
    claim.gone = chunk.expect->released += (uint32_t)readers;
    return claim;
}

/* A network that copies nothing has short eager messages, and is faster with long ones. */
enum { SHORTEST_EAGER = 32 * 1024 };

size_t coll_poweraware_message_bytes(const coll_poweraware_call_t *call)
{
    return call->hierarchy->num_nodes > 1 && call->eager_bytes >= SHORTEST_EAGER
               ? call->eager_bytes / PWR_CACHE_LINE * PWR_CACHE_LINE
               : SIZE_MAX;
}

size_t coll_poweraware_chunk_bytes(const coll_poweraware_call_t *call)
{
    size_t wanted = call->settings->chunk_bytes;
    size_t message = coll_poweraware_message_bytes(call);
    wanted = message < wanted ? message : wanted;
    return wanted < call->slot_bytes ? wanted : call->slot_bytes;
}
