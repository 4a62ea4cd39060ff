/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What operations cost: the table of this process (pwr/account.h), to which every operation adds.
 *
 * To read the CPU time of a thread is a system call, which would cost a short operation half of its
 * time.  So that of short ones is measured now and then, in the first and then in each 256th, and
 * that of all is worked out from it (pwr_account_cpu_ns).
 */
#include "operation_private.h"

#include <string.h>

#include "pwr/clock.h"
#include "pwr_ompi/process.h"

#include "ompi/win/win.h"

enum { CPU_EVERY = 256, LONG_CALL_NS = 50000 };

static bool measures_cpu(const pwr_class_t *class)
{
    if (NULL == class || NULL == class->cell) {
        return true;
    }
    const pwr_account_sums_t *sums = &class->cell->sums;
    return 0 == sums->calls % CPU_EVERY || sums->ns / LONG_CALL_NS >= sums->calls;
}

static pwr_power_counters_t lever_use(void)
{
    return NULL == pwr_process.power ? (pwr_power_counters_t){0}
                                     : pwr_power_counters(pwr_process.power);
}

/* Most components name their windows ("rdma window 3"). */
static void name_window(const pwr_operations_t *of, char *name, size_t room)
{
    OPAL_THREAD_LOCK(&of->win->w_lock);
    const char *own = of->win->w_name; /* a pointer in 6.0 */
    bool named = NULL != own && '\0' != own[0];
    snprintf(name, room, "%s%s", named && NULL != strstr(own, "window") ? "" : "window ",
             named ? own : "without name");
    OPAL_THREAD_UNLOCK(&of->win->w_lock);
}

void pwr_operations_name(const pwr_operations_t *of, char *name, size_t room)
{
    if (NULL == of->win) {
        pwr_ompi_comm_name(of->comm, name, room);
    } else {
        name_window(of, name, room);
    }
}

static unsigned comm_of(pwr_operations_t *of)
{
    if (!of->account_comm_known) {
        char name[MPI_MAX_OBJECT_NAME + sizeof "window "];
        pwr_operations_name(of, name, sizeof name);
        of->account_comm =
            pwr_account_comm(pwr_process.account, name, (uint64_t)ompi_comm_size(of->comm));
        of->account_comm_known = true;
    }
    return of->account_comm;
}

void pwr_operation_account_open(pwr_operation_t *operation)
{
    pwr_operation_start_t *start = &operation->start;
    pwr_operations_t *of = operation->of;
    uint64_t call = pwr_account_call((uint32_t)of->calls, comm_of(of), operation->name);
    atomic_store_explicit(&pwr_process.account->now.call, call, memory_order_relaxed);
    start->cpu_ns = measures_cpu(operation->class) ? pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    start->ticks = pwr_ticks_now(&pwr_process.ticks);
}

void pwr_operation_account_levers(pwr_operation_t *operation)
{
    operation->start.levers = lever_use();
}

static void add_levers(const pwr_operation_start_t *start, pwr_account_sums_t *sums)
{
    const pwr_power_counters_t now = lever_use();
    for (int i = 0; i < PWR_NUM_LEVERS; ++i) {
        sums->held_ns[i] = now.lever[i].held_ns - start->levers.lever[i].held_ns;
        sums->transitions += now.lever[i].writes - start->levers.lever[i].writes;
    }
}

static pwr_account_cell_t *find_cell(const pwr_operation_t *operation)
{
    pwr_operations_t *of = operation->of;
    const pwr_class_t *class = operation->class;
    const pwr_account_kind_t kind = {
        .comm = comm_of(of),
        .operation = operation->name,
        .algorithm = operation->algorithm,
        .size_class =
            NULL == class ? 0 : (unsigned)(class - of->classes[operation->name - of->first]),
    };
    return pwr_account_cell(pwr_process.account, &kind);
}

static pwr_account_cell_t *cell_of(const pwr_operation_t *operation)
{
    pwr_class_t *class = operation->class;
    if (NULL == class) {
        return find_cell(operation);
    }
    if (NULL == class->cell || operation->algorithm != class->cell_algorithm) {
        class->cell = find_cell(operation);
        class->cell_algorithm = operation->algorithm;
    }
    return class->cell;
}

void pwr_operation_account_close(pwr_operation_t *operation)
{
    pwr_account_t *account = pwr_process.account;
    const pwr_operation_start_t *start = &operation->start;
    uint64_t ns =
        pwr_ticks_ns(&pwr_process.ticks, pwr_ticks_now(&pwr_process.ticks) - start->ticks);
    pwr_wait_stats_t waits = operation->waits;
    if (operation->was_set_up) {
        pwr_wait_stats_add_plainly(&waits, &operation->set_up_waits);
    }
    pwr_account_sums_t sums = {
        .calls = 1,
        .bytes = NULL == operation->class ? 0 : operation->own_bytes,
        .ns = ns,
        .longest_ns = ns,
        .spin_ns = waits.spin_ns,
        .monitor_ns = waits.monitor_ns,
        .sleep_ns = waits.sleep_ns,
    };
    if (operation->levers) {
        add_levers(start, &sums);
    }
    if (0 != start->cpu_ns) {
        sums.cpu_ns = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start->cpu_ns;
        sums.cpu_of_ns = ns > sums.sleep_ns ? ns - sums.sleep_ns : 0;
    }
    pwr_account_add(&cell_of(operation)->sums, &sums, pwr_process.mpi_threads);
    pwr_account_region_t *region = pwr_account_open_region(account);
    if (NULL != region) {
        pwr_account_add(&region->calls, &sums, pwr_process.mpi_threads);
    }
    atomic_store_explicit(&account->now.call, 0, memory_order_relaxed);
}
