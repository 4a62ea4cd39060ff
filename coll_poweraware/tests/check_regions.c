/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Marks regions in the ways that programs may, right and wrong, for whoever looks into the report.
 *
 *   mpirun -np N check_regions [die]
 *
 *   "input"        3 Bcasts
 *   "solve"        4 times: 5 Allreduces, then "halo" in it: 2 Barriers and 30 ms of computing
 *   "phase"        by MPI_Pcontrol: 7 Barriers
 *   "open"         is not ended: 1 Barrier
 *
 * die: rank 0 kills itself in "open", after a second of computing, and once the recorder has looked
 * at it since.
 */
#include <mpi.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../regions/poweraware.h"

enum { INPUTS = 3, STEPS = 4, SUMS = 5, HALOS = 2, PHASES = 7, TOO_DEEP = 40 };
enum { STEP_NS = 30000000, DYING_NS = 1000000000 };

static int rank;

static void compute(long long ns)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    long long end = now.tv_sec * 1000000000LL + now.tv_nsec + ns;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000000000LL + now.tv_nsec < end);
}

static void barriers(int num)
{
    for (int i = 0; i < num; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void input(void)
{
    poweraware_region_begin("input");
    for (int i = 0; i < INPUTS; ++i) {
        int value = i;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    poweraware_region_end("input");
}

static void solve(void)
{
    double mine = 1, sum;
    poweraware_region_begin("solve");
    for (int step = 0; step < STEPS; ++step) {
        for (int i = 0; i < SUMS; ++i) {
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        poweraware_region_begin("halo");
        barriers(HALOS);
        compute(STEP_NS);
        poweraware_region_end("halo");
    }
    poweraware_region_end("solve");
}

/* What follows the level is a name in two of these calls. */
static void phase(void)
{
    MPI_Pcontrol(1, "phase");
    MPI_Pcontrol(0);
    MPI_Pcontrol(2, "no region");
    MPI_Pcontrol(1, (char *)8);
    MPI_Pcontrol(-1, NULL);
    barriers(PHASES);
    MPI_Pcontrol(-1, "phase");
}

static void wrong(void)
{
    poweraware_region_end("never begun");
    poweraware_region_begin(NULL);
    poweraware_region_begin("");
    for (int i = 0; i < TOO_DEEP; ++i) {
        poweraware_region_begin("deep");
    }
    poweraware_region_begin("inside");
    poweraware_region_end("deep");
    for (int i = 0; i < TOO_DEEP; ++i) {
        poweraware_region_end("deep");
    }
}

/* The recorder tells the node's energy whenever it has looked at the processes. */
static MPI_T_pvar_handle watch_energy(MPI_T_pvar_session *session)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int level, index, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    if (MPI_SUCCESS != MPI_T_pvar_session_create(session) ||
        MPI_SUCCESS !=
            MPI_T_pvar_get_index("coll_poweraware_node_energy", MPI_T_PVAR_CLASS_COUNTER, &index) ||
        MPI_SUCCESS != MPI_T_pvar_handle_alloc(*session, index, NULL, &handle, &count)) {
        printf("check_regions: the node's energy has no variable\n");
    }
    return handle;
}

/* Twice: the first time it may have looked before. */
static void wait_for_looks(int looks)
{
    enum { MOMENT_NS = 1000000, MOST_MOMENTS = 60000 };
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle = watch_energy(&session);
    unsigned long long before = 0, now = 0;
    for (int i = 0; MPI_T_PVAR_HANDLE_NULL != handle && looks > 0 && i < MOST_MOMENTS; ++i) {
        compute(MOMENT_NS);
        MPI_T_pvar_read(session, handle, &now);
        looks -= now != before;
        before = now;
    }
}

int main(int argc, char **argv)
{
    poweraware_region_begin("before MPI_Init");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    input();
    solve();
    phase();
    if (argc == 1) {
        wrong();
    }
    poweraware_region_begin("open");
    barriers(1);
    if (argc > 1 && rank == 0) {
        compute(DYING_NS);
        wait_for_looks(2);
        raise(SIGKILL);
    }
    MPI_Finalize();
    poweraware_region_end("open");
    if (rank == 0) {
        printf("check_regions: done\n");
    }
    return 0;
}
