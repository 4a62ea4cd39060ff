/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An MPI program that shows what a cluster is: who shares memory with whom, and that all can talk.
 *
 * 1. A megabyte goes round the ring of ranks, each adding 1 to every word.
 * 2. MPI_Alltoall has every rank talk to every other.
 * 3. Rank 0 writes one line: "ranks R; HOST:RANKS ... in rank order of the nodes' first ranks".
 *
 * Exit status 1 when anything that arrives is not what was sent.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define RING_WORDS (1 << 17) /* of 8 bytes: 1 MiB */

struct node_report {
    int ranks; /* on the node, from its first rank; 0 from the others */
    char host[MPI_MAX_PROCESSOR_NAME];
};

static int rank;
static int size;

static void add_one(long long *words)
{
    for (int i = 0; i < RING_WORDS; i++) {
        words[i]++;
    }
}

/* Every rank sends what it received plus 1; the words come back to rank 0 as the number of ranks.
 */
static bool pass_round_ring(void)
{
    long long *words = calloc(RING_WORDS, sizeof *words);
    if (words == NULL) {
        return false;
    }
    int next = (rank + 1) % size;
    int previous = (rank + size - 1) % size;
    if (rank == 0) {
        add_one(words);
        MPI_Request request;
        MPI_Isend(words, RING_WORDS, MPI_LONG_LONG, next, 0, MPI_COMM_WORLD, &request);
        long long *back = malloc(RING_WORDS * sizeof *back);
        if (back == NULL) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Recv(back, RING_WORDS, MPI_LONG_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(words);
        words = back;
    } else {
        MPI_Recv(words, RING_WORDS, MPI_LONG_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        add_one(words);
        MPI_Send(words, RING_WORDS, MPI_LONG_LONG, next, 0, MPI_COMM_WORLD);
    }
    bool right = true;
    for (int i = 0; i < RING_WORDS; i++) {
        right = right && words[i] == (rank == 0 ? size : rank + 1);
    }
    free(words);
    return right;
}

static bool talk_to_all(void)
{
    int *out = malloc((size_t)size * sizeof *out);
    int *in = malloc((size_t)size * sizeof *in);
    bool right = out != NULL && in != NULL;
    if (!right) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < size; i++) {
        out[i] = rank * size + i;
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        right = right && in[i] == i * size + rank;
    }
    free(out);
    free(in);
    return right;
}

static void report_nodes(void)
{
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    int node_rank;
    struct node_report mine = {0};
    int length;
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &mine.ranks);
    MPI_Get_processor_name(mine.host, &length);
    if (node_rank != 0) {
        mine.ranks = 0;
    }
    struct node_report *all = calloc((size_t)size, sizeof *all);
    if (all == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ranks %d;", size);
        for (int i = 0; i < size; i++) {
            if (all[i].ranks > 0) {
                printf(" %s:%d", all[i].host, all[i].ranks);
            }
        }
        printf("\n");
    }
    free(all);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool right = pass_round_ring();
    right = talk_to_all() && right;
    if (!right) {
        fprintf(stderr, "rank %d received something else than was sent\n", rank);
    }
    report_nodes();
    MPI_Finalize();
    return right ? 0 : 1;
}
