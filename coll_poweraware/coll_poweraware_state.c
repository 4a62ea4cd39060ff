/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Hierarchy and shared segment of a communicator, built by its first call that needs them.
 *
 * 1. Every rank tells all others the lowest rank of its node and its package (one Allgather).
 * 2. The lowest rank of each node creates the segment and tells its name (one Allgather).
 * 3. The others attach.
 * 4. All agree whether everybody succeeded (one Allreduce); otherwise nobody uses a segment.
 * 5. The name is removed: from here on the kernel frees the memory with the last process.
 *
 * The stock functions saved by the module do the talking, so that nothing here is on the call path
 * of our own collectives.
 */
#include "coll_poweraware.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ompi/op/op.h"
#include "opal/mca/hwloc/base/base.h"
#include "opal/util/proc.h"

#define SELF (&mca_coll_poweraware_component)

typedef struct place {
    int leader;
    int package;
} place_t;

typedef struct offer {
    int pid;
    int serial; /* -1: the leader could not create its segment */
} offer_t;

static int my_leader(struct ompi_communicator_t *comm)
{
    int me = ompi_comm_rank(comm);
    for (int rank = 0; rank < me; ++rank) {
        if (OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(comm, rank)->super.proc_flags)) {
            return rank;
        }
    }
    return me;
}

static int allgather_ints(const mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                          const void *mine, void *all, int ints)
{
    return m->saved.coll_allgather(mine, ints, MPI_INT, all, ints, MPI_INT, comm,
                                   m->saved.coll_allgather_module);
}

/* Step 1. */
static pwr_hierarchy_t *find_hierarchy(const mca_coll_poweraware_module_t *m,
                                       struct ompi_communicator_t *comm)
{
    int size = ompi_comm_size(comm);
    place_t mine = {
        .leader = my_leader(comm),
        .package = NULL == SELF->power ? -1 : pwr_topo_my_package(pwr_power_topo(SELF->power)),
    };
    place_t *all = malloc((size_t)size * sizeof *all);
    int *leader = malloc((size_t)size * sizeof *leader);
    int *package = malloc((size_t)size * sizeof *package);
    pwr_hierarchy_t *hierarchy = NULL;
    if (NULL != all && NULL != leader && NULL != package &&
        OMPI_SUCCESS == allgather_ints(m, comm, &mine, all, 2)) {
        for (int rank = 0; rank < size; ++rank) {
            leader[rank] = all[rank].leader;
            package[rank] = all[rank].package;
        }
        hierarchy = pwr_hierarchy_build(size, ompi_comm_rank(comm), leader, package);
    }
    free(all);
    free(leader);
    free(package);
    return hierarchy;
}

static pwr_segment_shape_t shape_of(const pwr_hierarchy_t *h)
{
    return pwr_segment_shape(SELF->params.segment_bytes, h->max_local);
}

static void segment_name(char *name, const offer_t *offer)
{
    snprintf(name, PWR_SEGMENT_NAME_MAX, "/poweraware.%u.%d.%d", (unsigned)getuid(), offer->pid,
             offer->serial);
}

/* A program may have thousands of communicators. */
static void say_no_segment(pwr_status_t status)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    coll_poweraware_say(atomic_flag_test_and_set(&told) ? 2 : 1,
                        "cannot create a shared memory segment of %zu bytes (%s): stock "
                        "functions are used; free space in /dev/shm or lower "
                        "coll_poweraware_segment_bytes",
                        SELF->params.segment_bytes, pwr_status_text(status));
}

/* Step 2: serial numbers are per process and never used twice. */
static offer_t make_offer(const pwr_hierarchy_t *h, pwr_segment_t **segment)
{
    static int serial;
    offer_t offer = {.pid = (int)getpid(), .serial = -1};
    if (0 != h->my_local) {
        return offer;
    }
    offer.serial = __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    char name[PWR_SEGMENT_NAME_MAX];
    segment_name(name, &offer);
    pwr_segment_shape_t shape = shape_of(h);
    pwr_status_t status = pwr_segment_create(name, &shape, segment);
    if (PWR_OK != status) {
        say_no_segment(status);
        offer.serial = -1;
    }
    return offer;
}

/* Step 3. */
static bool attach(const pwr_hierarchy_t *h, const offer_t *offer, pwr_segment_t **segment)
{
    if (offer->serial < 0) {
        return false;
    }
    if (0 == h->my_local) {
        return true;
    }
    char name[PWR_SEGMENT_NAME_MAX];
    segment_name(name, offer);
    pwr_segment_shape_t shape = shape_of(h);
    return PWR_OK == pwr_segment_attach(name, &shape, segment);
}

/* Steps 2 to 5.  A rank whose own part failed takes part in the talking all the same. */
static bool share_segment(const mca_coll_poweraware_module_t *m, struct ompi_communicator_t *comm,
                          coll_poweraware_state_t *state)
{
    const pwr_hierarchy_t *h = state->hierarchy;
    offer_t mine = {.pid = 0, .serial = -1};
    if (NULL != h) {
        mine = make_offer(h, &state->segment);
    }
    offer_t *all = malloc((size_t)ompi_comm_size(comm) * sizeof *all);
    int ok = NULL != all && OMPI_SUCCESS == allgather_ints(m, comm, &mine, all, 2) && NULL != h &&
             NULL != state->requests && attach(h, &all[h->leader_of[h->my_node]], &state->segment);
    free(all);
    int everybody = 0;
    int rc = m->saved.coll_allreduce(&ok, &everybody, 1, MPI_INT, MPI_MIN, comm,
                                     m->saved.coll_allreduce_module);
    if (mine.serial >= 0) {
        char name[PWR_SEGMENT_NAME_MAX];
        segment_name(name, &mine);
        pwr_segment_unlink(name);
    }
    return OMPI_SUCCESS == rc && everybody;
}

/* Known only now: MPI_Init sets the yield flag last. */
static pwr_wait_policy_t wait_policy(void)
{
    enum { SLEEP_MIN_NS = 50 * 1000, SLEEP_MAX_NS = 1000 * 1000 };
    bool crowded = opal_progress_yield_when_idle;
    if (NULL != SELF->power) {
        unsigned cpus = pwr_topo_num_cpus(pwr_power_topo(SELF->power));
        crowded = crowded || (unsigned)opal_process_info.num_local_peers + 1 > cpus;
    }
    return (pwr_wait_policy_t){
        .spin_ns = SELF->spin_ns,
        .sleep_min_ns = SLEEP_MIN_NS,
        .sleep_max_ns = SLEEP_MAX_NS,
        .oversubscribed = crowded,
        .poll = COLL_POWERAWARE_WAIT_POLL == SELF->params.wait,
    };
}

static void release(coll_poweraware_state_t *state)
{
    pwr_hierarchy_free(state->hierarchy);
    pwr_segment_detach(state->segment);
    free(state->requests);
}

static coll_poweraware_state_t *build(const mca_coll_poweraware_module_t *m,
                                      struct ompi_communicator_t *comm)
{
    coll_poweraware_state_t built = {
        .wait_policy = wait_policy(),
        .hierarchy = find_hierarchy(m, comm),
    };
    if (NULL != built.hierarchy) {
        built.requests =
            calloc((size_t)coll_poweraware_max_requests(built.hierarchy), sizeof *built.requests);
    }
    coll_poweraware_state_t *state = malloc(sizeof *state);
    if (NULL == state) {
        free(built.requests); /* share_segment sees it missing and says no for all */
        built.requests = NULL;
    }
    if (!share_segment(m, comm, &built)) {
        release(&built);
        free(state);
        return NULL;
    }
    *state = built;
    return state;
}

coll_poweraware_state_t *coll_poweraware_state_get(mca_coll_poweraware_module_t *m,
                                                   struct ompi_communicator_t *comm)
{
    if (!m->state_tried) {
        m->state_tried = true;
        m->state = build(m, comm);
    }
    return m->state;
}

void coll_poweraware_state_free(coll_poweraware_state_t *state)
{
    if (NULL != state) {
        release(state);
        free(state);
    }
}
