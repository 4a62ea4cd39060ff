/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What calls cost: the table of this process (pwr/account.h), to which every outermost call of a
 * collective that blocks adds.
 *
 * To read the CPU time of a thread is a system call, which would cost a short call half of its
 * time.  So that of short calls is measured now and then, in the first and then in each 256th, and
 * that of all is worked out from it (pwr_account_cpu_ns).
 */
#include "coll_poweraware.h"

#include <stdatomic.h>

#include "algorithms/algorithms.h"
#include "pwr/clock.h"

#define SELF (&mca_coll_poweraware_component)

enum { CPU_EVERY = 256, LONG_CALL_NS = 50000 };

void coll_poweraware_account_open(bool mpi_threads)
{
    SELF->account_in_threads = mpi_threads;
    SELF->account = coll_poweraware_job_account();
    if (NULL != SELF->account) {
        SELF->ticks = pwr_ticks_open("");
    }
}

static bool measures_cpu(const coll_poweraware_class_t *class)
{
    if (NULL == class || NULL == class->cell) {
        return true;
    }
    const pwr_account_sums_t *sums = &class->cell->sums;
    return 0 == sums->calls % CPU_EVERY || sums->ns / LONG_CALL_NS >= sums->calls;
}

/* Before levers are armed there are none. */
static pwr_power_counters_t lever_use(void)
{
    if (NULL == SELF->power || !atomic_load_explicit(&SELF->armed, memory_order_relaxed)) {
        return (pwr_power_counters_t){0};
    }
    return pwr_power_counters(SELF->power);
}

static uint64_t transitions(const pwr_power_counters_t *counters)
{
    return counters->pstate_writes + counters->tstate_writes;
}

void coll_poweraware_bill_open(mca_coll_poweraware_module_t *m,
                               const coll_poweraware_class_t *class)
{
    coll_poweraware_bill_t *bill = &m->bill;
    bill->levers = lever_use();
    bill->waits = NULL != m->state ? m->state->wait_stats : (pwr_wait_stats_t){0};
    bill->cpu_ns = measures_cpu(class) ? pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    bill->start_ticks = pwr_ticks_now(&SELF->ticks);
}

static unsigned comm_of(mca_coll_poweraware_module_t *m)
{
    if (!m->account_comm_known) {
        char name[MPI_MAX_OBJECT_NAME];
        pwr_ompi_comm_name(m->comm, name, sizeof name);
        m->account_comm = pwr_account_comm(SELF->account, name, (uint64_t)ompi_comm_size(m->comm));
        m->account_comm_known = true;
    }
    return m->account_comm;
}

static pwr_account_cell_t *find_cell(mca_coll_poweraware_module_t *m,
                                     const coll_poweraware_class_t *class, int algorithm)
{
    const pwr_account_kind_t kind = {
        .comm = comm_of(m),
        .what = (unsigned)m->what,
        .algorithm = algorithm,
        .size_class = NULL == class ? 0 : (unsigned)(class - m->classes[m->what]),
    };
    return pwr_account_cell(SELF->account, &kind);
}

static pwr_account_cell_t *cell_of(mca_coll_poweraware_module_t *m, coll_poweraware_class_t *class,
                                   int algorithm)
{
    if (NULL == class) {
        return find_cell(m, class, algorithm);
    }
    if (NULL == class->cell || algorithm != class->cell_algorithm) {
        class->cell = find_cell(m, class, algorithm);
        class->cell_algorithm = algorithm;
    }
    return class->cell;
}

/* A stock function's waits are those of the call that is over, ours are counted on and on. */
static void add_waits(pwr_account_sums_t *call, const mca_coll_poweraware_module_t *m, bool ours)
{
    const pwr_wait_stats_t none = {0};
    const pwr_wait_stats_t *now = ours ? &m->state->wait_stats : &m->stock.within.stats;
    const pwr_wait_stats_t *before = ours ? &m->bill.waits : &none;
    call->spin_ns = now->spin_ns - before->spin_ns;
    call->monitor_ns = now->monitor_ns - before->monitor_ns;
    call->sleep_ns = now->sleep_ns - before->sleep_ns;
}

void coll_poweraware_bill_close(mca_coll_poweraware_module_t *m, coll_poweraware_class_t *class,
                                const coll_poweraware_algorithm_t *algorithm)
{
    const coll_poweraware_bill_t *bill = &m->bill;
    uint64_t ns = pwr_ticks_ns(&SELF->ticks, pwr_ticks_now(&SELF->ticks) - bill->start_ticks);
    const pwr_power_counters_t levers = lever_use();
    pwr_account_sums_t call = {
        .calls = 1,
        .bytes = m->what < COLL_POWERAWARE_NUM_COLLECTIVES ? m->bytes : 0,
        .ns = ns,
        .longest_ns = ns,
        .low_ns = levers.low_ns - bill->levers.low_ns,
        .throttled_ns = levers.throttled_ns - bill->levers.throttled_ns,
        .transitions = transitions(&levers) - transitions(&bill->levers),
    };
    /* A communicator that has ended may have lost its state. */
    if (NULL == algorithm || NULL != m->state) {
        add_waits(&call, m, NULL != algorithm);
    }
    if (0 != bill->cpu_ns) {
        call.cpu_ns = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - bill->cpu_ns;
        call.cpu_of_ns = ns > call.sleep_ns ? ns - call.sleep_ns : 0;
    }
    int index = NULL == algorithm ? PWR_ACCOUNT_NO_ALGORITHM
                                  : (int)(algorithm - coll_poweraware_algorithms);
    pwr_account_add(cell_of(m, class, index), &call, SELF->account_in_threads);
}
