/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the user is told of a wait that lasts too long, in one line.
 */
#include "hang.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "pwr_ompi/process.h"

typedef struct line {
    char text[900]; /* pwr_say has room for it */
    size_t used;
    const char *separator; /* before the next clause */
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
static void put_ranks(line_t *line, const pwr_hang_ranks_t *ranks)
{
    int named = ranks->num < PWR_HANG_NAMED ? ranks->num : PWR_HANG_NAMED;
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

static const struct {
    const char *before, *if_one, *if_many;
} clauses[PWR_HANG_SORTS] = {
    [PWR_HANG_ABSENT] = {"", "of this node has not called it", "of this node have not called it"},
    [PWR_HANG_BEHIND] = {"", "of this node is still in a call before it",
                         "of this node are still in calls before it"},
    [PWR_HANG_ELSEWHERE] = {"", "of this node has called",
                            "of this node have called other collectives in its place, the first"},
    [PWR_HANG_WORKING] = {"", "does not wait in it: it works, or is stuck",
                          "do not wait in it: they work, or are stuck"},
    [PWR_HANG_SENDERS] = {"no message has come from ", "yet, which may be waiting itself",
                          "yet, which may be waiting themselves"},
    [PWR_HANG_RECEIVERS] = {"", "has not taken its message yet",
                            "have not taken their messages yet"},
    [PWR_HANG_TARGETS] = {"", "is its target: it has not answered, or another rank has its lock",
                          "are its targets"},
};

static void put_clause(line_t *line, const pwr_hang_t *hang, pwr_hang_sort_t sort)
{
    const pwr_hang_ranks_t *ranks = &hang->ranks[sort];
    if (0 != ranks->num) {
        put(line, "%s%s", line->separator, clauses[sort].before);
        put_ranks(line, ranks);
        put(line, " %s", 1 == ranks->num ? clauses[sort].if_one : clauses[sort].if_many);
        line->separator = "; ";
    }
}

/* "MPI_Bcast", "shmem_put" */
static void put_operation(line_t *line, unsigned operation)
{
    const char *name = pwr_process_name(PWR_OPERATION, (int)operation);
    if (0 == strncmp("shmem_", name, strlen("shmem_"))) {
        put(line, "%s", name);
    } else {
        put(line, "MPI_%c%s", toupper((unsigned char)name[0]), name + 1);
    }
}

static void put_elsewhere(line_t *line, const pwr_hang_t *hang)
{
    int num = hang->ranks[PWR_HANG_ELSEWHERE].num;
    put_clause(line, hang, PWR_HANG_ELSEWHERE);
    if (0 != num) {
        put(line, " ");
        if (hang->elsewhere >= 0) {
            put_operation(line, (unsigned)hang->elsewhere);
        } else {
            put(line, "another collective"); /* which has been left by now */
        }
        put(line, 1 == num ? " in its place" : "");
    }
}

static bool someone_misses(const pwr_hang_t *hang)
{
    return 0 != hang->ranks[PWR_HANG_ABSENT].num + hang->ranks[PWR_HANG_BEHIND].num +
                    hang->ranks[PWR_HANG_ELSEWHERE].num;
}

bool pwr_hang_tells(const pwr_hang_t *hang)
{
    return someone_misses(hang) ||
           0 != hang->ranks[PWR_HANG_SENDERS].num + hang->ranks[PWR_HANG_RECEIVERS].num;
}

/* First what is known to be wrong. */
static void put_who(line_t *line, const pwr_hang_t *hang)
{
    put_clause(line, hang, PWR_HANG_ABSENT);
    put_clause(line, hang, PWR_HANG_BEHIND);
    put_elsewhere(line, hang);
    if (!someone_misses(hang) && hang->knows_node) {
        put(line, "all ranks of this node have called it");
        line->separator = "; ";
    }
    put_clause(line, hang, PWR_HANG_SENDERS);
    put_clause(line, hang, PWR_HANG_RECEIVERS);
    put_clause(line, hang, PWR_HANG_TARGETS);
    if (!pwr_hang_tells(hang)) {
        put_clause(line, hang, PWR_HANG_WORKING);
    }
    put(line, '\0' == line->separator[0] ? "for whom is not known" : "");
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

void pwr_hang_say(int level, const pwr_hang_t *hang, int my_rank, bool sleeps)
{
    line_t line = {.used = 0, .separator = ""};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    put(&line, "rank %d of ", my_rank);
    put_name(&line, hang->comm);
    put(&line, " (cid %u) on %s has waited %llu s in ", hang->cid, host,
        (unsigned long long)(hang->waited_ns / PWR_NS_PER_S));
    put_operation(&line, hang->operation);
    put(&line, ": ");
    put_who(&line, hang);
    pwr_say(level, "%s. The job may be hung%s", line.text,
            sleeps ? "; ranks that wait for long sleep meanwhile" : "");
}
