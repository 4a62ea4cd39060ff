/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Slots that come bit by bit (scheme auto): when they are there, and what becomes of them where
 * there is no memory, or where the communicator goes meanwhile.
 *
 *   mpirun -np N check_slots WHAT
 *
 *   comes    each call touches some bytes, as many on all ranks; when all are touched calls are
 *            ours; the same on a kernel that cannot populate
 *   named    whose algorithm is named has them in its first call, also in the middle
 *   fails    the first, a middle, the last populating fails on one rank: calls are stock's for
 *            ever, on all ranks, and the memory is given back
 *   short    short messages have short slots; longer ones come bit by bit, and calls of short
 *            messages are ours meanwhile
 *   shrinks  as these come, populating fails on one rank: the calls of short messages are stock's
 *            then, also those that repeat others
 *   freed    communicators are freed after 0, 1, 2, ... calls: nothing is kept
 *   full     two communicators, with room for one: calls are right
 * Each call has a result that is known.  Exits with 77 where the kernel cannot populate.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "faults.h"

/* Bcasts of a node; the decision table of the job gives them to an algorithm with slots. */
enum { COUNT = 25000, FEW = 16, MOST_CALLS = 200, MOST_BYTES_PER_CALL = 256 * 1024 };

static int rank;
static int size;
static int wrong;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handled;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "check_slots: rank %d: %s\n", rank, what);
        ++wrong;
    }
}

static void watch_handled(void)
{
    int provided, index, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    if (MPI_SUCCESS !=
            MPI_T_pvar_get_index("coll_poweraware_handled", MPI_T_PVAR_CLASS_COUNTER, &index) ||
        MPI_SUCCESS != MPI_T_pvar_handle_alloc(session, index, NULL, &handled, &count)) {
        fputs("check_slots: there is no variable of handled calls\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static unsigned long long num_handled(void)
{
    unsigned long long number = 0;
    MPI_T_pvar_read(session, handled, &number);
    return number;
}

/* Returns whether an algorithm of ours did it. */
static bool bcast(MPI_Comm comm, int seed, int count)
{
    static int message[COUNT];
    int root = seed % size;
    unsigned long long before = num_handled();
    for (int i = 0; i < count; ++i) {
        message[i] = rank == root ? seed + i : -1;
    }
    MPI_Bcast(message, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) {
        if (message[i] != seed + i) {
            expect(false, "a result is wrong");
            break;
        }
    }
    return num_handled() > before;
}

static bool call(MPI_Comm comm, int seed)
{
    return bcast(comm, seed, COUNT);
}

static bool short_sum(MPI_Comm comm)
{
    int mine[FEW], sum[FEW];
    unsigned long long before = num_handled();
    for (int i = 0; i < FEW; ++i) {
        mine[i] = rank + i;
        sum[i] = -1;
    }
    MPI_Allreduce(mine, sum, FEW, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < FEW; ++i) {
        expect(sum[i] == size * i + size * (size - 1) / 2, "a sum is wrong");
    }
    return num_handled() > before;
}

/* Bytes of our segments that this process has mapped, in boxes or in slots. */
static size_t mapped(const char *part)
{
    char line[512];
    size_t bytes = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (NULL != maps && NULL != fgets(line, sizeof line, maps)) {
        const char *name = strstr(line, "/dev/shm/poweraware.");
        if (NULL != name && 0 == strncmp(strrchr(name, '.'), part, strlen(part))) {
            char *end;
            unsigned long from = strtoul(line, &end, 16);
            bytes += strtoul(end + 1, NULL, 16) - from;
        }
    }
    if (NULL != maps) {
        fclose(maps);
    }
    return bytes;
}
#define BOXES ".0"
#define SLOTS ".1"

static MPI_Comm open_communicator(const char *algorithm)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_poweraware_algorithm", algorithm);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* Calls until one is ours, or MOST_CALLS. */
static int calls_until_ours(MPI_Comm comm)
{
    int calls = 0;
    while (calls < MOST_CALLS && !call(comm, calls)) {
        ++calls;
    }
    return calls;
}

static bool is_same_everywhere(int mine)
{
    int all[2];
    int both[2] = {mine, -mine};
    MPI_Allreduce(both, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all[0] == -all[1];
}

/* Returns the number of calls that were stock's. */
static int comes(void)
{
    MPI_Comm comm = open_communicator("choose");
    int calls = 0;
    bool began = false;
    for (bool ours = false; !ours && calls < MOST_CALLS; calls += !ours) {
        size_t before = faults_populated;
        ours = call(comm, calls);
        size_t populated = faults_populated - before;
        expect(populated <= MOST_BYTES_PER_CALL, "one call populates much");
        expect(!began || ours || populated > 0, "a call of stock's populates nothing");
        began = began || populated > 0;
    }
    expect(calls > 1 && calls < MOST_CALLS, "it never comes, or at once");
    expect(is_same_everywhere(calls), "it comes in another call on another rank");
    for (int i = 0; i < 5; ++i) {
        expect(call(comm, i), "it goes again");
    }
    MPI_Comm_free(&comm);
    return calls;
}

static void comes_on_each_kernel(void)
{
    size_t before = faults_populated;
    int calls = comes();
    expect(faults_populated - before > 3 * 1024 * 1024, "not all is populated");
    faults_old_kernel = true;
    expect(comes() == calls, "without populating it comes in another call");
    faults_old_kernel = false;
    printf("check_slots: it comes after %d calls\n", calls);
}

/* Allreduce is named by a parameter, Bcast is not. */
static void named(void)
{
    static int zero[COUNT], sum[COUNT];
    MPI_Comm comm = open_communicator("leader");
    expect(call(comm, 0), "a named algorithm does not do the first call");
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 6; ++i) {
        expect(!call(comm, i), "it is there at once");
    }
    expect(mapped(SLOTS) > 0, "nothing is coming");
    unsigned long long before = num_handled();
    MPI_Allreduce(zero, sum, COUNT, MPI_INT, MPI_SUM, comm);
    expect(num_handled() > before, "a named algorithm does not do the call in the middle");
    expect(call(comm, 6), "it is not there then");
    MPI_Comm_free(&comm);
}

static void fail(int where, long n)
{
    MPI_Comm comm = open_communicator("choose");
    faults_arm(rank == where ? FAULTS_PAGES : 0, n);
    expect(MOST_CALLS == calls_until_ours(comm), "calls are ours although there is no memory");
    expect(faults_disarm() == (rank == where), "it did not fail");
    expect(mapped(SLOTS) == 0 && mapped(BOXES) > 0, "the memory is not given back");
    /* Of the budget, which has room for one, too. */
    MPI_Comm other = open_communicator("choose");
    expect(calls_until_ours(other) < MOST_CALLS, "the budget is not given back");
    MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
}

static void fails(void)
{
    MPI_Comm comm = open_communicator("choose");
    long before = faults_populations;
    calls_until_ours(comm);
    long all = faults_populations - before;
    MPI_Comm_free(&comm);
    for (int where = 0; where < size; ++where) {
        fail(where, 1);
        fail(where, 2);
        fail(where, all / 2);
        fail(where, all);
    }
}

/* Both kinds of short calls are ours. */
static MPI_Comm open_with_short_slots(void)
{
    MPI_Comm comm = open_communicator("choose");
    int calls = 0;
    size_t before = faults_populated;
    while (calls < MOST_CALLS && !(bcast(comm, calls, FEW) && short_sum(comm))) {
        ++calls;
    }
    expect(calls < 4, "short slots do not come soon");
    expect(faults_populated - before <= 64 * 1024, "much is populated for short messages");
    return comm;
}

static void with_short_slots(void)
{
    MPI_Comm comm = open_with_short_slots();
    int calls = 0;
    while (calls < MOST_CALLS && !call(comm, calls)) {
        expect(bcast(comm, calls, FEW) && short_sum(comm), "short calls are not ours meanwhile");
        ++calls;
    }
    expect(calls > 1 && calls < MOST_CALLS, "longer slots never come, or at once");
    expect(is_same_everywhere(calls), "they come in another call on another rank");
    for (int i = 0; i < 20; ++i) {
        expect(call(comm, i) && bcast(comm, i, FEW) && short_sum(comm), "they go again");
    }
    MPI_Comm_free(&comm);
}

static void shrink(int where, long n)
{
    MPI_Comm comm = open_with_short_slots();
    bool ours = true;
    faults_arm(rank == where ? FAULTS_PAGES : 0, n);
    for (int i = 0; i < MOST_CALLS; ++i) {
        expect(!call(comm, i), "a call is ours although there is no memory");
        ours = short_sum(comm);
    }
    expect(faults_disarm() == (rank == where), "it did not fail");
    expect(!ours && !bcast(comm, 0, FEW), "short calls are ours although the memory is gone");
    expect(mapped(SLOTS) == 0 && mapped(BOXES) > 0, "the memory is not given back");
    MPI_Comm_free(&comm);
}

static void shrinks(void)
{
    for (int where = 0; where < size; ++where) {
        shrink(where, 1);
        shrink(where, 2);
        shrink(where, 5);
    }
}

static void freed(void)
{
    bool ours = false;
    for (int calls = 0; !ours && calls < MOST_CALLS; ++calls) {
        MPI_Comm comm = open_communicator("choose");
        for (int i = 0; i < calls; ++i) {
            ours = call(comm, i);
        }
        MPI_Comm_free(&comm);
        expect(mapped(SLOTS) == 0 && mapped(BOXES) == 0, "memory is kept");
    }
    MPI_Comm last; /* is never freed */
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    for (int i = 0; i < 6; ++i) {
        call(last, i);
    }
    expect(mapped(SLOTS) > 0, "nothing is coming");
}

static void full(void)
{
    MPI_Comm both[2] = {open_communicator("choose"), open_communicator("choose")};
    int ours[2] = {0, 0};
    for (int i = 0; i < MOST_CALLS; ++i) {
        for (int k = 0; k < 2; ++k) {
            ours[k] += call(both[k], i);
        }
    }
    expect((mapped(SLOTS) > 0) == (ours[0] > 0 || ours[1] > 0), "what is there is not used");
    expect(0 == ours[0] || 0 == ours[1], "there was room for both");
    expect(is_same_everywhere(ours[0]) && is_same_everywhere(ours[1]), "ranks do not agree");
    MPI_Comm_free(&both[0]);
    MPI_Comm_free(&both[1]);
}

static const struct {
    const char *name;
    void (*run)(void);
} words[] = {
    {"comes", comes_on_each_kernel},
    {"named", named},
    {"fails", fails},
    {"short", with_short_slots},
    {"shrinks", shrinks},
    {"freed", freed},
    {"full", full},
};

static void run(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (0 == strcmp(words[i].name, word)) {
            words[i].run();
            return;
        }
    }
    expect(false, "it is asked for what it does not know");
}

int main(int argc, char **argv)
{
    if (0 != madvise(NULL, 0, FAULTS_POPULATE)) {
        puts("check_slots: this kernel cannot populate");
        return 77;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    watch_handled();
    run(argc > 1 ? argv[1] : "");
    printf("check_slots: rank %d: %d wrong\n", rank, wrong);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0 != wrong;
}
