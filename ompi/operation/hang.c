/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A wait that lasts longer than coll_poweraware_hang_report goes to long sleeps, and says who has
 * not arrived.
 *
 * 1. The rank sleeps from then on, with looks every DEEPEST_NS.  Nothing else changes: whatever it
 *    waits for still ends the wait.
 * 2. It tells the others of the node (pwr_ompi/positions.h) that it waits, and looks for ranks that
 *    have not begun this operation.  If it waits for messages it looks at those, too: of a peer on
 *    another node it does not know whether it has arrived; it may wait in turn.
 *    Where no operation was ours so far, there are no positions: then it knows no more than the
 *    messages.
 * 3. The first rank of the node that has something to tell says it, see pwr_ompi/first_here.h.  The
 *    others would say the same, and to leave it to the lowest one would be wrong: that one may be
 *    the very rank that is stuck within the operation, and not wait at all.
 * 4. A rank with nothing to tell waits as long again.  If none of the node has spoken by then, it
 *    names those that are in the operation and do not wait: they work, or have stopped.
 */
#include "hang.h"
#include "operation_private.h"

#include <string.h>

#include "pwr/clock.h"
#include "pwr_ompi/call.h"
#include "pwr_ompi/first_here.h"
#include "pwr_ompi/process.h"

#include "ompi/group/group.h"
#include "opal/util/proc.h"

/* A process says no more than this many times, and of a communicator each node says no more, and
   each process nothing twice: a job may be slow in the same place again and again. */
enum { MOST_SAID = 3, MOST_SPOKEN = 3 };

/* Ten looks a second cost well under a thousandth of a CPU, and what a hung rank keeps others
   waiting for (a large message of the application, one-sided access) still moves before a person
   would notice.  What it waits for itself mostly wakes it at once. */
enum { DEEPEST_NS = 100 * 1000 * 1000 };

/* ---- the record ---- */

static pwr_hang_t kept[PWR_HANGS_KEPT];
static int num_hangs;

int pwr_hangs(const pwr_hang_t **first)
{
    *first = kept;
    return __atomic_load_n(&num_hangs, __ATOMIC_RELAXED);
}

static pwr_hang_t *next_record(void)
{
    int index = __atomic_fetch_add(&num_hangs, 1, __ATOMIC_RELAXED);
    return index < PWR_HANGS_KEPT ? &kept[index] : NULL;
}

/* ---- who has not arrived ---- */

static void add(pwr_hang_ranks_t *ranks, int rank, int pid)
{
    if (ranks->num < PWR_HANG_NAMED) {
        ranks->rank[ranks->num] = rank;
        ranks->pid[ranks->num] = pid;
    }
    ++ranks->num;
}

/* PWR_HANG_SORTS: nobody waits for them. */
static const pwr_hang_sort_t sort_of[] = {
    [PWR_POSITION_ABSENT] = PWR_HANG_ABSENT,       [PWR_POSITION_BEHIND] = PWR_HANG_BEHIND,
    [PWR_POSITION_ELSEWHERE] = PWR_HANG_ELSEWHERE, [PWR_POSITION_WORKING] = PWR_HANG_WORKING,
    [PWR_POSITION_WAITING] = PWR_HANG_SORTS,       [PWR_POSITION_THROUGH] = PWR_HANG_SORTS,
};

static void look_at_node(const pwr_operations_t *of, pwr_hang_t *hang)
{
    const pwr_positions_t *positions = &of->positions;
    hang->knows_node = positions->num_local > 1;
    for (int local = 0; local < positions->num_local; ++local) {
        pwr_hang_sort_t sort = sort_of[pwr_position_of(positions, local)];
        if (PWR_HANG_SORTS == sort || local == positions->my_local) {
            continue;
        }
        if (PWR_HANG_ELSEWHERE == sort && 0 == hang->ranks[sort].num) {
            hang->elsewhere = pwr_position_kind(positions, local);
        }
        add(&hang->ranks[sort], of->hierarchy->local_ranks[local],
            pwr_position_pid(positions, local));
    }
}

static bool is_known_to_miss(const pwr_operations_t *of, int rank)
{
    const pwr_hierarchy_t *h = of->hierarchy;
    if (!pwr_positions_are_known(&of->positions) || h->node_of[rank] != h->my_node) {
        return false;
    }
    pwr_hang_sort_t sort = sort_of[pwr_position_of(&of->positions, h->local_of[rank])];
    return sort <= PWR_HANG_ELSEWHERE;
}

typedef struct look {
    const pwr_operations_t *of;
    pwr_hang_t *hang;
} look_t;

/* Of a peer with several messages the first counts. */
static void add_peer(void *to, int rank, bool receives)
{
    const look_t *look = to;
    pwr_hang_ranks_t *ranks = &look->hang->ranks[receives ? PWR_HANG_SENDERS : PWR_HANG_RECEIVERS];
    bool known = is_known_to_miss(look->of, rank);
    for (int i = 0; i < ranks->num && i < PWR_HANG_NAMED; ++i) {
        known = known || ranks->rank[i] == rank;
    }
    if (!known) {
        add(ranks, rank, 0);
    }
}

/* Nobody is known to miss yet. */
static pwr_hang_t hang_in(const pwr_operations_t *of, unsigned name, uint64_t waited_ns)
{
    pwr_hang_t hang = {
        .operation = name,
        .elsewhere = -1,
        .cid = pwr_ompi_comm_id(of->comm),
        .waited_ns = waited_ns,
    };
    pwr_operations_name(of, hang.comm, sizeof hang.comm);
    return hang;
}

static pwr_hang_t look_around(const pwr_hang_watch_t *watch, uint64_t waited_ns)
{
    const pwr_operations_t *of = watch->operation->of;
    pwr_hang_t hang = hang_in(of, watch->operation->name, waited_ns);
    look_t look = {.of = of, .hang = &hang};
    look_at_node(of, &hang);
    if (NULL != watch->awaited->missing) {
        watch->awaited->missing(watch->awaited->arg, add_peer, &look);
    }
    if (1 == watch->limits) {
        hang.ranks[PWR_HANG_WORKING].num = 0; /* their waits may have begun a moment after mine */
    }
    return hang;
}

/* ---- who says it ---- */

static int num_said;

/* All ranks make the same calls of a communicator; cids alone may be those of others, too. */
static void name_comm(char *name, size_t room, struct ompi_communicator_t *comm)
{
    snprintf(name, room, "hang.%lx.%u.%lu", (unsigned long)OPAL_PROC_MY_NAME.jobid,
             pwr_ompi_comm_id(comm),
             (unsigned long)ompi_group_get_proc_name(comm->c_local_group, 0).vpid);
}

/* For the node, about this operation, and as one of few. */
static bool is_speaker(const pwr_operations_t *of)
{
    char comm[64], what[96];
    name_comm(comm, sizeof comm, of->comm);
    snprintf(what, sizeof what, "%s.%llu", comm, (unsigned long long)of->calls);
    if (!pwr_first_here(what)) {
        return false;
    }
    for (int i = 0; i < MOST_SPOKEN; ++i) {
        snprintf(what, sizeof what, "%s-%d", comm, i);
        if (pwr_first_here(what)) {
            return true;
        }
    }
    return false;
}

static bool may_speak(pwr_operations_t *of)
{
    if (of->spoke || __atomic_load_n(&num_said, __ATOMIC_RELAXED) >= MOST_SAID || !is_speaker(of)) {
        return false;
    }
    of->spoke = true;
    __atomic_fetch_add(&num_said, 1, __ATOMIC_RELAXED);
    return true;
}

/* 3, 4 */
static void tell(const pwr_hang_watch_t *watch, const pwr_hang_t *hang)
{
    pwr_operations_t *of = watch->operation->of;
    bool first_limit = 1 == watch->limits;
    bool sleeps = PWR_WAIT_POLL_ONLY != watch->policy->poll_ns;
    if (first_limit == pwr_hang_tells(hang) && may_speak(of)) {
        pwr_hang_say(1, hang, ompi_comm_rank(of->comm), sleeps);
    } else if (first_limit) {
        pwr_hang_say(2, hang, ompi_comm_rank(of->comm), sleeps);
    }
}

/* Nobody but its target is known. */
void pwr_call_expired(pwr_idle_loop_t *loop, uint64_t lasted_ns)
{
    const pwr_call_t *call = (const pwr_call_t *)((char *)loop - offsetof(pwr_call_t, loop));
    pwr_operations_t *of = call->of;
    pwr_hang_t hang = hang_in(of, call->name, lasted_ns);
    if (call->target >= 0) {
        add(&hang.ranks[PWR_HANG_TARGETS], call->target, 0);
    }
    pwr_hang_t *record = next_record();
    if (NULL != record) {
        *record = hang;
    }
    pwr_hang_say(may_speak(of) ? 1 : 2, &hang, ompi_comm_rank(of->comm), of->idles);
}

/* ---- the wait ---- */

/* 1.  Sleeps that grow still begin short: where progress tells that something moved, it soon
   looks again. */
static void sleep_longer(pwr_hang_watch_t *watch)
{
    watch->deepest = *watch->policy;
    watch->deepest.spin_ns = 0;
    watch->deepest.monitor_ns = 0;
    if (watch->deepest.sleep_max_ns < DEEPEST_NS) {
        watch->deepest.sleep_max_ns = DEEPEST_NS;
    }
    watch->policy = &watch->deepest;
}

static void first_limit(pwr_hang_watch_t *watch)
{
    pwr_positions_t *positions = &watch->operation->of->positions;
    sleep_longer(watch);
    if (pwr_positions_are_known(positions)) {
        pwr_position_waits_long(positions, true); /* 2 */
    }
    watch->kept = next_record();
}

void pwr_hang_watch_expired(pwr_hang_watch_t *watch, uint64_t lasted_ns)
{
    enum { LIMITS = 2 };
    uint64_t now_ns = pwr_env_now_ns(&pwr_process.env);
    uint64_t limit_ns = (uint64_t)pwr_process.settings.hang_report * PWR_NS_PER_S;
    if (0 == watch->began_ns) {
        watch->began_ns = now_ns - lasted_ns;
    }
    uint64_t waited_ns = now_ns - watch->began_ns;
    if (0 == limit_ns || LIMITS == watch->limits ||
        waited_ns < limit_ns * (uint64_t)(watch->limits + 1)) {
        return;
    }
    if (1 == ++watch->limits) {
        first_limit(watch);
    } else {
        watch->deepest.longest_ns = 0;
    }
    pwr_hang_t hang = look_around(watch, waited_ns);
    if (NULL != watch->kept) {
        *watch->kept = hang;
    }
    tell(watch, &hang);
}

void pwr_hang_watch_forget(pwr_hang_watch_t *watch)
{
    pwr_positions_t *positions = &watch->operation->of->positions;
    if (pwr_positions_are_known(positions)) {
        pwr_position_waits_long(positions, false);
    }
    if (NULL != watch->kept) {
        watch->kept->waited_ns = pwr_env_now_ns(&pwr_process.env) - watch->began_ns;
    }
}
