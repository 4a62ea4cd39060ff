/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a communicator's calls need, built by the first call that has to choose an algorithm.
 *
 * 1. All agree that everybody has memory for what follows (one Allreduce); a rank that has none
 *    could not take part in step 2.
 * 2. Every rank tells all others the lowest rank of its node, its group, what its node's shared
 *    memory is to be called if it is that lowest rank, and a random word of its memory (one
 *    Allgather).
 * 3. Every rank builds the hierarchy from that, and tries to read and write the words of its node's
 *    others.  All agree that everybody has a hierarchy, and whether single copy works everywhere
 *    (one Allreduce).
 * The shared memory follows when an algorithm needs it (coll_poweraware_share.c).
 *
 * The stock functions saved by the module do the talking, so that nothing here is on the call path
 * of our own collectives.
 */
#include "coll_poweraware_hang.h"

#include "pwr_ompi/idle.h"
#include "pwr_ompi/single_copy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "ompi/op/op.h"
#include "opal/mca/hwloc/base/base.h"
#include "opal/util/proc.h"

#define SELF (&mca_coll_poweraware_component)

typedef struct ompi_communicator_t comm_t;

typedef struct place {
    int leader;
    int group;
    int pid;
    int serial;       /* never twice in a process */
    uint64_t address; /* of the word */
    uint64_t word;
} place_t;

enum { PLACE_INTS = sizeof(place_t) / sizeof(int) };

static int my_leader(comm_t *comm)
{
    int me = ompi_comm_rank(comm);
    for (int rank = 0; rank < me; ++rank) {
        if (OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(comm, rank)->super.proc_flags)) {
            return rank;
        }
    }
    return me;
}

int coll_poweraware_least_of_all(const mca_coll_poweraware_module_t *m, comm_t *comm, int mine)
{
    int least = 0;
    int rc = m->saved.coll_allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm,
                                     m->saved.coll_allreduce_module);
    return OMPI_SUCCESS == rc ? least : 0;
}

bool coll_poweraware_all_agree(const mca_coll_poweraware_module_t *m, comm_t *comm, bool mine)
{
    return 0 != coll_poweraware_least_of_all(m, comm, mine);
}

bool coll_poweraware_all_tell(const mca_coll_poweraware_module_t *m, comm_t *comm, const void *mine,
                              void *all, int ints)
{
    return OMPI_SUCCESS == m->saved.coll_allgather(mine, ints, MPI_INT, all, ints, MPI_INT, comm,
                                                   m->saved.coll_allgather_module);
}

static int my_group(void)
{
    return NULL == SELF->power ? -1
                               : pwr_topo_my_group(pwr_power_topo(SELF->power),
                                                   (pwr_topo_level_t)SELF->params.group);
}

static place_t my_place(comm_t *comm, const uint64_t *word)
{
    return (place_t){
        .leader = my_leader(comm),
        .group = my_group(),
        .pid = (int)getpid(),
        .serial = coll_poweraware_next_serial(),
        .address = (uint64_t)(uintptr_t)word,
        .word = *word,
    };
}

static pwr_hierarchy_t *hierarchy_of(comm_t *comm, const place_t *places)
{
    int size = ompi_comm_size(comm);
    int *leader = malloc(2 * (size_t)size * sizeof *leader);
    if (NULL == leader) {
        return NULL;
    }
    int *group = leader + size;
    for (int rank = 0; rank < size; ++rank) {
        leader[rank] = places[rank].leader;
        group[rank] = places[rank].group;
    }
    pwr_hierarchy_t *hierarchy = pwr_hierarchy_build(size, ompi_comm_rank(comm), leader, group);
    free(leader);
    return hierarchy;
}

pwr_wait_policy_t coll_poweraware_wait_policy(void)
{
    pwr_wait_policy_t policy = SELF->wait_policy;
    policy.oversubscribed = policy.oversubscribed || pwr_idle_is_crowded();
    policy.longest_ns = coll_poweraware_patience_ns();
    return policy;
}

/* ---- single copy ---- */

/* Nothing else in the memory of this node's processes should have this value. */
static uint64_t random_word(void)
{
    uint64_t word;
    if (sizeof word != getrandom(&word, sizeof word, GRND_NONBLOCK)) {
        word = pwr_env_now_ns(&SELF->env) * 0x9E3779B97F4A7C15u ^ (uint64_t)getpid();
    }
    return word;
}

/* The processes of this node's ranks, or NULL where one of them cannot be reached. */
static int *try_single_copy(const pwr_hierarchy_t *h, const place_t *places)
{
    int *pids = SELF->params.single_copy ? malloc((size_t)h->num_local * sizeof *pids) : NULL;
    for (int i = 0; NULL != pids && i < h->num_local; ++i) {
        const place_t *place = &places[h->local_ranks[i]];
        pids[i] = place->pid;
        int error =
            i == h->my_local ? 0 : pwr_single_copy_probe(place->pid, place->address, place->word);
        if (0 != error) {
            coll_poweraware_say(2, "no single copy with rank %d on this node: %s",
                                h->local_ranks[i], strerror(error));
            free(pids);
            pids = NULL;
        }
    }
    return pids;
}

static void free_call(coll_poweraware_call_t *call)
{
    if (NULL != call) {
        free(call->pids);
        free(call->messages);
        free(call->numbers);
        free(call->scratch);
        free(call);
    }
}

/* What is the same for all calls, but for pids.  NULL when out of memory. */
static coll_poweraware_call_t *new_call(mca_coll_poweraware_module_t *m,
                                        coll_poweraware_state_t *state, comm_t *comm)
{
    const pwr_hierarchy_t *h = state->hierarchy;
    coll_poweraware_call_t *call = calloc(1, sizeof *call);
    if (NULL == call) {
        return NULL;
    }
    call->module = m;
    call->comm = comm;
    call->hierarchy = h;
    call->segment = state->segment;
    call->policy = state->wait_policy;
    call->wait_stats = &state->wait_stats;
    call->messages = calloc((size_t)coll_poweraware_first_message(h, COLL_POWERAWARE_LANES),
                            sizeof *call->messages);
    call->numbers = calloc(coll_poweraware_max_numbers(h), sizeof *call->numbers);
    if (NULL == call->messages || NULL == call->numbers) {
        free_call(call);
        return NULL;
    }
    return call;
}

/* All there is to know without shared memory; false when out of memory. */
static bool fill(mca_coll_poweraware_module_t *m, coll_poweraware_state_t *state, comm_t *comm,
                 const place_t *places, const coll_poweraware_table_t *table)
{
    pwr_hierarchy_t *h = hierarchy_of(comm, places);
    state->hierarchy = h;
    if (NULL == h) {
        return false;
    }
    const place_t *leader = &places[h->leader_of[h->my_node]];
    pwr_segment_shape_t shape = pwr_segment_shape(SELF->params.segment_bytes, h->max_local);
    state->wait_policy = coll_poweraware_wait_policy();
    state->leader_pid = leader->pid;
    state->leader_serial = leader->serial;
    state->segment = pwr_segment_new(&shape);
    state->call = new_call(m, state, comm);
    if (NULL == state->segment || NULL == state->call) {
        return false;
    }
    state->call->pids = try_single_copy(h, places);
    return coll_poweraware_table_compile(table, h, &state->choices);
}

/* Step 3. */
static bool agree(const mca_coll_poweraware_module_t *m, comm_t *comm, bool ok,
                  coll_poweraware_state_t *state)
{
    enum { FAILED, BUILT, WITH_SINGLE_COPY };
    int mine = !ok ? FAILED : NULL == state->call->pids ? BUILT : WITH_SINGLE_COPY;
    int least = coll_poweraware_least_of_all(m, comm, mine);
    if (BUILT == least) {
        free(state->call->pids);
        state->call->pids = NULL;
    }
    return FAILED != least;
}

static coll_poweraware_state_t *build(mca_coll_poweraware_module_t *m, comm_t *comm)
{
    const coll_poweraware_table_t *table = coll_poweraware_table_of(m, comm);
    coll_poweraware_state_t *state = calloc(1, sizeof *state);
    place_t *places = malloc((size_t)ompi_comm_size(comm) * sizeof *places);
    bool ok = coll_poweraware_all_agree(m, comm, NULL != state && NULL != places); /* 1 */
    if (ok) {
        state->word = random_word();
        place_t mine = my_place(comm, &state->word);
        ok = coll_poweraware_all_tell(m, comm, &mine, places, PLACE_INTS) && /* 2 */
             fill(m, state, comm, places, table);
        ok = agree(m, comm, ok, state); /* 3 */
    }
    free(places);
    if (!ok) {
        coll_poweraware_state_free(state);
        return NULL;
    }
    return state;
}

coll_poweraware_state_t *coll_poweraware_state_build(mca_coll_poweraware_module_t *m, comm_t *comm)
{
    m->state_tried = true;
    m->state = build(m, comm);
    return m->state;
}

void coll_poweraware_state_free(coll_poweraware_state_t *state)
{
    if (NULL != state) {
        coll_poweraware_unshare(state);
        pwr_hierarchy_free(state->hierarchy);
        coll_poweraware_choices_free(state->choices);
        free_call(state->call);
        free(state);
    }
}
