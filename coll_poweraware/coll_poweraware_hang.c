/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A wait that lasts longer than coll_poweraware_hang_report sinks, and says who has not arrived.
 *
 * 1. The rank sleeps from then on, with looks every DEEPEST_NS.  Nothing else changes: whatever it
 *    waits for still ends the wait.
 * 2. It tells the roll of the node (pwr_ompi/roll.h) that it waits, and looks there for ranks that
 *    have not begun this call.  If it waits for messages it looks at those, too: of a peer on
 *    another node it does not know whether it has arrived; it may wait in turn.
 *    In a stock function, and where no call was ours so far, there may be no roll: then it knows no
 *    more than the messages.
 * 3. The first rank of the node that has something to tell says it, see pwr_ompi/first_here.h.  The
 *    others would say the same, and to leave it to the lowest one would be wrong: that one may be
 *    the very rank that is stuck within the call, and not wait at all.
 * 4. A rank with nothing to tell waits as long again.  If none of the node has spoken by then, it
 *    names those that are in the call and do not wait: they work, or have stopped.
 */
#include "coll_poweraware_hang.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pwr_ompi/first_here.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/roll.h"

#include "ompi/group/group.h"
#include "opal/util/proc.h"

#define SELF (&mca_coll_poweraware_component)

/* A process says no more than this many times, and of a communicator each node says no more, and
   each process nothing twice: a job may be slow in the same place again and again. */
enum { MOST_SAID = 3, MOST_SPOKEN = 3 };

/* Ten looks a second cost well under a thousandth of a CPU, and what a hung rank keeps others
   waiting for (a large message of the application, one-sided access) still moves before a person
   would notice.  What it waits for itself mostly wakes it at once. */
enum { DEEPEST_NS = 100 * 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000 };

uint64_t coll_poweraware_patience_ns(void)
{
    return (uint64_t)SELF->params.hang_report * NS_PER_S;
}

/* ---- the record ---- */

static coll_poweraware_hang_t kept[COLL_POWERAWARE_HANGS_KEPT];
static int num_hangs;

int coll_poweraware_hangs(const coll_poweraware_hang_t **first)
{
    *first = kept;
    return __atomic_load_n(&num_hangs, __ATOMIC_RELAXED);
}

static coll_poweraware_hang_t *next_record(void)
{
    int index = __atomic_fetch_add(&num_hangs, 1, __ATOMIC_RELAXED);
    return index < COLL_POWERAWARE_HANGS_KEPT ? &kept[index] : NULL;
}

/* ---- who has not arrived ---- */

static void add(coll_poweraware_ranks_t *ranks, int rank, int pid)
{
    if (ranks->num < COLL_POWERAWARE_NAMED) {
        ranks->rank[ranks->num] = rank;
        ranks->pid[ranks->num] = pid;
    }
    ++ranks->num;
}

static coll_poweraware_ranks_t *list_of(coll_poweraware_hang_t *hang, pwr_roll_place_t place)
{
    switch (place) {
    case PWR_ROLL_ABSENT:
        return &hang->absent;
    case PWR_ROLL_BEHIND:
        return &hang->behind;
    case PWR_ROLL_ELSEWHERE:
        return &hang->elsewhere;
    case PWR_ROLL_WORKING:
        return &hang->working;
    case PWR_ROLL_WAITING:
    case PWR_ROLL_THROUGH:
        break;
    }
    return NULL;
}

static void look_at_roll(const mca_coll_poweraware_module_t *m, coll_poweraware_hang_t *hang)
{
    const pwr_roll_t *roll = coll_poweraware_roll(m);
    for (int local = 0; NULL != roll && local < roll->num_local; ++local) {
        coll_poweraware_ranks_t *list = list_of(hang, pwr_roll_place(roll, local));
        if (NULL != list && local != roll->my_local) {
            add(list, m->state->hierarchy->local_ranks[local], pwr_roll_pid(roll, local));
        }
    }
}

static bool is_known_to_miss(const mca_coll_poweraware_module_t *m, int rank)
{
    const pwr_roll_t *roll = coll_poweraware_roll(m);
    if (NULL == roll || m->state->hierarchy->node_of[rank] != m->state->hierarchy->my_node) {
        return false;
    }
    pwr_roll_place_t place = pwr_roll_place(roll, m->state->hierarchy->local_of[rank]);
    return PWR_ROLL_ABSENT == place || PWR_ROLL_BEHIND == place || PWR_ROLL_ELSEWHERE == place;
}

/* Of a peer with several messages the first counts. */
static void add_peer(coll_poweraware_ranks_t *ranks, int rank)
{
    for (int i = 0; i < ranks->num && i < COLL_POWERAWARE_NAMED; ++i) {
        if (ranks->rank[i] == rank) {
            return;
        }
    }
    add(ranks, rank, 0);
}

static void add_message(const mca_coll_poweraware_module_t *m, coll_poweraware_hang_t *hang,
                        int rank, bool receives)
{
    if (!is_known_to_miss(m, rank)) {
        add_peer(receives ? &hang->senders : &hang->receivers, rank);
    }
}

/* Of the lane that is waited for. */
static void look_at_messages(const coll_poweraware_call_t *call, coll_poweraware_hang_t *hang)
{
    for (int i = 0; i < call->posted[call->lane]; ++i) {
        const coll_poweraware_message_t *message = coll_poweraware_message(call, call->lane, i);
        if (!REQUEST_COMPLETE(message->request)) {
            add_message(call->module, hang, message->peer, message->receives);
        }
    }
}

static void look_at_requests(const coll_poweraware_patience_t *patience,
                             coll_poweraware_hang_t *hang)
{
    for (size_t i = 0; i < patience->num_requests; ++i) {
        const ompi_request_t *request = patience->requests[i];
        int rank;
        bool receives;
        if (!REQUEST_COMPLETE(request) &&
            pwr_idle_peer_of(request, patience->module->comm, &rank, &receives)) {
            add_message(patience->module, hang, rank, receives);
        }
    }
}

static bool someone_misses(const coll_poweraware_hang_t *hang)
{
    return 0 != hang->absent.num + hang->behind.num + hang->elsewhere.num;
}

static bool has_something_to_tell(const coll_poweraware_hang_t *hang)
{
    return someone_misses(hang) || 0 != hang->senders.num + hang->receivers.num;
}

static coll_poweraware_hang_t look(const coll_poweraware_patience_t *patience, uint64_t waited_ns)
{
    const mca_coll_poweraware_module_t *m = patience->module;
    coll_poweraware_hang_t hang = {
        .what = m->what,
        .cid = pwr_ompi_comm_id(m->comm),
        .waited_ns = waited_ns,
    };
    pwr_ompi_comm_name(m->comm, hang.comm, sizeof hang.comm);
    look_at_roll(m, &hang);
    if (NULL != patience->messages) {
        look_at_messages(patience->messages, &hang);
    }
    look_at_requests(patience, &hang);
    if (1 == patience->limits) {
        hang.working.num = 0; /* their waits may have begun a moment after mine */
    }
    return hang;
}

/* ---- the line ---- */

typedef struct line {
    char text[900]; /* coll_poweraware_say has room for it */
    size_t used;
} line_t;

__attribute__((format(printf, 2, 3))) static void put(line_t *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, args);
    va_end(args);
    size_t room = sizeof line->text - 1 - line->used;
    line->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room;
}

/* "rank 5 (pid 77)", "ranks 5, 6 and 9 others" */
static void put_ranks(line_t *line, const coll_poweraware_ranks_t *ranks)
{
    int named = ranks->num < COLL_POWERAWARE_NAMED ? ranks->num : COLL_POWERAWARE_NAMED;
    int others = ranks->num - named;
    put(line, 1 == ranks->num ? "rank" : "ranks");
    for (int i = 0; i < named; ++i) {
        bool last = i + 1 == named && 0 == others;
        put(line, "%s%d", 0 == i ? " " : last ? " and " : ", ", ranks->rank[i]);
        if (0 != ranks->pid[i]) {
            put(line, " (pid %d)", ranks->pid[i]);
        }
    }
    if (others > 0) {
        put(line, " and %d other%s", others, 1 == others ? "" : "s");
    }
}

/* First what is known to be wrong.  separator: before the next clause. */
static void put_clause(line_t *line, const char **separator, const coll_poweraware_ranks_t *ranks,
                       const char *before, const char *if_one, const char *if_many)
{
    if (0 != ranks->num) {
        put(line, "%s%s", *separator, before);
        put_ranks(line, ranks);
        put(line, " %s", 1 == ranks->num ? if_one : if_many);
        *separator = "; ";
    }
}

/* "MPI_Bcast" */
static void put_collective(line_t *line, int what)
{
    const char *name = coll_poweraware_what_name(what);
    put(line, "MPI_%c%s", name[0] - 'a' + 'A', name + 1);
}

static void put_elsewhere(line_t *line, const char **separator,
                          const mca_coll_poweraware_module_t *m, const coll_poweraware_hang_t *hang)
{
    if (0 == hang->elsewhere.num) {
        return;
    }
    int local = m->state->hierarchy->local_of[hang->elsewhere.rank[0]];
    int kind = pwr_roll_kind(coll_poweraware_roll(m), local);
    put_clause(line, separator, &hang->elsewhere, "", "of this node has called ",
               "of this node have called other collectives in its place, the first ");
    if (kind >= 0 && kind < COLL_POWERAWARE_NUM_COLLECTIVES) {
        put_collective(line, kind);
    } else {
        put(line, "another collective"); /* that is only counted, or has been left by now */
    }
    put(line, 1 == hang->elsewhere.num ? " in its place" : "");
}

static void put_who(line_t *line, const mca_coll_poweraware_module_t *m,
                    const coll_poweraware_hang_t *hang)
{
    const char *separator = "";
    put_clause(line, &separator, &hang->absent, "", "of this node has not called it",
               "of this node have not called it");
    put_clause(line, &separator, &hang->behind, "", "of this node is still in a call before it",
               "of this node are still in calls before it");
    put_elsewhere(line, &separator, m, hang);
    const pwr_roll_t *roll = coll_poweraware_roll(m);
    if (!someone_misses(hang) && NULL != roll && roll->num_local > 1) {
        put(line, "all ranks of this node have called it");
        separator = "; ";
    }
    put_clause(line, &separator, &hang->senders, "no message has come from ",
               "yet, which may be waiting itself", "yet, which may be waiting themselves");
    put_clause(line, &separator, &hang->receivers, "", "has not taken its message yet",
               "have not taken their messages yet");
    if (!has_something_to_tell(hang)) {
        put_clause(line, &separator, &hang->working, "",
                   "does not wait in it: it works, or is stuck",
                   "do not wait in it: they work, or are stuck");
    }
    put(line, '\0' == separator[0] ? "for whom is not known" : "");
}

/* Names are the application's: they must not look like lines of others. */
static void put_name(line_t *line, const char *name)
{
    size_t from = line->used;
    put(line, "%s", '\0' == name[0] ? "a communicator without a name" : name);
    for (size_t i = from; i < line->used; ++i) {
        unsigned char c = (unsigned char)line->text[i];
        line->text[i] = c < 0x20 || 0x7f == c ? '?' : (char)c;
    }
}

static void say(int level, const coll_poweraware_patience_t *patience,
                const coll_poweraware_hang_t *hang)
{
    const mca_coll_poweraware_module_t *m = patience->module;
    line_t line = {.used = 0};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    put(&line, "rank %d of ", ompi_comm_rank(m->comm));
    put_name(&line, hang->comm);
    put(&line, " (cid %u) on %s has waited %llu s in ", hang->cid, host,
        (unsigned long long)(hang->waited_ns / NS_PER_S));
    put_collective(&line, hang->what);
    put(&line, ": ");
    put_who(&line, m, hang);
    coll_poweraware_say(level, "%s. The job may be hung%s", line.text,
                        PWR_WAIT_POLL_ONLY == patience->policy->poll_ns
                            ? ""
                            : "; ranks that wait for long sleep meanwhile");
}

/* ---- who says it ---- */

static int num_said;

/* All ranks make the same calls of a communicator; cids alone may be those of others, too. */
static void name_comm(char *name, size_t room, const mca_coll_poweraware_module_t *m)
{
    snprintf(name, room, "hang.%lx.%u.%lu", (unsigned long)OPAL_PROC_MY_NAME.jobid,
             pwr_ompi_comm_id(m->comm),
             (unsigned long)ompi_group_get_proc_name(m->comm->c_local_group, 0).vpid);
}

static unsigned long long calls_of(const mca_coll_poweraware_module_t *m)
{
    unsigned long long calls = 0;
    for (int i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        calls += m->counters[i].calls;
    }
    for (int i = 0; i < COLL_POWERAWARE_NUM_COUNTED; ++i) {
        calls += m->counted[i];
    }
    return calls;
}

/* For the node, about this call, and as one of few. */
static bool is_speaker(const mca_coll_poweraware_module_t *m)
{
    char comm[64], what[96];
    name_comm(comm, sizeof comm, m);
    snprintf(what, sizeof what, "%s.%llu", comm, calls_of(m));
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

static bool may_speak(mca_coll_poweraware_module_t *m)
{
    if (m->spoke || __atomic_load_n(&num_said, __ATOMIC_RELAXED) >= MOST_SAID || !is_speaker(m)) {
        return false;
    }
    m->spoke = true;
    __atomic_fetch_add(&num_said, 1, __ATOMIC_RELAXED);
    return true;
}

/* 3, 4 */
static void tell(const coll_poweraware_patience_t *patience, const coll_poweraware_hang_t *hang)
{
    bool first_limit = 1 == patience->limits;
    bool tells = first_limit == has_something_to_tell(hang);
    if (tells && may_speak(patience->module)) {
        say(1, patience, hang);
    } else if (first_limit) {
        say(2, patience, hang);
    }
}

/* 1.  Sleeps that grow still begin short: where progress tells that something moved, it soon
   looks again. */
static void sink(coll_poweraware_patience_t *patience)
{
    patience->deepest = *patience->policy;
    patience->deepest.spin_ns = 0;
    patience->deepest.monitor_ns = 0;
    if (patience->deepest.sleep_max_ns < DEEPEST_NS) {
        patience->deepest.sleep_max_ns = DEEPEST_NS;
    }
    patience->policy = &patience->deepest;
}

static void tell_roll(const mca_coll_poweraware_module_t *m, void (*tell_it)(pwr_roll_t *roll))
{
    pwr_roll_t *roll = coll_poweraware_roll(m);
    if (NULL != roll) {
        tell_it(roll);
    }
}

void coll_poweraware_patience_lose(coll_poweraware_patience_t *patience, uint64_t lasted_ns)
{
    enum { LIMITS = 2 };
    uint64_t now_ns = pwr_env_now_ns(&SELF->env);
    uint64_t limit_ns = coll_poweraware_patience_ns();
    if (0 == patience->began_ns) {
        patience->began_ns = now_ns - lasted_ns;
    }
    uint64_t waited_ns = now_ns - patience->began_ns;
    if (0 == limit_ns || LIMITS == patience->limits ||
        waited_ns < limit_ns * (uint64_t)(patience->limits + 1)) {
        return;
    }
    if (1 == ++patience->limits) {
        sink(patience);
        tell_roll(patience->module, pwr_roll_waits_long); /* 2 */
        patience->hang = next_record();
    } else {
        patience->deepest.longest_ns = 0;
    }
    coll_poweraware_hang_t hang = look(patience, waited_ns);
    if (NULL != patience->hang) {
        *patience->hang = hang;
    }
    tell(patience, &hang);
}

void coll_poweraware_patience_forget(coll_poweraware_patience_t *patience)
{
    tell_roll(patience->module, pwr_roll_waits_no_more);
    if (NULL != patience->hang) {
        patience->hang->waited_ns = pwr_env_now_ns(&SELF->env) - patience->began_ns;
    }
}
