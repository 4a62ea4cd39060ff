/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Steps of a collective that moves data: an element has 4 or 8 bytes (`detail`).
 */
#include <stdio.h>
#include <string.h>

#include "run.h"

static bool is_to_all(rsh_name_t name)
{
    return RSH_ALLTOALL == name || RSH_ALLTOALLS == name;
}

/* Elements that a PE gives; collect: each as many as it likes. */
static size_t count_of(const rsh_step_t *step, int pe)
{
    bool uneven = RSH_COLLECT == step->name && step->flag;
    return uneven ? diff_hash(step->seed, (uint64_t)pe, 51) % (step->count + 1) : step->count;
}

static size_t bytes_of_block(const rsh_step_t *step, int pe)
{
    return count_of(step, pe) * (size_t)step->detail;
}

static size_t source_bytes(const rsh_step_t *step)
{
    size_t blocks = is_to_all(step->name) ? (size_t)step->set.size : 1;
    return blocks * step->count * (size_t)step->detail * (size_t)step->stride[1];
}

static size_t target_bytes(const rsh_step_t *step)
{
    size_t blocks = RSH_BROADCAST == step->name ? 1 : (size_t)step->set.size;
    return blocks * step->count * (size_t)step->detail * (size_t)step->stride[0];
}

static bool draw(rsh_draw_t *d, rsh_step_t *step)
{
    bool strided = RSH_ALLTOALLS == step->name;
    step->set = rsh_draw_set(d);
    step->detail = diff_chance(&d->random, 50) ? 4 : 8;
    step->origin = (int)diff_draw(&d->random, (unsigned)step->set.size); /* the root's index */
    step->flag = rsh_may(d, RSH_UNEVEN, 80);
    for (int side = 0; side < 2; ++side) {
        step->stride[side] = strided ? 1 + (int)diff_draw(&d->random, 3) : 1;
    }
    step->count = rsh_draw_count(
        d, (size_t)(2 * step->set.size * step->detail * step->stride[0] * step->stride[1]));
    step->to = rsh_draw_place(d, target_bytes(step), (size_t)step->detail, RSH_SYMMETRIC);
    step->from = rsh_draw_place(d, source_bytes(step), (size_t)step->detail, RSH_SYMMETRIC);
    return true;
}

static uint64_t calls(const rsh_step_t *step)
{
    return (uint64_t)step->set.size;
}

/* ---- what comes out ---- */

static void expect_collected(rsh_memory_t *memory, const rsh_step_t *step)
{
    unsigned char *to = rsh_expected(memory, &step->to);
    for (int i = 0; i < step->set.size; ++i) {
        int pe = rsh_set_pe(&step->set, i);
        rsh_initial(memory, pe, &step->from, 0, bytes_of_block(step, pe), to);
        to += bytes_of_block(step, pe);
    }
}

static void expect_exchanged(rsh_memory_t *memory, const rsh_step_t *step, int index)
{
    size_t size = (size_t)step->detail;
    unsigned char *to = rsh_expected(memory, &step->to);
    for (size_t i = 0; i < (size_t)step->set.size * step->count; ++i) {
        int pe = rsh_set_pe(&step->set, (int)(i / step->count));
        size_t element = (size_t)index * step->count + i % step->count;
        rsh_initial(memory, pe, &step->from, element * (size_t)step->stride[1] * size, size,
                    to + i * (size_t)step->stride[0] * size);
    }
}

static void expect(rsh_memory_t *memory, const rsh_step_t *step)
{
    int index = rsh_set_index(&step->set, memory->pe);
    if (index < 0) {
        return;
    }
    if (is_to_all(step->name)) {
        expect_exchanged(memory, step, index);
    } else if (RSH_BROADCAST != step->name) {
        expect_collected(memory, step);
    } else if (step->origin != index) {
        rsh_initial(memory, rsh_set_pe(&step->set, step->origin), &step->from, 0, step->to.bytes,
                    rsh_expected(memory, &step->to));
    }
    rsh_expect_scribble(memory, &step->from);
}

/* ---- calls ---- */

static void call_32(const rsh_step_t *step, void *to, const void *from, size_t n, long *array)
{
    const rsh_set_t *s = &step->set;
    switch (step->name) {
    case RSH_BROADCAST:
        shmem_broadcast32(to, from, n, step->origin, s->start, s->log_stride, s->size, array);
        break;
    case RSH_COLLECT:
        shmem_collect32(to, from, n, s->start, s->log_stride, s->size, array);
        break;
    case RSH_FCOLLECT:
        shmem_fcollect32(to, from, n, s->start, s->log_stride, s->size, array);
        break;
    case RSH_ALLTOALL:
        shmem_alltoall32(to, from, n, s->start, s->log_stride, s->size, array);
        break;
    default:
        shmem_alltoalls32(to, from, step->stride[0], step->stride[1], n, s->start, s->log_stride,
                          s->size, array);
        break;
    }
}

static void call_64(const rsh_step_t *step, void *to, const void *from, size_t n, long *array)
{
    const rsh_set_t *s = &step->set;
    switch (step->name) {
    case RSH_BROADCAST:
        shmem_broadcast64(to, from, n, step->origin, s->start, s->log_stride, s->size, array);
        break;
    case RSH_COLLECT:
        shmem_collect64(to, from, n, s->start, s->log_stride, s->size, array);
        break;
    case RSH_FCOLLECT:
        shmem_fcollect64(to, from, n, s->start, s->log_stride, s->size, array);
        break;
    case RSH_ALLTOALL:
        shmem_alltoall64(to, from, n, s->start, s->log_stride, s->size, array);
        break;
    default:
        shmem_alltoalls64(to, from, step->stride[0], step->stride[1], n, s->start, s->log_stride,
                          s->size, array);
        break;
    }
}

/* Once it returns the target is there, and the source may be written into. */
static void run(rsh_run_t *r, const rsh_step_t *step)
{
    void *to = rsh_at(&r->memory, &step->to);
    const void *from = rsh_at(&r->memory, &step->from);
    if (rsh_set_index(&step->set, r->pe) < 0) {
        return;
    }
    rsh_be_late(r, step, 10, 1);
    if (!rsh_is_lost(r, step->name)) {
        (4 == step->detail ? call_32 : call_64)(step, to, from, count_of(step, r->pe),
                                                rsh_sync_array(r, step));
    }
    rsh_scribble(&r->memory, &step->from);
    rsh_check(r, step, &step->to);
}

static void describe(const rsh_step_t *step, char *text, size_t size)
{
    snprintf(text, size,
             "%s%d of %s%zu elements, strides %td and %td, root %d, by PEs from %d on, stride %d, "
             "%d PEs",
             rsh_name(step->name), 8 * step->detail,
             RSH_COLLECT == step->name && step->flag ? "up to " : "", step->count, step->stride[0],
             step->stride[1], step->origin, step->set.start, 1 << step->set.log_stride,
             step->set.size);
}

const rsh_kind_t rsh_collectives = {RSH_BROADCAST, RSH_AND_TO_ALL, 14,  draw, calls,
                                    NULL,          expect,         run, NULL, describe};
