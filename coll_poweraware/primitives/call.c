/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What an algorithm is given: once per communicator, and made ready for each call.
 */
#include "primitives/primitives.h"

#include <stdlib.h>

#include "primitives/gpu_team.h"
#include "pwr_gpu/pinned.h"

#include "ompi/mca/coll/base/coll_tags.h"

#define TAG(constant, name, arguments, bytes, known)                                               \
    [COLL_POWERAWARE_##constant] = MCA_COLL_BASE_TAG_##constant,
static const int tags[COLL_POWERAWARE_NUM_COLLECTIVES] = {COLL_POWERAWARE_HANDLED(TAG)};

coll_poweraware_call_t *coll_poweraware_call_new(struct ompi_communicator_t *comm,
                                                 const coll_poweraware_settings_t *settings,
                                                 const pwr_hierarchy_t *h, pwr_segment_t *segment)
{
    coll_poweraware_call_t *call = calloc(1, sizeof *call);
    if (NULL == call) {
        return NULL;
    }
    call->comm = comm;
    call->settings = settings;
    call->hierarchy = h;
    call->segment = segment;
    call->slot_bytes = segment->shape.slot_bytes;
    call->boxes = &segment->boxes;
    call->messages = calloc((size_t)coll_poweraware_first_message(h, COLL_POWERAWARE_LANES),
                            sizeof *call->messages);
    call->numbers = calloc(coll_poweraware_max_numbers(h), sizeof *call->numbers);
    if (NULL == call->messages || NULL == call->numbers) {
        coll_poweraware_call_free(call);
        return NULL;
    }
    return call;
}

void coll_poweraware_call_free(coll_poweraware_call_t *call)
{
    if (NULL != call) {
        coll_poweraware_team_free(call->team);
        pwr_gpu_pinned_free(call->pinned);
        free(call->pids);
        free(call->messages);
        free(call->numbers);
        free(call->scratch);
        free(call);
    }
}

void coll_poweraware_call_begin(coll_poweraware_call_t *call, pwr_operation_t *operation,
                                coll_poweraware_collective_t collective)
{
    call->operation = operation;
    call->slot_bytes = call->segment->shape.slot_bytes;
    call->collective = collective;
    call->tag = tags[collective];
    call->lane = 0;
    call->error = OMPI_SUCCESS;
    call->asks_gpu = false;
    call->comes_to_team = false;
    call->undone = false;
    call->measured_bytes = 0;
    call->work_ns = 0;
}

char *coll_poweraware_scratch(coll_poweraware_call_t *call)
{
    if (NULL == call->scratch) {
        call->scratch = malloc(COLL_POWERAWARE_SCRATCH_BYTES);
    }
    return call->scratch;
}
