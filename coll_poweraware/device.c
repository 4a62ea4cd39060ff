/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which calls ask whether all ranks have their buffers on a GPU (device.h).
 */
#include "device.h"

#include <stdatomic.h>

#include "call.h"
#include "comm/state.h"
#include "pwr_ompi/device_memory.h"
#include "pwr_ompi/process.h"
#include "repeat.h"

enum { STRIKES = 4, ASK_EVERY = 1000 };

/* The algorithm that asks, and how many before it do; NULL: no such calls ask. */
static const coll_poweraware_algorithm_t *find(coll_poweraware_collective_t collective, int *index)
{
    *index = 0;
    for (int i = 0; i < coll_poweraware_num_algorithms; ++i) {
        const coll_poweraware_algorithm_t *a = &coll_poweraware_algorithms[i];
        if (coll_poweraware_is_for_gpus(a)) {
            if (collective == a->collective) {
                return *index < COLL_POWERAWARE_GPU_COLLECTIVES ? a : NULL;
            }
            ++*index;
        }
    }
    return NULL;
}

static bool names_gpu(const mca_coll_poweraware_module_t *m,
                      coll_poweraware_collective_t collective)
{
    int named = m->algorithm[collective];
    return named >= 0 && coll_poweraware_is_for_gpus(&coll_poweraware_algorithms[named]);
}

static coll_poweraware_gpu_class_t *class_of(mca_coll_poweraware_module_t *m, int index,
                                             size_t bytes)
{
    int bits = 0;
    while (bits < COLL_POWERAWARE_GPU_SIZES - 1 && bytes >> bits > 1) {
        ++bits;
    }
    return &m->gpu.classes[index][bits];
}

/* Whether no rank ends such a call before all have begun it. */
static bool meets(int collective)
{
    return COLL_POWERAWARE_ALLREDUCE == collective || COLL_POWERAWARE_ALLGATHER == collective ||
           COLL_POWERAWARE_ALLTOALL == collective;
}

/* So far. */
static uint64_t calls_that_meet(const mca_coll_poweraware_module_t *m)
{
    uint64_t calls = 0;
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        calls += meets(c) ? coll_poweraware_calls(m, c) : 0;
    }
    return calls;
}

void coll_poweraware_want_gpu(mca_coll_poweraware_module_t *m,
                              coll_poweraware_collective_t collective)
{
    const coll_poweraware_state_t *state = m->state;
    int index;
    const coll_poweraware_algorithm_t *a = find(collective, &index);
    if (m->gpu.wanted || NULL == a || NULL == state ||
        COLL_POWERAWARE_SHARED != state->shared[PWR_SEGMENT_BOXES] ||
        (state->hierarchy->num_nodes > 1 &&
         (!coll_poweraware_crosses_nodes(a) || pwr_device_memory_is_stocks()))) {
        return;
    }
    m->gpu.wanted = true;
    atomic_fetch_add(&state->segment->control->gpu.wanted, 1);
    coll_poweraware_end_all_repeats(m); /* what repeats does not look */
}

static void turn_on(mca_coll_poweraware_module_t *m)
{
    m->gpu.on = true;
    pwr_say(2, "a communicator of %d ranks asks for buffers on the GPU", m->state->hierarchy->size);
}

bool coll_poweraware_agree_on_gpu(mca_coll_poweraware_module_t *m,
                                  coll_poweraware_collective_t collective, size_t bytes)
{
    const coll_poweraware_state_t *state = m->state;
    if (m->gpu.on || NULL == state || state->hierarchy->num_nodes > 1 ||
        NULL == state->segment->control) {
        return false;
    }
    pwr_segment_gpu_t *shared = &state->segment->control->gpu;
    uint64_t ended = calls_that_meet(m);
    uint64_t from = atomic_load_explicit(&shared->from, memory_order_acquire);
    if (meets(collective)) { /* this one is counted */
        if (0 == from && 0 != bytes && 0 == state->hierarchy->my_local &&
            (uint32_t)state->hierarchy->num_local == atomic_load(&shared->wanted)) {
            atomic_store_explicit(&shared->from, ended + 1, memory_order_release);
        }
        --ended;
    }
    if (0 != from && ended + 1 >= from) {
        turn_on(m);
    }
    return m->gpu.on;
}

void coll_poweraware_hear_gpu_wanted(mca_coll_poweraware_module_t *m, int64_t ranks)
{
    const pwr_hierarchy_t *h = m->state->hierarchy; /* where calls teach, each one is looked at */
    if (!m->gpu.on && h->num_nodes > 1 && ranks == h->size) {
        turn_on(m);
    }
}

const coll_poweraware_algorithm_t *
coll_poweraware_gpu_algorithm(mca_coll_poweraware_module_t *m,
                              coll_poweraware_collective_t collective,
                              const coll_poweraware_args_t *args, size_t bytes)
{
    bool chosen = COLL_POWERAWARE_CHOOSE == m->algorithm[collective] && m->gpu.on;
    int index;
    const coll_poweraware_algorithm_t *a =
        chosen || names_gpu(m, collective) ? find(collective, &index) : NULL;
    if (NULL == a) {
        return NULL;
    }
    const coll_poweraware_gpu_class_t *class = class_of(m, index, bytes);
    if (STRIKES == class->strikes &&
        (int32_t)((uint32_t)m->calls[collective] - class->ask_at) < 0) {
        return NULL;
    }
    m->state->call->asks_gpu = true;
    return coll_poweraware_can(a, m->state->call, args, bytes) ? a : NULL;
}

bool coll_poweraware_gpu_has_done(mca_coll_poweraware_module_t *m,
                                  coll_poweraware_collective_t collective, size_t bytes)
{
    int index;
    find(collective, &index);
    coll_poweraware_gpu_class_t *class = class_of(m, index, bytes);
    if (m->ended || !m->state->call->undone) {
        class->strikes = 0;
        return true;
    }
    --m->handled[collective];
    __atomic_fetch_sub(&coll_poweraware_num_handled, 1, __ATOMIC_RELAXED);
    class->strikes += !m->state->call->comes_to_team && class->strikes < STRIKES;
    class->ask_at = (uint32_t)m->calls[collective] + ASK_EVERY;
    return false;
}
