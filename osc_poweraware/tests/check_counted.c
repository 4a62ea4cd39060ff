/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of two windows, one with a name, for reports, and what performance variables of MPI_T say
 * of them.
 *
 *   mpirun -np N check_counted
 */
#include <mpi.h>

#include <stdio.h>

enum { FLUSHES = 30, OTHERS = 5, BYTES = 4096 };

static int failures;
static MPI_T_pvar_session session;

/* Variables count from here on. */
static struct {
    const char *name;
    unsigned long long wanted;
    MPI_T_pvar_handle handle;
} variables[] = {
    {.name = "osc_poweraware_win_flush_calls", .wanted = FLUSHES + OTHERS},
    {.name = "osc_poweraware_win_put_calls", .wanted = FLUSHES + OTHERS},
    {.name = "osc_poweraware_win_fence_calls", .wanted = 0},
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static void find_variables(void)
{
    for (int i = 0; i < VARIABLES; ++i) {
        int index, count;
        if (MPI_SUCCESS !=
                MPI_T_pvar_get_index(variables[i].name, MPI_T_PVAR_CLASS_COUNTER, &index) ||
            MPI_SUCCESS !=
                MPI_T_pvar_handle_alloc(session, index, NULL, &variables[i].handle, &count)) {
            printf("check_counted: there is no %s\n", variables[i].name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static void check_variables(void)
{
    for (int i = 0; i < VARIABLES; ++i) {
        unsigned long long found = 0;
        MPI_T_pvar_read(session, variables[i].handle, &found);
        if (found != variables[i].wanted) {
            printf("check_counted: %s is %llu, not %llu\n", variables[i].name, found,
                   variables[i].wanted);
            ++failures;
        }
        MPI_T_pvar_handle_free(session, &variables[i].handle);
    }
}

static void flush(MPI_Win window, int times, int target)
{
    static char bytes[BYTES];
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < times; ++i) {
        MPI_Put(bytes, BYTES, MPI_CHAR, target, 0, BYTES, MPI_CHAR, window);
        MPI_Win_flush(target, window);
    }
    MPI_Win_unlock_all(window);
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    void *memory;
    MPI_Win windows[2];
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    find_variables();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; ++i) {
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[i]);
    }
    MPI_Win_set_name(windows[0], "halo");
    flush(windows[0], FLUSHES, (rank + 1) % size);
    flush(windows[1], OTHERS, (rank + 1) % size);
    check_variables();
    for (int i = 0; i < 2; ++i) {
        MPI_Win_free(&windows[i]);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_counted: %d failures\n", failures);
    }
    MPI_Finalize();
    return 0 != failures;
}
