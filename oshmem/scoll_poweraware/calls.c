/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What OpenSHMEM calls: one function per row of calls.h.
 *
 * All of them are alike: the saved function is called with the arguments as they came, and gives
 * the CPU back in its loops meanwhile (pwr_ompi/call.h).
 *
 * What ends a wait is the network, or another PE of the node: UCX copies puts and atomics into
 * memory of the node by itself, and tells nobody.  So each call that may have done that looks
 * whether somebody waits for it (bell.h, W2).  Programs that store through shmem_ptr make no call:
 * the PEs whose memory they may change sleep for bounded parts of a wait from then on.
 */
#include "calls.h"

#include <glob.h>

#include "pwr_ompi/call.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/ucx.h"

#include "oshmem/proc/proc.h"

#define WAITS SCOLL_POWERAWARE_WAITS
#define LETS_GO SCOLL_POWERAWARE_LETS_GO
enum { NO_PE = -1 };

const char *const scoll_poweraware_names[SCOLL_POWERAWARE_NUM_CALLS] = {
#define NAME(name, ...) "shmem_" #name,
#define ATOMIC_NAME(name, ...) "shmem_atomic_" #name,
    SCOLL_POWERAWARE_SPML_CALLS(NAME) SCOLL_POWERAWARE_ATOMIC_CALLS(ATOMIC_NAME)};

scoll_poweraware_ways_t scoll_poweraware_ways;

static struct {
    bool taken;
    mca_spml_base_module_t spml; /* what was there before us */
    mca_atomic_base_module_t atomic;
    pwr_operations_t operations;
    pwr_class_t *classes[SCOLL_POWERAWARE_NUM_CALLS];
    pwr_history_t site; /* of waits for other PEs, without threads; most other calls never wait */
    pwr_idle_ends_t ends;      /* of calls that wait for what comes through UCX ... */
    pwr_idle_ends_t ends_wait; /* ... and of those that wait until memory changes */
    bool unheard;              /* the network changes memory, and wakes nobody */
} all;

/* ---- a call ---- */

static inline void begin_wait(pwr_call_t *call, int number)
{
    bool for_memory = SCOLL_POWERAWARE_wait == number;
    if (for_memory) {
        all.ends_wait.unheard = all.unheard || pwr_doorbell_is_stored_past();
    }
    pwr_call_waits(call, for_memory ? &all.ends_wait : &all.ends, for_memory ? &all.site : NULL, 0,
                   false);
}

static inline void begin(pwr_call_t *call, int number, int kind, int pe, size_t bytes)
{
    pwr_call_begin(call, &all.operations, scoll_poweraware_ways.first_operation + (unsigned)number,
                   pe, bytes,
                   scoll_poweraware_ways.counts ||
                       (0 != (WAITS & kind) && PWR_LEVERS_IN_WAITS == all.operations.levers));
    if (0 != (WAITS & kind) && pwr_calls_save(&all.operations)) {
        begin_wait(call, number);
    }
}

static inline void end(pwr_call_t *call, int kind)
{
    if (0 != (WAITS & kind) && pwr_calls_save(&all.operations)) {
        pwr_call_has_waited(call);
    }
    pwr_call_end(call);
    if (0 != (LETS_GO & kind)) {
        pwr_doorbell_let_go();
    }
}

#define CALL(of, name, kind, its_pe, its_bytes, parameters, arguments)                             \
    static int of##_##name parameters                                                              \
    {                                                                                              \
        pwr_call_t call;                                                                           \
        begin(&call, SCOLL_POWERAWARE_##name, kind, its_pe, its_bytes);                            \
        int rc = all.of.of##_##name arguments;                                                     \
        end(&call, kind);                                                                          \
        return rc;                                                                                 \
    }
#define SPML_CALL(name, ...) CALL(spml, name, __VA_ARGS__)
#define ATOMIC_CALL(name, ...) CALL(atomic, name, WAITS | LETS_GO, pe, bytes, __VA_ARGS__)
/* once more for the arguments, which are one macro */
#define EXPANDED_ATOMIC_CALL(name, ...) ATOMIC_CALL(name, __VA_ARGS__)
SCOLL_POWERAWARE_SPML_CALLS(SPML_CALL)
SCOLL_POWERAWARE_ATOMIC_CALLS(EXPANDED_ATOMIC_CALL)

/* It is asked for each segment of each PE when a program asks for a pointer, and then only. */
static void *spml_rmkey_ptr(const void *address, sshmem_mkey_t *mkey, int pe)
{
    void *pointer = all.spml.spml_rmkey_ptr(address, mkey, pe);
    if (NULL != pointer && pe != oshmem_my_proc_id()) {
        pwr_doorbell_stores(&ompi_comm_peer_lookup(MPI_COMM_WORLD, pe)->super);
    }
    return pointer;
}

/* ---- taken and given back ---- */

static bool has_levers(void)
{
    if (!scoll_poweraware_ways.levers || NULL == pwr_process.power || pwr_process.mpi_threads) {
        return false;
    }
    pwr_process_arm_levers();
    return pwr_power_has_any(pwr_process.power);
}

/* Whether this node has hardware that writes into memory for other nodes. */
static bool has_rdma(void)
{
    static const char *const places[] = {"/sys/class/infiniband/*", "/dev/kgni0"};
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; ++i) {
        glob_t paths;
        found = 0 == glob(places[i], 0, NULL, &paths);
        globfree(&paths);
    }
    return found;
}

static void begin_operations(void)
{
    const scoll_poweraware_ways_t *ways = &scoll_poweraware_ways;
    bool levers = has_levers();
    bool classed = (levers || ways->counts) && !pwr_process.mpi_threads;
    pwr_operations_init(&all.operations, MPI_COMM_WORLD, ways->scheme, ways->first_operation,
                        classed ? SCOLL_POWERAWARE_NUM_CALLS : 0, all.classes);
    all.operations.idles = ways->sleeps;
    all.operations.levers = levers ? PWR_LEVERS_IN_WAITS : PWR_LEVERS_NEVER;
    pwr_doorbell_group(MPI_COMM_WORLD, &all.ends.group);
    all.ends.unheard = !pwr_ucx_users_wake();
    all.ends_wait = all.ends;
    all.unheard = all.ends.unheard || (!all.ends.group.is_whole && has_rdma());
}

void scoll_poweraware_take_calls(void)
{
    if (all.taken) {
        return;
    }
    pwr_ucx_users_renew(); /* atomics have been loaded since the component was opened */
    begin_operations();
    ++pwr_process.served_windows;
    all.taken = true;
    all.spml = mca_spml;
    all.atomic = mca_atomic;
#define TAKE_SPML(name, ...) mca_spml.spml_##name = spml_##name;
#define TAKE_ATOMIC(name, ...) mca_atomic.atomic_##name = atomic_##name;
    SCOLL_POWERAWARE_SPML_CALLS(TAKE_SPML)
    SCOLL_POWERAWARE_ATOMIC_CALLS(TAKE_ATOMIC)
    mca_spml.spml_rmkey_ptr = spml_rmkey_ptr;
}

/* Only what is still ours: others may have come after us. */
void scoll_poweraware_give_back_calls(void)
{
    if (!all.taken) {
        return;
    }
    all.taken = false;
#define GIVE_BACK(of, name)                                                                        \
    if (of##_##name == mca_##of.of##_##name) {                                                     \
        mca_##of.of##_##name = all.of.of##_##name;                                                 \
    }
#define GIVE_BACK_SPML(name, ...) GIVE_BACK(spml, name)
#define GIVE_BACK_ATOMIC(name, ...) GIVE_BACK(atomic, name)
    SCOLL_POWERAWARE_SPML_CALLS(GIVE_BACK_SPML)
    SCOLL_POWERAWARE_ATOMIC_CALLS(GIVE_BACK_ATOMIC)
    GIVE_BACK(spml, rmkey_ptr)
    --pwr_process.served_windows;
    pwr_operations_end(&all.operations);
}
