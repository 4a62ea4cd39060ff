/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The performance variables of MPI_T, as a tool sees them: that each has a class and a description
 * with its unit, and that they count what a session sees.
 *
 *   mpirun -np N check_pvars [none]     none: no accounts are kept, so nothing is counted
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BEFORE = 7, CALLS = 50, PREFIX_BYTES = sizeof "coll_poweraware_" - 1, MOST = 128 };

static int failures;

static void expect(bool holds, const char *what, const char *name)
{
    if (!holds) {
        printf("check_pvars: %s: %s\n", name, what);
        ++failures;
    }
}

typedef struct seen {
    char name[256];
    int class;
    unsigned long long value;
    MPI_T_pvar_handle handle;
} seen_t;

static seen_t seen[MOST];
static int num_seen;

static bool has_unit(const char *text)
{
    return NULL != strstr(text, "nanoseconds") || NULL != strstr(text, "number") ||
           NULL != strstr(text, "bytes") || NULL != strstr(text, "microjoules");
}

static bool tells_whether_it_counts(const char *name, const char *text, bool counts)
{
    bool always = 0 == strcmp(name, "coll_poweraware_handled");
    return (NULL == strstr(text, "not counted")) == (always || counts);
}

static void open_all(MPI_T_pvar_session session, bool counts)
{
    int num;
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num && num_seen < MOST; ++i) {
        char name[256], text[512];
        int name_room = sizeof name, text_room = sizeof text;
        int level, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum words;
        if (MPI_SUCCESS != MPI_T_pvar_get_info(i, name, &name_room, &level, &class, &type, &words,
                                               text, &text_room, &bind, &readonly, &continuous,
                                               &atomic) ||
            0 != strncmp(name, "coll_poweraware_", PREFIX_BYTES)) {
            continue;
        }
        seen_t *found = &seen[num_seen++];
        snprintf(found->name, sizeof found->name, "%s", name + PREFIX_BYTES);
        found->class = class;
        expect(MPI_UNSIGNED_LONG_LONG == type, "its type is not unsigned long long", name);
        expect(has_unit(text), "its description has no unit", name);
        expect(tells_whether_it_counts(name, text, counts),
               "its description is wrong about whether it counts", name);
        expect(0 != readonly && 0 != continuous, "it is not read-only and continuous", name);
        expect(MPI_SUCCESS == MPI_T_pvar_handle_alloc(session, i, NULL, &found->handle, &count) &&
                   1 == count,
               "it has no handle", name);
    }
}

static unsigned long long value_of(const char *name, int class)
{
    for (int i = 0; i < num_seen; ++i) {
        if (0 == strcmp(seen[i].name, name)) {
            expect(seen[i].class == class, "its class is another", name);
            return seen[i].value;
        }
    }
    expect(false, "there is no such variable", name);
    return 0;
}

static void call(int times)
{
    double mine = 1, sum;
    for (int i = 0; i < times; ++i) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void judge(bool counts, unsigned long long passed_ns)
{
    unsigned long long calls = counts ? CALLS : 0;
    unsigned long long time = value_of("time", MPI_T_PVAR_CLASS_TIMER);
    expect(value_of("handled", MPI_T_PVAR_CLASS_COUNTER) == CALLS, "is wrong", "handled");
    expect(value_of("calls", MPI_T_PVAR_CLASS_COUNTER) == calls, "is wrong", "calls");
    expect(value_of("allreduce_calls", MPI_T_PVAR_CLASS_COUNTER) == calls, "is wrong",
           "allreduce_calls");
    expect(value_of("bcast_calls", MPI_T_PVAR_CLASS_COUNTER) == 0, "is wrong", "bcast_calls");
    expect(value_of("bytes", MPI_T_PVAR_CLASS_AGGREGATE) == calls * sizeof(double), "is wrong",
           "bytes");
    expect(counts ? time > 0 && time <= passed_ns : 0 == time, "is wrong", "time");
    expect(value_of("allreduce_time", MPI_T_PVAR_CLASS_TIMER) == time, "is wrong",
           "allreduce_time");
    expect(value_of("spin_time", MPI_T_PVAR_CLASS_TIMER) +
                   value_of("monitor_time", MPI_T_PVAR_CLASS_TIMER) +
                   value_of("sleep_time", MPI_T_PVAR_CLASS_TIMER) <=
               time,
           "exceeds time", "spin_time");
    expect(counts || value_of("node_energy", MPI_T_PVAR_CLASS_COUNTER) == 0, "is wrong",
           "node_energy");
    expect(value_of("transitions", MPI_T_PVAR_CLASS_COUNTER) == 0, "is wrong", "transitions");
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_T_pvar_session session;
    bool counts = argc < 2 || 0 != strcmp(argv[1], "none");
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* Open MPI 4.1.4 crashes if it comes first */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session_create(&session);
    open_all(session, counts);
    call(BEFORE); /* a session does not see what was before it began to count */
    double begin_s = MPI_Wtime();
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    for (int i = 0; i < num_seen; ++i) { /* continuous ones cannot be started: by difference */
        unsigned long long first;
        MPI_T_pvar_read(session, seen[i].handle, &first);
        seen[i].value = 0 - first;
    }
    call(CALLS);
    for (int i = 0; i < num_seen; ++i) {
        unsigned long long now;
        expect(MPI_SUCCESS == MPI_T_pvar_read(session, seen[i].handle, &now), "cannot be read",
               seen[i].name);
        seen[i].value += now;
    }
    judge(counts, (unsigned long long)(1e9 * (MPI_Wtime() - begin_s)));
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    printf("check_pvars: rank %d: %d variables, %d wrong\n", rank, num_seen, failures);
    return 0 == failures ? 0 : 1;
}
