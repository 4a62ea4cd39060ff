/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Making windows of each flavour.
 */
#include "window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xC3 };

static void *reserve(size_t bytes)
{
    void *memory = malloc(bytes);
    if (NULL == memory) {
        fprintf(stderr, "random_windows: no memory for a window\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* ---- info ---- */

static void set(MPI_Info info, bool wanted, const char *key, const char *value)
{
    if (wanted) {
        MPI_Info_set(info, key, value);
    }
}

static MPI_Info make_info(const rma_window_t *window)
{
    const rma_window_plan_t *plan = window->plan;
    bool usual = plan->says_the_usual;
    MPI_Info info;
    MPI_Info_create(&info);
    set(info, plan->no_locks, "no_locks", "true");
    set(info, plan->unordered, "accumulate_ordering", "none");
    set(info, usual && !plan->unordered, "accumulate_ordering", "rar,raw,war,waw");
    set(info, usual, "accumulate_ops", "same_op_no_op");
    set(info, usual && plan->same_size, "same_size", "true");
    set(info, usual && plan->same_unit, "same_disp_unit", "true");
    set(info, usual, "alloc_shared_noncontig", "true");
    return info;
}

/* ---- memory ---- */

static unsigned char *make_memory(rma_window_t *window)
{
    window->own = reserve(window->bytes + 2 * (size_t)GUARD);
    memset(window->own, GUARD_BYTE, window->bytes + 2 * (size_t)GUARD);
    return window->own + GUARD;
}

/* In two pieces, cut between slots. */
static int attach(rma_window_t *window)
{
    int slots = (int)(window->bytes / window->plan->slot_bytes);
    size_t first = (size_t)(slots / 2) * window->plan->slot_bytes;
    int rc = MPI_SUCCESS;
    if (first > 0) {
        rc = MPI_Win_attach(window->win, window->base, (MPI_Aint)first);
    }
    if (MPI_SUCCESS == rc && window->bytes > first) {
        rc = MPI_Win_attach(window->win, window->base + first, (MPI_Aint)(window->bytes - first));
    }
    return rc;
}

static void detach(const rma_window_t *window)
{
    int slots = (int)(window->bytes / window->plan->slot_bytes);
    size_t first = (size_t)(slots / 2) * window->plan->slot_bytes;
    if (first > 0) {
        MPI_Win_detach(window->win, window->base);
    }
    if (window->bytes > first) {
        MPI_Win_detach(window->win, window->base + first);
    }
}

static int make_dynamic(rma_window_t *window, MPI_Info info)
{
    MPI_Aint mine;
    window->base = make_memory(window);
    int rc = MPI_Win_create_dynamic(info, window->comm->comm, &window->win);
    if (MPI_SUCCESS != rc || MPI_SUCCESS != (rc = attach(window))) {
        return rc;
    }
    MPI_Get_address(window->base, &mine);
    window->addresses = reserve((size_t)window->comm->size * sizeof *window->addresses);
    return MPI_Allgather(&mine, 1, MPI_AINT, window->addresses, 1, MPI_AINT, window->comm->comm);
}

static int make(rma_window_t *window, MPI_Info info)
{
    MPI_Aint bytes = (MPI_Aint)window->bytes;
    MPI_Comm comm = window->comm->comm;
    int unit = rma_window_unit(window->plan, window->without, window->comm->rank);
    switch (window->plan->flavour) {
    case RMA_ALLOCATE:
        return MPI_Win_allocate(bytes, unit, info, comm, &window->base, &window->win);
    case RMA_SHARED:
        return MPI_Win_allocate_shared(bytes, unit, info, comm, &window->base, &window->win);
    case RMA_DYNAMIC:
        return make_dynamic(window, info);
    default:
        window->base = make_memory(window);
        return MPI_Win_create(window->base, bytes, unit, info, comm, &window->win);
    }
}

int rma_window_make(rma_window_t *window, const rma_program_t *program, int number,
                    const diff_comm_t *comm)
{
    const rma_window_plan_t *plan = &program->window[number];
    *window = (rma_window_t){
        .plan = plan, .comm = comm, .without = program->without, .win = MPI_WIN_NULL};
    window->bytes = (size_t)rma_window_slots(plan, comm->rank) * plan->slot_bytes;
    rma_model_make(&window->model, plan, comm->size);
    MPI_Info info = MPI_INFO_NULL;
    if (!rma_has(program->without, RMA_INFO)) {
        info = make_info(window);
    }
    int rc = make(window, info);
    if (MPI_INFO_NULL != info) {
        MPI_Info_free(&info);
    }
    if (MPI_SUCCESS == rc) {
        MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
    }
    return rc;
}

void rma_window_free(rma_window_t *window)
{
    if (NULL != window->addresses) {
        MPI_Barrier(window->comm->comm); /* nobody's calls are under way to it */
        detach(window);
    }
    MPI_Win_free(&window->win);
    rma_model_free(&window->model);
    free(window->addresses);
    free(window->own);
}

rma_place_t rma_window_place(const rma_window_t *window, int target)
{
    return (rma_place_t){window->win, NULL == window->addresses ? 0 : window->addresses[target],
                         rma_window_unit(window->plan, window->without, target)};
}

/* ---- comparing ---- */

unsigned char rma_window_expected(const rma_window_t *window, ptrdiff_t at)
{
    bool inside = at >= 0 && at < (ptrdiff_t)window->bytes;
    return inside ? rma_model_memory(&window->model, window->comm->rank)[at] : GUARD_BYTE;
}

bool rma_window_right(const rma_window_t *window, ptrdiff_t *at)
{
    const unsigned char *mine = rma_model_memory(&window->model, window->comm->rank);
    ptrdiff_t guard = NULL == window->own ? 0 : GUARD;
    ptrdiff_t end = (ptrdiff_t)window->bytes + guard;
    bool inside = 0 == window->bytes || 0 == memcmp(window->base, mine, window->bytes);
    for (*at = -guard; *at < end; ++*at) {
        if (inside && 0 == *at) {
            *at = (ptrdiff_t)window->bytes;
        }
        if (*at < end && window->base[*at] != rma_window_expected(window, *at)) {
            return false;
        }
    }
    return true;
}
