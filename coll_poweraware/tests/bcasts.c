/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For test_selection.py: MPI_Bcast of some sizes on one communicator, checked.
 *
 *   bcasts WORD BYTES...    WORD: the communicator's coll_poweraware_algorithm; "-": none
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm open_communicator(const char *word)
{
    MPI_Comm comm;
    MPI_Info info;
    if (strcmp(word, "-") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        return comm;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_poweraware_algorithm", word);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* Returns the number of wrong bytes. */
static int bcast(MPI_Comm comm, int root, int bytes)
{
    int rank;
    int wrong = 0;
    MPI_Comm_rank(comm, &rank);
    unsigned char *message = malloc((size_t)bytes + 1);
    if (!message) {
        MPI_Abort(comm, 99);
        return bytes;
    }
    for (int i = 0; i < bytes; i++) {
        message[i] = rank == root ? (unsigned char)(i * 7 + bytes) : 0xee;
    }
    MPI_Bcast(message, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; i++) {
        wrong += message[i] != (unsigned char)(i * 7 + bytes);
    }
    free(message);
    return wrong;
}

int main(int argc, char **argv)
{
    int size;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm comm = open_communicator(argc > 1 ? argv[1] : "-");
    MPI_Comm_size(comm, &size);
    for (int i = 2; i < argc; i++) {
        wrong += bcast(comm, i % size, atoi(argv[i]));
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (wrong > 0) {
        fprintf(stderr, "bcasts: %d wrong bytes\n", wrong);
    }
    return wrong > 0;
}
