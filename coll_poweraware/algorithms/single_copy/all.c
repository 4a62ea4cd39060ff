/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What calls have in common in which all ranks of a node expose each other memory.
 */
#include <string.h>

#include "algorithms/single_copy/single_copy.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/packer.h"
#include "pwr_ompi/process.h"

bool coll_poweraware_single_copy_can(const coll_poweraware_call_t *call, size_t bytes)
{
    enum { SHORTEST = 2 * COLL_POWERAWARE_SHORTEST_SINGLE_COPY }; /* two rounds are to be paid */
    return bytes >= SHORTEST && 1 == call->hierarchy->num_nodes && call->hierarchy->num_local > 1 &&
           NULL != call->pids && !pwr_boxes_are_crowded(call->boxes);
}

/* ---- what it costs ---- */

_Static_assert((int)COLL_POWERAWARE_NUM_COLLECTIVES <= (int)PWR_COPY_KINDS,
               "a kind for each collective");

uint64_t coll_poweraware_begin_work(const coll_poweraware_call_t *call, int step, size_t bytes)
{
    pwr_events_add(PWR_EVENT_COPY, step, -1, bytes);
    return call->measured_bytes > 0 ? pwr_env_now_ns(&pwr_process.env) : 0;
}

void coll_poweraware_end_work(coll_poweraware_call_t *call, int step, uint64_t begin_ns)
{
    if (call->measured_bytes > 0) {
        call->work_ns += pwr_env_now_ns(&pwr_process.env) - begin_ns;
    }
    pwr_events_add(PWR_EVENT_COPY_END, step, -1, 0);
}

void coll_poweraware_report_work(const coll_poweraware_call_t *call, pwr_copy_way_t way)
{
    if (call->measured_bytes > 0) {
        pwr_copier_took(&call->segment->copier,
                        pwr_copy_class((int)call->collective, call->measured_bytes), way,
                        call->measured_bytes, call->work_ns);
    }
}

/* ---- what each rank exposes ---- */

coll_poweraware_exposed_t coll_poweraware_exposed_by(const coll_poweraware_call_t *call, int local)
{
    coll_poweraware_exposed_t exposed;
    memcpy(&exposed, pwr_boxes_read(call->boxes, local, sizeof exposed), sizeof exposed);
    return exposed;
}

bool coll_poweraware_expose_all(coll_poweraware_call_t *call, coll_poweraware_exposed_t mine,
                                size_t bytes)
{
    if (0 == call->hierarchy->my_local) {
        mine.ends = coll_poweraware_single_copy_refused(call);
        pwr_copier_t *copier = &call->segment->copier;
        int class = pwr_copy_class((int)call->collective, bytes);
        mine.way = (int32_t)pwr_copier_choose(copier, class);
        mine.measures = pwr_copier_measures(copier, class);
    }
    coll_poweraware_begin_round(call);
    memcpy(pwr_boxes_fill(call->boxes, sizeof mine), &mine, sizeof mine);
    pwr_boxes_join(call->boxes, OMPI_SUCCESS);
    pwr_boxes_wait_all(call->boxes);
    coll_poweraware_exposed_t first = coll_poweraware_exposed_by(call, 0);
    bool exposes = PWR_COPY_SINGLE == (pwr_copy_way_t)first.way && 0 == first.ends;
    for (int i = 0; i < call->hierarchy->num_local && exposes; ++i) {
        exposes = 0 != coll_poweraware_exposed_by(call, i).exposes;
    }
    call->measured_bytes = 0 != first.measures ? bytes : 0;
    if (0 != first.ends) {
        coll_poweraware_end_single_copy(call);
    }
    if (!exposes) {
        pwr_segment_touch_used(call->segment); /* the other way needs them */
    }
    return exposes;
}

/* ---- copies ---- */

static int write_packed(const coll_poweraware_call_t *call, int local, uint64_t there,
                        pwr_packer_t *packer, unsigned char *buffer, size_t bytes)
{
    int rc = pwr_packer_pack(packer, buffer, bytes);
    if (OMPI_SUCCESS == rc) {
        coll_poweraware_write(call, local, there, buffer, bytes);
    }
    return rc;
}

static int read_packed(const coll_poweraware_call_t *call, int local, uint64_t there,
                       pwr_packer_t *packer, unsigned char *buffer, size_t bytes)
{
    coll_poweraware_read(call, local, buffer, there, bytes);
    return pwr_packer_unpack(packer, buffer, bytes);
}

/* Where my block has gaps: through a buffer that stays in the nearest cache. */
static int copy_with_gaps(const coll_poweraware_call_t *call, int local, uint64_t there,
                          bool to_there, pwr_packer_t *packer, size_t bytes)
{
    unsigned char buffer[16 * 1024];
    int rc = OMPI_SUCCESS;
    for (size_t done = 0; done < bytes && OMPI_SUCCESS == rc; done += sizeof buffer) {
        size_t left = bytes - done;
        size_t some = left < sizeof buffer ? left : sizeof buffer;
        rc = to_there ? write_packed(call, local, there + done, packer, buffer, some)
                      : read_packed(call, local, there + done, packer, buffer, some);
    }
    return rc;
}

int coll_poweraware_copy_exposed(const coll_poweraware_call_t *call, int local, uint64_t there,
                                 bool to_there, const coll_poweraware_block_t *block)
{
    unsigned char *here = pwr_packer_contiguous(block->data, block->count, block->datatype);
    if (NULL != here && to_there) {
        coll_poweraware_write(call, local, there, here, block->bytes);
        return OMPI_SUCCESS;
    }
    if (NULL != here) {
        coll_poweraware_read(call, local, here, there, block->bytes);
        return OMPI_SUCCESS;
    }
    pwr_packer_t packer;
    int rc = pwr_packer_begin(&packer, to_there, block->data, block->count, block->datatype);
    if (OMPI_SUCCESS == rc) {
        rc = copy_with_gaps(call, local, there, to_there, &packer, block->bytes);
        pwr_packer_end(&packer);
    }
    return rc;
}
