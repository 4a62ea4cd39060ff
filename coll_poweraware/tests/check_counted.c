/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every collective that the component only counts, called once: results, and the names for whoever
 * looks into the report.
 *
 *   mpirun -np N check_counted      N >= 3; prints "called NAME" for each, then the verdict
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if OMPI_MAJOR_VERSION >= 5
#define PERSISTENT(name) MPI_##name
#else
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name
#endif

enum { N = 5, MOST_RANKS = 64, ROOT = 1 };

static int rank;
static int size;
static int wrong;
static MPI_Comm comm;
static int s[MOST_RANKS * N];
static int r[MOST_RANKS * N];
static int counts[MOST_RANKS];
static int displs[MOST_RANKS];
static int byte_displs[MOST_RANKS];
static MPI_Aint addresses[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];

/* Element i of block b of what a rank sends. */
static int element(int from, int b, int i)
{
    return from * 10007 + b * 101 + i;
}

static int sum(int first, int last, int b, int i)
{
    int total = 0;
    for (int from = first; from <= last; ++from) {
        total += element(from, b, i);
    }
    return total;
}

/* What block b of r is after each collective; -1: untouched. */
typedef int expected_t(int b, int i);

static int nothing(int b, int i)
{
    (void)b;
    (void)i;
    return -1;
}
static int first_of_each(int b, int i)
{
    return element(b, 0, i);
}
static int mine_of_each(int b, int i)
{
    return element(b, rank, i);
}
static int first_of_each_at_root(int b, int i)
{
    return ROOT == rank ? element(b, 0, i) : -1;
}
static int sum_of_all(int b, int i)
{
    return 0 == b ? sum(0, size - 1, 0, i) : -1;
}
static int sum_at_root(int b, int i)
{
    return ROOT == rank ? sum_of_all(b, i) : -1;
}
static int sum_for_me(int b, int i)
{
    return 0 == b ? sum(0, size - 1, rank, i) : -1;
}
static int sum_up_to_me(int b, int i)
{
    return 0 == b ? sum(0, rank, 0, i) : -1;
}
static int sum_below_me(int b, int i)
{
    return 0 == b && rank > 0 ? sum(0, rank - 1, 0, i) : -1;
}
static int root_for_me(int b, int i)
{
    return 0 == b ? element(ROOT, rank, i) : -1;
}
/* On a ring: block 0 comes from the left, block 1 from the right. */
static int first_of_neighbors(int b, int i)
{
    return b < 2 ? element((rank + (0 == b ? size - 1 : 1)) % size, 0, i) : -1;
}
static int mine_of_neighbors(int b, int i)
{
    return b < 2 ? element((rank + (0 == b ? size - 1 : 1)) % size, 1 - b, i) : -1;
}
/* Bcast sends block 0 of r. */
static int bcast(int b, int i)
{
    return 0 == b ? element(ROOT, 0, i) : -1;
}

static void begin(void)
{
    for (int b = 0; b < size; ++b) {
        counts[b] = N;
        displs[b] = b * N;
        byte_displs[b] = b * N * (int)sizeof(int);
        addresses[b] = byte_displs[b];
        types[b] = MPI_INT;
        for (int i = 0; i < N; ++i) {
            s[b * N + i] = element(rank, b, i);
            r[b * N + i] = -1;
        }
    }
}

static void end(const char *name, expected_t *expected)
{
    for (int b = 0; b < size; ++b) {
        for (int i = 0; i < N; ++i) {
            if (r[b * N + i] != expected(b, i)) {
                fprintf(stderr,
                        "check_counted: rank %d: %s: element %d of block %d is %d, not %d\n", rank,
                        name, i, b, r[b * N + i], expected(b, i));
                ++wrong;
                return;
            }
        }
    }
    if (0 == rank) {
        printf("called %s\n", name);
    }
}

#define ARGS_allgather s, N, MPI_INT, r, N, MPI_INT,
#define ARGS_allgatherv s, N, MPI_INT, r, counts, displs, MPI_INT,
#define ARGS_allreduce s, r, N, MPI_INT, MPI_SUM,
#define ARGS_alltoall s, N, MPI_INT, r, N, MPI_INT,
#define ARGS_alltoallv s, counts, displs, MPI_INT, r, counts, displs, MPI_INT,
#define ARGS_alltoallw s, counts, byte_displs, types, r, counts, byte_displs, types,
#define ARGS_barrier
#define ARGS_bcast ROOT == rank ? memcpy(r, s, N * sizeof(int)) : r, N, MPI_INT, ROOT,
#define ARGS_exscan s, r, N, MPI_INT, MPI_SUM,
#define ARGS_gather s, N, MPI_INT, r, N, MPI_INT, ROOT,
#define ARGS_gatherv s, N, MPI_INT, r, counts, displs, MPI_INT, ROOT,
#define ARGS_reduce s, r, N, MPI_INT, MPI_SUM, ROOT,
#define ARGS_reduce_scatter s, r, counts, MPI_INT, MPI_SUM,
#define ARGS_reduce_scatter_block s, r, N, MPI_INT, MPI_SUM,
#define ARGS_scan s, r, N, MPI_INT, MPI_SUM,
#define ARGS_scatter s, N, MPI_INT, r, N, MPI_INT, ROOT,
#define ARGS_scatterv s, counts, displs, MPI_INT, r, N, MPI_INT, ROOT,
#define ARGS_neighbor_alltoallw s, counts, addresses, types, r, counts, addresses, types,

#define FAMILIES(X)                                                                                \
    X(allgather, Allgather, first_of_each)                                                         \
    X(allgatherv, Allgatherv, first_of_each)                                                       \
    X(allreduce, Allreduce, sum_of_all)                                                            \
    X(alltoall, Alltoall, mine_of_each)                                                            \
    X(alltoallv, Alltoallv, mine_of_each)                                                          \
    X(alltoallw, Alltoallw, mine_of_each)                                                          \
    X(barrier, Barrier, nothing)                                                                   \
    X(bcast, Bcast, bcast)                                                                         \
    X(exscan, Exscan, sum_below_me)                                                                \
    X(gather, Gather, first_of_each_at_root)                                                       \
    X(gatherv, Gatherv, first_of_each_at_root)                                                     \
    X(reduce, Reduce, sum_at_root)                                                                 \
    X(reduce_scatter, Reduce_scatter, sum_for_me)                                                  \
    X(reduce_scatter_block, Reduce_scatter_block, sum_for_me)                                      \
    X(scan, Scan, sum_up_to_me)                                                                    \
    X(scatter, Scatter, root_for_me)                                                               \
    X(scatterv, Scatterv, root_for_me)

#define NEIGHBORS(X)                                                                               \
    X(allgather, ARGS_allgather, first_of_neighbors)                                               \
    X(allgatherv, ARGS_allgatherv, first_of_neighbors)                                             \
    X(alltoall, ARGS_alltoall, mine_of_neighbors)                                                  \
    X(alltoallv, ARGS_alltoallv, mine_of_neighbors)                                                \
    X(alltoallw, ARGS_neighbor_alltoallw, mine_of_neighbors)

static void check_blocking(void)
{
    begin();
    MPI_Gatherv(ARGS_gatherv comm);
    end("gatherv", first_of_each_at_root);
    begin();
    MPI_Scatterv(ARGS_scatterv comm);
    end("scatterv", root_for_me);
#define CHECK(name, args, expected)                                                                \
    begin();                                                                                       \
    MPI_Neighbor_##name(args comm);                                                                \
    end("neighbor_" #name, expected);
    NEIGHBORS(CHECK)
#undef CHECK
}

static void check_nonblocking(void)
{
    MPI_Request request;
#define CHECK(name, Name, expected)                                                                \
    begin();                                                                                       \
    MPI_I##name(ARGS_##name comm, &request);                                                       \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                                         \
    end("i" #name, expected);
    FAMILIES(CHECK)
#undef CHECK
#define CHECK(name, args, expected)                                                                \
    begin();                                                                                       \
    MPI_Ineighbor_##name(args comm, &request);                                                     \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                                         \
    end("ineighbor_" #name, expected);
    NEIGHBORS(CHECK)
#undef CHECK
}

/* Started twice, counted once. */
static void use(MPI_Request *request, const char *name, expected_t *expected)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    end(name, expected);
}

static void check_persistent(void)
{
    MPI_Request request;
#define CHECK(name, Name, expected)                                                                \
    begin();                                                                                       \
    PERSISTENT(Name##_init)(ARGS_##name comm, MPI_INFO_NULL, &request);                            \
    use(&request, #name "_init", expected);
    FAMILIES(CHECK)
#undef CHECK
#define CHECK(name, args, expected)                                                                \
    begin();                                                                                       \
    PERSISTENT(Neighbor_##name##_init)(args comm, MPI_INFO_NULL, &request);                        \
    use(&request, "neighbor_" #name "_init", expected);
    NEIGHBORS(CHECK)
#undef CHECK
}

int main(int argc, char **argv)
{
    const int ring = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 3 || size > MOST_RANKS) {
        fprintf(stderr, "check_counted: 3 to %d ranks, please\n", MOST_RANKS);
        return 1;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    check_blocking();
    check_nonblocking();
    check_persistent();
    int all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, comm);
    if (0 == rank) {
        printf("check_counted: %d wrong results\n", all_wrong);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0 != wrong;
}
