/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The wait ladder over opal_progress; its last rung blocks in Open MPI's event loop, with a timer
 * in it as the bound.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/transport.h"
#include "pwr_ompi/ucx.h"

#include <sched.h>

#include "idle_private.h"

#include "ompi/mca/bml/bml.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "opal/mca/btl/base/base.h"

_Thread_local pwr_thread_t pwr_thread __attribute__((tls_model("initial-exec")));
bool pwr_idle_knows_loops;
bool pwr_idle_hears_windows;

/* ---- what wakes ---- */

static bool is_ob1_in_one_thread(void)
{
    return pwr_pml_is("ob1") && !opal_using_threads();
}

static bool wakes(const mca_btl_base_module_t *btl, bool collectives)
{
    return pwr_btl_is(btl, "tcp") || pwr_doorbell_is_rung_by(btl, collectives);
}

static bool all_wake(mca_bml_base_btl_array_t *btls)
{
    for (size_t i = 0; i < mca_bml_base_btl_array_get_size(btls); ++i) {
        if (!wakes(mca_bml_base_btl_array_get_index(btls, i)->btl, true)) {
            return false;
        }
    }
    return true;
}

bool pwr_idle_peer_of(const ompi_request_t *request, struct ompi_communicator_t *comm, int *rank,
                      bool *receives)
{
    const mca_pml_base_request_t *message = (const mca_pml_base_request_t *)request;
    if (!pwr_pml_is("ob1") || OMPI_REQUEST_PML != request->req_type || message->req_peer < 0) {
        return false;
    }
    int peer = message->req_peer;
    *receives = MCA_PML_REQUEST_RECV == message->req_type;
    *rank = peer;
    return comm == message->req_comm ||
           (OMPI_SUCCESS == ompi_group_translate_ranks(message->req_comm->c_remote_group, 1, &peer,
                                                       comm->c_local_group, rank) &&
            *rank >= 0);
}

bool pwr_idle_is_woken_by(struct ompi_communicator_t *comm, int peer)
{
    if (!is_ob1_in_one_thread()) {
        return false;
    }
    const ompi_proc_t *proc = ompi_comm_peer_lookup(comm, peer);
    mca_bml_base_endpoint_t *endpoint = proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
    return NULL != endpoint && all_wake(&endpoint->btl_eager) && all_wake(&endpoint->btl_send) &&
           all_wake(&endpoint->btl_rdma);
}

bool pwr_idle_btls_wake(bool collectives)
{
    mca_btl_base_selected_module_t *selected;
    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    {
        /* To itself a process sends without waiting. */
        if (!pwr_btl_is(selected->btl_module, "self") && !wakes(selected->btl_module, collectives)) {
            return false;
        }
    }
    return true;
}

bool pwr_idle_is_woken(bool collectives)
{
    return is_ob1_in_one_thread() && pwr_idle_btls_wake(collectives);
}

bool pwr_idle_by_itself(bool waits)
{
    bool before = pwr_thread.waits;
    pwr_thread.waits = waits;
    return before;
}

bool pwr_idle_only_looks(bool looks)
{
    bool before = pwr_thread.looks;
    pwr_thread.looks = looks;
    return before;
}

/* ---- the wait ---- */

typedef struct idle_wait {
    bool (*over)(void *arg);
    void *arg;
    bool yields;
    const pwr_doorbell_group_t *group;
    uint64_t events; /* of the doorbell and of UCX, when they were looked at last */
} idle_wait_t;

static bool is_over(void *arg)
{
    const idle_wait_t *wait = arg;
    return wait->over(wait->arg);
}

/* opal_progress yields by itself where mpi_yield_when_idle is set. */
int pwr_idle_look(bool yields)
{
    if (yields && !opal_progress_yield_when_idle) {
        sched_yield();
    }
    return pwr_ompi_progress();
}

/* 4.1's opal_progress does not tell what moved: the doorbell knows for shared memory, and nobody
   else for components that use UCX by themselves. */
static int progress(void *arg)
{
    idle_wait_t *wait = arg;
    int moved = pwr_idle_look(wait->yields);
    uint64_t events = pwr_doorbell_events() + pwr_ucx_moves();
    moved += events != wait->events;
    wait->events = events;
    return moved;
}

static void bound_reached(int fd, short events, void *arg)
{
    (void)fd;
    (void)events;
    (void)arg;
}

/* Most kernels' epoll rounds up to milliseconds. */
void pwr_idle_block(uint64_t longest_ns)
{
    enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };
    opal_event_t timer;
    struct timeval bound = {.tv_sec = (time_t)(longest_ns / NS_PER_S),
                            .tv_usec = (suseconds_t)(longest_ns % NS_PER_S / NS_PER_US)};
    if (0 == opal_event_evtimer_set(opal_sync_event_base, &timer, bound_reached, NULL) &&
        0 == opal_event_evtimer_add(&timer, &bound)) {
        opal_event_loop(opal_sync_event_base, OPAL_EVLOOP_ONCE);
        opal_event_evtimer_del(&timer);
    }
}

static void nap(void *arg, uint64_t longest_ns)
{
    (void)arg;
    pwr_ucx_nap(longest_ns);
}

/* What progress has not seen is an event for this loop; what it has seen may let other parts of it
   go on, such as a collective's next round: hence once more. */
static void sleep_in_event_loop(void *arg, uint64_t longest_ns)
{
    const idle_wait_t *wait = arg;
    if (pwr_doorbell_may_sleep(wait->group)) {
        int moved = pwr_ompi_progress();
        if (moved <= 0 && !is_over(arg) && pwr_doorbell_is_quiet() && pwr_ucx_may_block()) {
            pwr_idle_block(longest_ns);
            pwr_ucx_awake();
        }
    }
    pwr_doorbell_awake();
}

pwr_status_t pwr_idle_wait(bool (*over)(void *arg), void *arg, bool woken,
                           const pwr_doorbell_group_t *group, const pwr_wait_policy_t *policy,
                           pwr_wait_stats_t *stats)
{
    idle_wait_t wait = {
        .over = over, .arg = arg, .yields = policy->oversubscribed, .group = group};
    const pwr_waitable_t waitable = {
        .over = is_over,
        .progress = progress,
        .sleep = woken ? sleep_in_event_loop : nap,
        .blind = !woken,
        .arg = &wait,
    };
    bool outer = pwr_thread.waits; /* progress may call what waits in turn */
    pwr_thread.waits = true;
    pwr_status_t status = pwr_wait_for(&waitable, policy, 0, stats);
    pwr_thread.waits = outer;
    return status;
}
