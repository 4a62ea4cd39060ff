/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages of more than 2^31 bytes: Bcast and Allreduce, every number compared.
 *
 *   mpirun -np 2 check_large_counts          (two buffers of 2 GiB and what the library needs)
 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* 2^31 + 8 bytes: one number more than an int can count in bytes. */
enum { COUNT = (1 << 28) + 1 };

static uint64_t value(uint64_t from, uint64_t index)
{
    return (index ^ from << 56) * 0x9E3779B97F4A7C15u;
}

static long check_bcast(uint64_t *numbers, int rank, int root)
{
    long wrong = 0;
    for (uint64_t i = 0; i < COUNT; ++i) {
        numbers[i] = rank == root ? value(1, i) : 0;
    }
    MPI_Bcast(numbers, COUNT, MPI_UINT64_T, root, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < COUNT; ++i) {
        wrong += numbers[i] != value(1, i);
    }
    return wrong;
}

static long check_allreduce(uint64_t *numbers, int rank, int size)
{
    long wrong = 0;
    for (uint64_t i = 0; i < COUNT; ++i) {
        numbers[i] = value((uint64_t)rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, numbers, COUNT, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < COUNT; ++i) {
        uint64_t sum = 0;
        for (int from = 0; from < size; ++from) {
            sum += value((uint64_t)from, i);
        }
        wrong += numbers[i] != sum;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t *numbers = malloc(COUNT * sizeof *numbers);
    if (NULL == numbers) {
        fprintf(stderr, "check_large_counts: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return 3;
    }
    long wrong = check_bcast(numbers, rank, size - 1);
    if (wrong > 0) {
        fprintf(stderr, "check_large_counts: rank %d: %ld wrong numbers after bcast\n", rank,
                wrong);
    }
    long wrong_sums = check_allreduce(numbers, rank, size);
    if (wrong_sums > 0) {
        fprintf(stderr, "check_large_counts: rank %d: %ld wrong sums\n", rank, wrong_sums);
    }
    free(numbers);
    long mine = wrong + wrong_sums;
    long all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_large_counts: %ld wrong results\n", all);
    }
    MPI_Finalize();
    return mine > 0 ? 1 : 0;
}
