/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a communicator's calls need, built by the first call that has to choose an algorithm.
 *
 * 1. All agree that everybody has memory for what follows (one Allreduce); a rank that has none
 *    could not take part in step 2.
 * 2. Every rank tells all others the lowest rank of its node, its group, what its node's shared
 *    memory is to be called if it is that lowest rank, what experiments may lose, which functions
 *    it has of other components, whether ranks share CPUs, how long its eager messages are, what it
 *    knows of earlier jobs and of other communicators (checksums), and a random word of its memory
 *    (one Allgather).
 * 3. Every rank builds the hierarchy from that, and tries to read and write the words of its node's
 *    others.  All agree that everybody has a hierarchy, and whether single copy works everywhere
 *    (one Allreduce).
 * The shared memory follows when an algorithm needs it (share.c).
 *
 * The stock functions saved by the module do the talking, so that nothing here is on the call path
 * of our own collectives.
 */
#include "comm/state.h"

#include "choose/choose.h"
#include "choose/learn.h"
#include "primitives/primitives.h"
#include "pwr_ompi/eager.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/single_copy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "opal/mca/hwloc/base/base.h"
#include "opal/util/proc.h"

typedef struct ompi_communicator_t comm_t;

/* What earlier jobs have learnt, and this one on other communicators. */
typedef enum known { BY_EARLIER_JOBS, IN_THIS_JOB, KNOWN } known_t;

typedef struct place {
    int leader;
    int group;
    int pid;
    int serial; /* never twice in a process */
    int explores_ppm;
    coll_poweraware_offers_t offers;
    int crowded;           /* its node has more ranks than CPUs */
    uint64_t known[KNOWN]; /* checksums */
    uint64_t eager_bytes;
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

static int my_group(const coll_poweraware_settings_t *settings)
{
    return NULL == pwr_process.power ? -1
                                     : pwr_topo_my_group(pwr_power_topo(pwr_process.power),
                                                         (pwr_topo_level_t)settings->group);
}

static place_t my_place(const mca_coll_poweraware_module_t *m, const uint64_t *word)
{
    static atomic_int serial;
    return (place_t){
        .leader = my_leader(m->comm),
        .group = my_group(m->settings),
        .pid = (int)getpid(),
        .serial = atomic_fetch_add(&serial, 1),
        .offers = coll_poweraware_offers_of(m),
        .crowded = pwr_process_wait_policy().oversubscribed,
        .explores_ppm = coll_poweraware_explores_ppm(m->settings, m->operations.scheme),
        .known = {[BY_EARLIER_JOBS] = pwr_known_checksum(),
                  [IN_THIS_JOB] = pwr_learnt_checksum(ompi_comm_size(m->comm))},
        .eager_bytes = 0 == m->settings->ucx_min_bytes ? pwr_eager_bytes() : 0,
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

/* ---- single copy ---- */

/* Nothing else in the memory of this node's processes should have this value. */
static uint64_t random_word(void)
{
    uint64_t word;
    if (sizeof word != getrandom(&word, sizeof word, GRND_NONBLOCK)) {
        word = pwr_env_now_ns(&pwr_process.env) * 0x9E3779B97F4A7C15u ^ (uint64_t)getpid();
    }
    return word;
}

/* The processes of this node's ranks, or NULL where one of them cannot be reached. */
static int *try_single_copy(const pwr_hierarchy_t *h, const place_t *places)
{
    int *pids = malloc((size_t)h->num_local * sizeof *pids);
    for (int i = 0; NULL != pids && i < h->num_local; ++i) {
        const place_t *place = &places[h->local_ranks[i]];
        pids[i] = place->pid;
        int error =
            i == h->my_local ? 0 : pwr_single_copy_probe(place->pid, place->address, place->word);
        if (0 != error) {
            pwr_say(2, "no single copy with rank %d on this node: %s", h->local_ranks[i],
                    strerror(error));
            free(pids);
            pids = NULL;
        }
    }
    return pids;
}

/* All ranks must know the same, to decide the same: the least of what each of them says; the
   functions that all have. */
static place_t least_of_all(const pwr_hierarchy_t *h, const place_t *places)
{
    place_t least = places[0];
    for (int rank = 1; rank < h->size; ++rank) {
        const place_t *place = &places[rank];
        least.explores_ppm =
            place->explores_ppm < least.explores_ppm ? place->explores_ppm : least.explores_ppm;
        least.eager_bytes =
            place->eager_bytes < least.eager_bytes ? place->eager_bytes : least.eager_bytes;
        least.crowded = place->crowded && least.crowded;
        for (int c = 0; c < COLL_POWERAWARE_NUM_COMPONENTS; ++c) {
            least.offers.collectives[c] &= place->offers.collectives[c];
        }
    }
    return least;
}

static bool all_know(const pwr_hierarchy_t *h, const place_t *places, known_t what)
{
    bool same = 0 != places[0].known[what];
    for (int rank = 1; rank < h->size; ++rank) {
        same = same && places[0].known[what] == places[rank].known[what];
    }
    return same;
}

/* All there is to know without shared memory; false when out of memory. */
static bool fill(const mca_coll_poweraware_module_t *m, coll_poweraware_state_t *state,
                 const place_t *places, const coll_poweraware_decision_t *decision)
{
    const coll_poweraware_settings_t *settings = m->settings;
    pwr_hierarchy_t *h = hierarchy_of(m->comm, places);
    state->hierarchy = h;
    if (NULL == h) {
        return false;
    }
    const place_t *leader = &places[h->leader_of[h->my_node]];
    pwr_segment_shape_t shape = pwr_segment_shape(settings->segment_bytes, h->max_local);
    state->leader_pid = leader->pid;
    state->leader_serial = leader->serial;
    state->segment = pwr_segment_new(&shape);
    if (NULL == state->segment) {
        return false;
    }
    state->call = coll_poweraware_call_new(m->comm, settings, h, state->segment);
    if (NULL == state->call) {
        return false;
    }
    const place_t least = least_of_all(h, places);
    state->others = coll_poweraware_others_new(m, least.offers);
    state->call->others = state->others;
    if (NULL == state->others) {
        return false;
    }
    state->call->crowded = 0 != least.crowded;
    state->call->eager_bytes = (size_t)least.eager_bytes;
    state->call->pids = settings->single_copy ? try_single_copy(h, places) : NULL;
    state->explores_ppm = least.explores_ppm;
    state->knows = all_know(h, places, BY_EARLIER_JOBS);
    bool learnt = all_know(h, places, IN_THIS_JOB);
    if (NULL != decision && (0 != state->explores_ppm || state->knows || learnt)) {
        state->learnings = coll_poweraware_learnings_new(h, learnt);
        if (NULL == state->learnings) {
            return false;
        }
    }
    if (NULL != decision) {
        state->choices = coll_poweraware_decision_compile(decision, h->num_nodes, h->max_local);
        state->trusts_others = !coll_poweraware_table_is_builtin(decision) || state->call->crowded;
    }
    return NULL == decision || NULL != state->choices;
}

/* Step 3. */
static bool agree(const mca_coll_poweraware_module_t *m, bool ok, coll_poweraware_state_t *state)
{
    enum { FAILED, BUILT, WITH_SINGLE_COPY };
    int mine = !ok ? FAILED : NULL == state->call->pids ? BUILT : WITH_SINGLE_COPY;
    int least = coll_poweraware_least_of_all(m, mine);
    if (BUILT == least) {
        free(state->call->pids);
        state->call->pids = NULL;
    }
    return FAILED != least;
}

static coll_poweraware_state_t *build(const mca_coll_poweraware_module_t *m,
                                      const coll_poweraware_decision_t *decision)
{
    coll_poweraware_state_t *state = calloc(1, sizeof *state);
    place_t *places = malloc((size_t)ompi_comm_size(m->comm) * sizeof *places);
    bool ok = coll_poweraware_all_agree(m, NULL != state && NULL != places); /* 1 */
    if (ok) {
        state->word = random_word();
        place_t mine = my_place(m, &state->word);
        ok = coll_poweraware_all_tell(m, &mine, places, PLACE_INTS) && /* 2 */
             fill(m, state, places, decision);
        ok = agree(m, ok, state); /* 3 */
    }
    free(places);
    if (!ok) {
        coll_poweraware_state_free(state);
        return NULL;
    }
    return state;
}

coll_poweraware_state_t *coll_poweraware_state_build(mca_coll_poweraware_module_t *m,
                                                     const coll_poweraware_decision_t *decision)
{
    m->state_tried = true;
    m->state = build(m, decision);
    if (NULL != m->state) {
        m->operations.hierarchy = m->state->hierarchy;
    }
    return m->state;
}

void coll_poweraware_state_free(coll_poweraware_state_t *state)
{
    if (NULL != state) {
        coll_poweraware_call_free(state->call); /* a team of kernels has memory of the segment */
        coll_poweraware_unshare(state);
        coll_poweraware_learnings_free(state->learnings);
        pwr_hierarchy_free(state->hierarchy);
        coll_poweraware_choices_free(state->choices);
        coll_poweraware_others_free(state->others);
        free(state);
    }
}
