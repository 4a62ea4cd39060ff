/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ways for a job to end, for whoever looks into its document.
 *
 *   mpirun -np N check_job [WAY]
 *
 *   50 Allreduces of 8 bytes, and then
 *   (nothing)   the usual end
 *   clocks      tells when it was before and behind MPI_Init, and before and behind MPI_Finalize
 *   late        rank 1 computes for half a second more than the others
 *   self        an attribute of MPI_COMM_SELF that calls Allreduce once more when it is deleted
 *   names       a communicator whose name is no text, and 300 others
 *   sleep       calls for a minute
 *   wait        rank 0 calls what the others wait in ten minutes later
 *   kill        1.2 s later the last rank is killed
 *   abort       rank 0 calls MPI_Abort after 1.2 s
 *   exit        the last rank ends without MPI_Finalize after 1.2 s
 */
#include <mpi.h>

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ALLREDUCES = 50, COMMUNICATORS = 300 };

static int rank, size;

static void call(MPI_Comm comm, int times)
{
    double mine = 1, sum;
    for (int i = 0; i < times; ++i) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
}

/* As documents tell it. */
static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* CPU time: a machine that takes the CPU away adds nothing to it. */
static void compute_ms(int ms)
{
    struct timespec used;
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    clock_gettime(clock, &used);
    int64_t end_ns = used.tv_sec * INT64_C(1000000000) + used.tv_nsec + ms * INT64_C(1000000);
    while (used.tv_sec * INT64_C(1000000000) + used.tv_nsec < end_ns) {
        clock_gettime(clock, &used);
    }
}

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    call(MPI_COMM_WORLD, 1);
    return MPI_SUCCESS;
}

static void hang_onto_self(void)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void name_communicators(void)
{
    for (int i = 0; i <= COMMUNICATORS; ++i) {
        MPI_Comm copy;
        char name[64];
        snprintf(name, sizeof name, 0 == i ? "\xff\"\\\n\xc3" : "number %d", i);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_name(copy, name);
        call(copy, 1);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    int64_t before_init = now_ns();
    MPI_Init(&argc, &argv);
    int64_t after_init = now_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    call(MPI_COMM_WORLD, ALLREDUCES);
    if (0 == strcmp(way, "late") && 1 == rank) {
        compute_ms(500);
    } else if (0 == strcmp(way, "self")) {
        hang_onto_self();
    } else if (0 == strcmp(way, "names")) {
        name_communicators();
    } else if (0 == strcmp(way, "sleep")) {
        for (int i = 0; i < 600; ++i) {
            call(MPI_COMM_WORLD, 1);
            usleep(100000);
        }
    } else if (0 == strcmp(way, "wait")) {
        sleep(0 == rank ? 600 : 0);
        call(MPI_COMM_WORLD, 1);
    } else if (0 == strcmp(way, "kill") || 0 == strcmp(way, "abort") || 0 == strcmp(way, "exit")) {
        sleep(1);
        compute_ms(200);
        if ('k' == way[0] && rank == size - 1) {
            raise(SIGKILL);
        }
        if ('a' == way[0] && 0 == rank) {
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        if ('e' == way[0] && rank == size - 1) {
            _exit(4);
        }
        call(MPI_COMM_WORLD, ALLREDUCES);
    }
    int64_t before_finalize = now_ns();
    MPI_Finalize();
    if (0 == strcmp(way, "clocks")) {
        printf("clocks %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", before_init, after_init,
               before_finalize, now_ns());
    }
    printf("check_job: rank %d done\n", rank);
    return 0;
}
