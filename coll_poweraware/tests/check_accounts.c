/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Known calls on named communicators, for whoever looks into the report.
 *
 *   mpirun -np N check_accounts [threads]     N even, >= 2
 *
 *   MPI_COMM_WORLD   200 Allreduces of 8 bytes; 20 Bcasts of 4096 bytes, the root late to the last
 *                    four, until all others have slept for most of 20 ms (watched.h); 5 Scans
 *   "pair" (N / 2 of them, 2 ranks each)   30 Barriers, 10 Alltoalls of 2 x 64 bytes
 *   "copy", made anew ten times            1 Barrier each
 *
 * threads: a second thread makes the calls of the pairs, meanwhile.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "watched.h"

enum { ALLREDUCES = 200, BCASTS = 20, LATE = 4, SCANS = 5, BARRIERS = 30, ALLTOALLS = 10 };
enum { COPIES = 10, BCAST_BYTES = 4096, BLOCK = 64 };

static int rank;

static void on_world(void)
{
    static char buffer[BCAST_BYTES];
    double mine = 1, sum;
    int one = 1, ranks;
    for (int i = 0; i < ALLREDUCES; ++i) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < BCASTS; ++i) {
        bool late = i >= BCASTS - LATE;
        if (late && 0 == rank && watched_leads()) {
            watched_find(watched_usual);
            watched_come();
        } else if (late) {
            watched_begin();
        }
        MPI_Bcast(buffer, BCAST_BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (late && 0 != rank) {
            watched_end();
        }
    }
    for (int i = 0; i < SCANS; ++i) {
        MPI_Scan(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void *on_pair(void *arg)
{
    MPI_Comm pair = *(MPI_Comm *)arg;
    char in[2 * BLOCK] = "", out[2 * BLOCK];
    for (int i = 0; i < BARRIERS; ++i) {
        MPI_Barrier(pair);
    }
    for (int i = 0; i < ALLTOALLS; ++i) {
        MPI_Alltoall(in, BLOCK, MPI_BYTE, out, BLOCK, MPI_BYTE, pair);
    }
    return NULL;
}

static void on_copies(void)
{
    for (int i = 0; i < COPIES; ++i) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_set_name(copy, "copy");
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char **argv)
{
    bool threads = argc > 1 && 0 == strcmp("threads", argv[1]);
    int provided;
    pthread_t thread;
    MPI_Comm pair;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    watched_open(0 == rank, 1);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_set_name(pair, "pair");
    if (threads) {
        pthread_create(&thread, NULL, on_pair, &pair);
    }
    on_world();
    if (threads) {
        pthread_join(thread, NULL);
    } else {
        on_pair(&pair);
    }
    MPI_Comm_free(&pair);
    on_copies();
    MPI_Finalize();
    printf("check_accounts: rank %d done\n", rank);
    return 0;
}
