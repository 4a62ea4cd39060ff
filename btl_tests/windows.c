/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One-sided traffic: each kind with another way to synchronise, peers as in traffic.c.
 *
 * The window is the receive buffer.  In each step a rank's window has one origin, me - i: contended
 * locks and atomics crash or hang stock osc/rdma of Open MPI 4.1.4, and are left out.
 */
#include "config.h"

#include "windows.h"

/* One step: rank to dest, source to rank. */
typedef struct step {
    pwr_load_t *load;
    MPI_Win window;
    size_t size;
    int source;
    int dest;
} step_t;

static MPI_Aint slot_at(const step_t *step, unsigned i)
{
    return (MPI_Aint)(i * step->size);
}

static void check_slot(const step_t *step, unsigned i, const void *data)
{
    pwr_load_check_bytes(step->load, step->source, step->load->serial + i, step->size, 0, data,
                         step->size);
    step->load->checks++;
}

/* Fences; before and after them the window is read and written as any memory. */
static void put_step(const step_t *step)
{
    pwr_load_t *load = step->load;
    int size = (int)step->size;
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        pwr_load_incoming(load, i, step->size, step->source, load->serial + i);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, step->window);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        void *out = pwr_load_outgoing(load, i, step->size, step->dest, load->serial + i);
        MPI_Put(out, size, MPI_BYTE, step->dest, slot_at(step, i), size, MPI_BYTE, step->window);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, step->window);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        check_slot(step, i, load->recv.data + slot_at(step, i));
    }
}

static MPI_Group group_of(MPI_Group all, int rank)
{
    MPI_Group group;
    MPI_Group_incl(all, 1, &rank, &group);
    return group;
}

/* Post, start, complete, wait: a rank's window is open to source, which gets; it gets from dest. */
static void get_step(const step_t *step)
{
    pwr_load_t *load = step->load;
    int size = (int)step->size;
    MPI_Group all;
    MPI_Comm_group(load->comm, &all);
    MPI_Group reader = group_of(all, step->source), target = group_of(all, step->dest);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        pwr_pattern_fill(pwr_pattern(load->rank, step->source, load->serial + i), 0,
                         load->recv.data + slot_at(step, i), step->size);
        pwr_pattern_fill_wrong(pwr_pattern(step->dest, load->rank, load->serial + i), 0,
                               load->send.data + slot_at(step, i), step->size);
    }
    MPI_Win_post(reader, 0, step->window);
    MPI_Win_start(target, 0, step->window);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        MPI_Get(load->send.data + slot_at(step, i), size, MPI_BYTE, step->dest, slot_at(step, i),
                size, MPI_BYTE, step->window);
    }
    MPI_Win_complete(step->window);
    MPI_Win_wait(step->window);
    const step_t from = {load, step->window, step->size, step->dest, step->source};
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        check_slot(&from, i, load->send.data + slot_at(step, i));
    }
    MPI_Group_free(&reader);
    MPI_Group_free(&target);
    MPI_Group_free(&all);
}

/* A shared lock, and exclusive or of bytes, which has an answer at any size: half is added by
   MPI_Raccumulate, and flushed in between. */
static void accumulate_step(const step_t *step)
{
    pwr_load_t *load = step->load;
    int size = (int)step->size;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, load->rank, 0, step->window);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        pwr_pattern_fill(pwr_pattern(load->rank, load->rank, load->serial + i), 0,
                         load->recv.data + slot_at(step, i), step->size);
    }
    MPI_Win_unlock(load->rank, step->window);
    MPI_Barrier(load->comm);
    MPI_Win_lock(MPI_LOCK_SHARED, step->dest, 0, step->window);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        void *out = pwr_load_outgoing(load, i, step->size, step->dest, load->serial + i);
        MPI_Request request = MPI_REQUEST_NULL;
        if (i % 2 == 0) {
            MPI_Accumulate(out, size, MPI_BYTE, step->dest, slot_at(step, i), size, MPI_BYTE,
                           MPI_BXOR, step->window);
            MPI_Win_flush(step->dest, step->window);
        } else {
            MPI_Raccumulate(out, size, MPI_BYTE, step->dest, slot_at(step, i), size, MPI_BYTE,
                            MPI_BXOR, step->window, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock(step->dest, step->window);
    MPI_Barrier(load->comm);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, load->rank, 0, step->window);
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        unsigned char *slot = load->recv.data + slot_at(step, i);
        unsigned char *held = load->send.data; /* what was sent is no longer needed */
        pwr_pattern_fill(pwr_pattern(load->rank, load->rank, load->serial + i), 0, held,
                         step->size);
        for (size_t k = 0; k < step->size; k++) {
            slot[k] ^= held[k];
        }
        check_slot(step, i, slot);
    }
    MPI_Win_unlock(load->rank, step->window);
}

static MPI_Win open_window(pwr_load_t *load, size_t size)
{
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Win window;
    pwr_load_use(load, PWR_LOAD_WINDOW, size);
    MPI_Comm_set_errhandler(load->comm, MPI_ERRORS_RETURN);
    int status = MPI_Win_create(load->recv.data, (MPI_Aint)(PWR_LOAD_WINDOW * size), 1,
                                MPI_INFO_NULL, load->comm, &window);
    MPI_Comm_set_errhandler(load->comm, MPI_ERRORS_ARE_FATAL);
    if (status != MPI_SUCCESS) {
        MPI_Error_string(status, reason, &length);
        pwr_load_fail(load, "no window over this transport: %s (--mca osc NAME, or name traffic)",
                      reason);
    }
    return window;
}

static void run_steps(pwr_load_t *load, size_t size, void (*run)(const step_t *step))
{
    MPI_Win window = open_window(load, size);
    for (int i = 0; i < load->np; i++) {
        const step_t step = {load, window, size, (load->rank + load->np - i) % load->np,
                             (load->rank + i) % load->np};
        run(&step);
        pwr_load_check_zones(load);
        load->serial += PWR_LOAD_WINDOW;
    }
    MPI_Win_free(&window);
}

void pwr_windows_put(pwr_load_t *load, size_t size)
{
    run_steps(load, size, put_step);
}

void pwr_windows_get(pwr_load_t *load, size_t size)
{
    run_steps(load, size, get_step);
}

void pwr_windows_accumulate(pwr_load_t *load, size_t size)
{
    run_steps(load, size, accumulate_step);
}
