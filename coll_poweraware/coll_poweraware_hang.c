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
 * 3. The first rank of the node that has something to tell says it.  The others would say the same,
 *    and to leave it to the lowest one would be wrong: that one may be the very rank that is stuck
 *    within the call, and not wait at all.
 * 4. A rank with nothing to tell waits as long again.  If none of the node has spoken by then, it
 *    names those that are in the call and do not wait: they work, or have stopped.
 */
#include "coll_poweraware_hang.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pwr_ompi/roll.h"

#define SELF (&mca_coll_poweraware_component)

/* A process says no more than this many times, and of a communicator each node says no more, and
   each process nothing twice: a job may be slow in the same place again and again. */
enum { MOST_SAID = 3, MOST_SPOKEN = 3 };

/* Ten looks a second cost well under a thousandth of a CPU, and what a hung rank keeps others
   waiting for (a large message of the application, one-sided access) still moves before a person
   would notice.  What it waits for itself mostly wakes it at once. */
enum { DEEPEST_NS = 100 * 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000 };

_Static_assert((int)COLL_POWERAWARE_NUM_COLLECTIVES <= (int)PWR_ROLL_KINDS,
               "a kind for each collective");
_Static_assert((int)MOST_SPOKEN <= (int)PWR_ROLL_KINDS, "the roll counts no further");

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

static void look_at_roll(const coll_poweraware_call_t *call, coll_poweraware_hang_t *hang)
{
    const pwr_roll_t *roll = &call->segment->roll;
    for (int local = 0; local < roll->num_local; ++local) {
        coll_poweraware_ranks_t *list = list_of(hang, pwr_roll_place(roll, local));
        if (NULL != list && local != roll->my_local) {
            add(list, call->hierarchy->local_ranks[local], pwr_roll_pid(roll, local));
        }
    }
}

static bool is_known_to_miss(const coll_poweraware_call_t *call, int rank)
{
    const pwr_hierarchy_t *h = call->hierarchy;
    if (h->node_of[rank] != h->my_node) {
        return false;
    }
    pwr_roll_place_t place = pwr_roll_place(&call->segment->roll, h->local_of[rank]);
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

/* Of the lane that is waited for. */
static void look_at_messages(const coll_poweraware_call_t *call, coll_poweraware_hang_t *hang)
{
    for (int i = 0; i < call->posted[call->lane]; ++i) {
        const coll_poweraware_message_t *message = coll_poweraware_message(call, call->lane, i);
        if (!REQUEST_COMPLETE(message->request) && !is_known_to_miss(call, message->peer)) {
            add_peer(message->receives ? &hang->senders : &hang->receivers, message->peer);
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
    const coll_poweraware_call_t *call = patience->call;
    coll_poweraware_hang_t hang = {
        .collective = call->collective,
        .cid = pwr_ompi_comm_id(call->comm),
        .waited_ns = waited_ns,
    };
    pwr_ompi_comm_name(call->comm, hang.comm, sizeof hang.comm);
    look_at_roll(call, &hang);
    if (patience->for_messages) {
        look_at_messages(call, &hang);
    }
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
static void put_collective(line_t *line, int collective)
{
    const char *name = coll_poweraware_collective_name((coll_poweraware_collective_t)collective);
    put(line, "MPI_%c%s", name[0] - 'a' + 'A', name + 1);
}

static void put_elsewhere(line_t *line, const char **separator, const coll_poweraware_call_t *call,
                          const coll_poweraware_hang_t *hang)
{
    if (0 == hang->elsewhere.num) {
        return;
    }
    const pwr_roll_t *roll = &call->segment->roll;
    int local = call->hierarchy->local_of[hang->elsewhere.rank[0]];
    int kind = pwr_roll_kind(roll, local);
    put_clause(line, separator, &hang->elsewhere, "", "of this node has called ",
               "of this node have called other collectives in its place, the first ");
    if (kind >= 0) {
        put_collective(line, kind);
    } else {
        put(line, "another collective"); /* and has left it by now */
    }
    put(line, 1 == hang->elsewhere.num ? " in its place" : "");
}

static void put_who(line_t *line, const coll_poweraware_call_t *call,
                    const coll_poweraware_hang_t *hang)
{
    const char *separator = "";
    put_clause(line, &separator, &hang->absent, "", "of this node has not called it",
               "of this node have not called it");
    put_clause(line, &separator, &hang->behind, "", "of this node is still in a call before it",
               "of this node are still in calls before it");
    put_elsewhere(line, &separator, call, hang);
    if (!someone_misses(hang) && call->hierarchy->num_local > 1) {
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
    const coll_poweraware_call_t *call = patience->call;
    line_t line = {.used = 0};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    put(&line, "rank %d of ", call->hierarchy->my_rank);
    put_name(&line, hang->comm);
    put(&line, " (cid %u) on %s has waited %llu s in ", hang->cid, host,
        (unsigned long long)(hang->waited_ns / NS_PER_S));
    put_collective(&line, (int)hang->collective);
    put(&line, ": ");
    put_who(&line, call, hang);
    coll_poweraware_say(level, "%s. The job may be hung%s", line.text,
                        PWR_WAIT_POLL_ONLY == patience->policy->poll_ns
                            ? ""
                            : "; ranks that wait for long sleep meanwhile");
}

/* ---- who says it ---- */

static int num_said;

static bool may_speak(pwr_segment_t *segment)
{
    if (segment->spoke || __atomic_load_n(&num_said, __ATOMIC_RELAXED) >= MOST_SAID ||
        !pwr_roll_speaks(&segment->roll, MOST_SPOKEN)) {
        return false;
    }
    segment->spoke = true;
    __atomic_fetch_add(&num_said, 1, __ATOMIC_RELAXED);
    return true;
}

/* 3, 4 */
static void tell(const coll_poweraware_patience_t *patience, const coll_poweraware_hang_t *hang)
{
    bool first_limit = 1 == patience->limits;
    bool tells = first_limit == has_something_to_tell(hang);
    if (tells && may_speak(patience->call->segment)) {
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
        pwr_roll_waits_long(&patience->call->segment->roll); /* 2 */
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
    pwr_roll_waits_no_more(&patience->call->segment->roll);
    if (NULL != patience->hang) {
        patience->hang->waited_ns = pwr_env_now_ns(&SELF->env) - patience->began_ns;
    }
}
