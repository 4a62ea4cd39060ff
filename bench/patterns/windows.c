/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The patterns' transport by MPI: a window for data in one MPI_Win_lock_all epoch, messages for words.
 */
#include "config.h"

#include "transport.h"

#include <stdio.h>
#include <string.h>

#include <mpi.h>

const char *const pwr_transport_library = "MPI windows";

static int other;
static char *base;
static MPI_Win window;

/* Why Open MPI makes no window; without our handler it would end the job and say only that it failed. */
static bool allocate(size_t bytes)
{
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int status = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&base,
                                  &window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (status == MPI_SUCCESS) {
        return true;
    }
    MPI_Error_string(status, reason, &length);
    fprintf(stderr, "patterns: MPI_Win_allocate of %zu bytes: %s\n", bytes, reason);
    return false;
}

char *pwr_transport_open(size_t bytes, int *process, int *processes)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, process);
    MPI_Comm_size(MPI_COMM_WORLD, processes);
    other = 1 - *process;
    if (!allocate(bytes)) {
        return NULL;
    }
    memset(base, 0, bytes);
    MPI_Win_lock_all(0, window);
    return base;
}

void pwr_transport_close(void)
{
    if (base != NULL) {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    MPI_Finalize();
}

void pwr_transport_put(char *dest, const char *source, size_t bytes)
{
    MPI_Put(source, (int)bytes, MPI_BYTE, other, dest - base, (int)bytes, MPI_BYTE, window);
}

void pwr_transport_get(char *dest, const char *source, size_t bytes)
{
    MPI_Get(dest, (int)bytes, MPI_BYTE, other, source - base, (int)bytes, MPI_BYTE, window);
}

void pwr_transport_quiet(void)
{
    MPI_Win_flush(other, window);
}

bool pwr_transport_putv(const pwr_pieces_t *pieces, bool *is_learnt, const char **way)
{
    (void)pieces;
    (void)is_learnt;
    (void)way;
    return false;
}

void pwr_transport_tell(int word)
{
    MPI_Send(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

int pwr_transport_hear(void)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_sync(window);
    return word;
}

void pwr_transport_meet(void)
{
    MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
}
