/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Communicators that end while ranks wait in a collective (ULFM).
 *
 *   mpirun --with-ft ulfm -np N check_ended revoke|kill COLLECTIVE
 *
 * All ranks but the last call a collective that needs the last one.  That one sleeps, then revokes
 * the communicator, or is killed.  Then:
 * 1. everybody's call returns, with MPIX_ERR_REVOKED or MPIX_ERR_PROC_FAILED;
 * 2. so does every further call on the communicator;
 * 3. collectives of the survivors on what MPIX_Comm_shrink makes of it are right;
 * 4. it can be freed.
 * Exits with 77 where Open MPI has no ULFM.
 */
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef MPIX_ERR_REVOKED

enum { HANG_S = 1500, COUNT = 20000 };

static int rank;
static int size;
static int wrong;
static int s[COUNT];
static int r[COUNT];

static void hung(int signal)
{
    (void)signal;
    static const char text[] = "check_ended: a rank hangs\n";
    _exit(write(2, text, sizeof text - 1) < 0 ? 3 : 2);
}

/* The last rank takes part in it too late, or never. */
static int call(const char *collective, MPI_Comm comm, int root)
{
    for (int i = 0; i < COUNT; ++i) {
        s[i] = rank + i;
        r[i] = -1;
    }
    if (0 == strcmp(collective, "bcast")) {
        return MPI_Bcast(r, COUNT, MPI_INT, root, comm);
    }
    if (0 == strcmp(collective, "reduce")) {
        return MPI_Reduce(s, r, COUNT, MPI_INT, MPI_SUM, root, comm);
    }
    if (0 == strcmp(collective, "allreduce")) {
        return MPI_Allreduce(s, r, COUNT, MPI_INT, MPI_SUM, comm);
    }
    if (0 == strcmp(collective, "barrier")) {
        return MPI_Barrier(comm);
    }
    return MPI_Alltoall(s, 1, MPI_INT, r, 1, MPI_INT, comm);
}

static void expect_ended(int rc, const char *what)
{
    int class = MPI_SUCCESS;
    if (MPI_SUCCESS != rc) {
        MPI_Error_class(rc, &class);
    }
    if (MPIX_ERR_REVOKED != class && MPIX_ERR_PROC_FAILED != class) {
        fprintf(stderr, "check_ended: rank %d: %s returns class %d\n", rank, what, class);
        ++wrong;
    }
}

static void survive(MPI_Comm comm)
{
    MPI_Comm left = MPI_COMM_NULL;
    int survivors = 0;
    int one = 1;
    int sum = 0;
    if (MPI_SUCCESS != MPIX_Comm_shrink(comm, &left)) {
        fprintf(stderr, "check_ended: rank %d: MPIX_Comm_shrink\n", rank);
        ++wrong;
        return;
    }
    MPI_Comm_size(left, &survivors);
    for (int i = 0; i < 5; ++i) {
        sum = 0;
        int rc = call("bcast", left, 0);
        rc = MPI_SUCCESS == rc ? MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left) : rc;
        if (MPI_SUCCESS != rc || sum != survivors) {
            fprintf(stderr, "check_ended: rank %d: %d of %d survivors\n", rank, sum, survivors);
            ++wrong;
        }
    }
    MPI_Comm_free(&left);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    const char *collective = argc > 2 ? argv[2] : "bcast";
    bool kills = 0 == strcmp(way, "kill");
    MPI_Comm comm;
    if (!kills && 0 != strcmp(way, "revoke")) {
        fprintf(stderr, "usage: check_ended revoke|kill COLLECTIVE\n");
        return 1;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 3; ++i) {
        if (MPI_SUCCESS != call(collective, comm, size - 1)) {
            fprintf(stderr, "check_ended: rank %d: a call before the end fails\n", rank);
            ++wrong;
        }
    }
    signal(SIGALRM, hung);
    alarm(HANG_S);
    if (rank < size - 1) {
        expect_ended(call(collective, comm, size - 1), "the call"); /* 1 */
        MPIX_Comm_revoke(comm); /* after a failure somebody may not know of it yet */
    } else {
        sleep(1);
        if (kills) {
            raise(SIGKILL);
        }
        MPIX_Comm_revoke(comm);
    }
    expect_ended(call(collective, comm, size - 1), "a further call"); /* 2 */
    survive(comm);                                                    /* 3 */
    MPI_Comm_free(&comm);                                             /* 4 */
    alarm(0);
    printf("check_ended: rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return 0 != wrong;
}

#else

int main(void)
{
    puts("check_ended: no ULFM in this Open MPI");
    return 77;
}

#endif
