/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random rows of reductions in a stream, against an answer that each rank works out for itself.
 *
 * In a row each call takes the result of the one before it, in turn in place and from one buffer to
 * the other; nobody waits but at its end.  Ranks are late now and then.  What all ranks draw alike
 * comes from the seed, elements from rank and index, so everybody knows everybody's.
 */
#include "poweraware_mpix.h"

#include <getopt.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "tests/program.h"

enum { MOST_ROW = 6, MOST_COUNT = 40000, MOST_RANKS = 64, SHIFTS = 4, GUARD = 64 };

static int rank, size;
static MPI_Comm stream_comm;
static void *stream;
static pwr_gpu_address_t buffer[2];
static unsigned char host[2][(MOST_COUNT + SHIFTS) * 8 + GUARD];
static uint64_t state;

static uint64_t hash(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static unsigned draw(unsigned below)
{
    state = hash(state);
    return (unsigned)(state % below);
}

/* ---- elements ---- */

#define OPERATE(T)                                                                                 \
    static T operate_##T(T a, T b, MPI_Op op)                                                      \
    {                                                                                              \
        return MPI_SUM == op    ? a + b                                                            \
               : MPI_PROD == op ? a * b                                                            \
               : MPI_MIN == op  ? (b < a ? b : a)                                                  \
                                : (b > a ? b : a);                                                  \
    }                                                                                              \
    static void expect_##T(void *to, size_t at, uint64_t row, MPI_Op *ops, int num)                \
    {                                                                                              \
        T result = 0;                                                                              \
        for (int j = 0; j < num; ++j) {                                                            \
            T before = result;                                                                     \
            for (int r = 0; r < size; ++r) {                                                       \
                T its = 0 == j ? (T)(hash(row * 131 + (uint64_t)r * 7919 + at) % 5) : before;      \
                result = 0 == r ? its : operate_##T(result, its, ops[j]);                          \
            }                                                                                      \
        }                                                                                          \
        ((T *)to)[at] = result;                                                                    \
    }                                                                                              \
    static void fill_##T(void *to, size_t at, uint64_t row)                                        \
    {                                                                                              \
        ((T *)to)[at] = (T)(hash(row * 131 + (uint64_t)rank * 7919 + at) % 5);                     \
    }
OPERATE(uint32_t)
OPERATE(uint64_t)
OPERATE(float)
OPERATE(double)

static const struct {
    MPI_Datatype *mpi;
    size_t bytes;
    void (*expect)(void *, size_t, uint64_t, MPI_Op *, int);
    void (*fill)(void *, size_t, uint64_t);
} types[] = {
    {(MPI_Datatype[]){MPI_UINT32_T}, 4, expect_uint32_t, fill_uint32_t},
    {(MPI_Datatype[]){MPI_UINT64_T}, 8, expect_uint64_t, fill_uint64_t},
    {(MPI_Datatype[]){MPI_FLOAT}, 4, expect_float, fill_float},
    {(MPI_Datatype[]){MPI_DOUBLE}, 8, expect_double, fill_double},
};

/* ---- rows ---- */

static void be_late(void)
{
    uint64_t chance = hash(state ^ (uint64_t)rank << 32);
    if (0 == chance % 8) {
        usleep((useconds_t)(chance / 8 % 3000));
    }
}

/* Returns whether the result is right. */
static bool row(uint64_t number)
{
    const MPI_Op all_ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    MPI_Op ops[MOST_ROW];
    unsigned type = draw(4);
    size_t count = 0 == draw(4) ? draw(MOST_COUNT) : 1 + draw(300);
    size_t shift = draw(SHIFTS), bytes = types[type].bytes, all = sizeof host[0];
    int num = 1 + (int)draw(MOST_ROW), at = 0, root = 0 == draw(4) ? (int)draw((unsigned)size) : -1;
    memset(host, 0xA5, sizeof host);
    for (size_t i = 0; i < count; ++i) {
        types[type].fill(host[0] + shift * bytes, i, number);
    }
    MUST(to_device(buffer[0], host[0], all));
    MUST(to_device(buffer[1], host[1], all));
    MUST(wait_stream(NULL)); /* a copy may return before it is there */
    for (int j = 0; j < num; ++j) {
        bool in_place = 0 == draw(2), is_last = j == num - 1;
        /* products of many ranks leave what a float holds */
        ops[j] = all_ops[draw(j > 0 || size > 4 ? 1 : 4)];
        ops[j] = 0 == j || size <= 4 ? ops[j] : all_ops[2 + draw(2)];
        void *from = (void *)(uintptr_t)(buffer[at] + shift * bytes);
        at = in_place ? at : 1 - at;
        void *to = (void *)(uintptr_t)(buffer[at] + shift * bytes);
        be_late();
        if (is_last && root >= 0) {
            MPIX_Reduce_enqueue(in_place && rank == root ? MPI_IN_PLACE : from,
                                rank == root ? to : NULL, (int)count, *types[type].mpi, ops[j],
                                root, stream_comm);
        } else {
            MPIX_Allreduce_enqueue(in_place ? MPI_IN_PLACE : from, to, (int)count, *types[type].mpi,
                                   ops[j], stream_comm);
        }
    }
    if (MPI_SUCCESS != poweraware_stream_comm_wait(stream_comm)) {
        return false;
    }
    if (0 == count || (root >= 0 && rank != root)) {
        return true;
    }
    MUST(to_host(host[0], buffer[at], all));
    memset(host[1], 0xA5, all);
    for (size_t i = 0; i < count; ++i) {
        types[type].expect(host[1] + shift * bytes, i, number, ops, num);
    }
    return 0 == memcmp(host[0], host[1], all);
}

static int make_comm(MPI_Comm comm)
{
    MPI_Info info;
    MPIX_Stream mpix_stream;
    MPI_Info_create(&info);
    MPI_Info_set(info, "type", "cudaStream_t");
    MPIX_Info_set_hex(info, "value", &stream, sizeof stream);
    if (MPI_SUCCESS != MPIX_Stream_create(info, &mpix_stream)) {
        fprintf(stderr, "MPIX_Stream_create fails\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Info_free(&info);
    int rc = MPIX_Stream_comm_create(comm, mpix_stream, &stream_comm);
    MPIX_Stream_free(&mpix_stream);
    return rc;
}

/* Where nothing has loaded CUDA's driver there are no streams. */
static int without_driver(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    uint64_t wrong = MPI_ERR_OTHER != make_comm(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_enqueue: no driver, %llu wrong results\n", (unsigned long long)wrong);
    }
    MPI_Finalize();
    return 0 == wrong ? 0 : 1;
}

/* Memory that other processes can open, or not. */
static void allocate(bool from_pool)
{
    int (*from)(pwr_gpu_address_t *, size_t, void *) = NULL;
    if (from_pool) {
        driver_function("cuMemAllocAsync", &from);
    }
    for (int i = 0; i < 2; ++i) {
        if (from_pool) {
            must(from(&buffer[i], sizeof host[i], stream), "cuMemAllocAsync");
        } else {
            MUST(allocate(&buffer[i], sizeof host[i]));
        }
    }
    MUST(wait_stream(stream));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rows", required_argument, NULL, 'r'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"pool", no_argument, NULL, 'p'},
                                            {"no-driver", no_argument, NULL, 'n'},
                                            {NULL, 0, NULL, 0}};
    uint64_t rows = 100, seed = 1, wrong = 0;
    bool from_pool = false, no_driver = false;
    int option;
    MPI_Init(&argc, &argv);
    while (-1 != (option = getopt_long(argc, argv, "", options, NULL))) {
        if ('?' == option) {
            return 2;
        }
        rows = 'r' == option ? strtoull(optarg, NULL, 10) : rows;
        seed = 's' == option ? strtoull(optarg, NULL, 10) : seed;
        from_pool |= 'p' == option;
        no_driver |= 'n' == option;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (no_driver) {
        return without_driver();
    }
    if (size > MOST_RANKS || !open_device()) {
        fprintf(stderr, "check_enqueue: no libcuda.so.1, or too many ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MUST(create_stream(&stream, CU_STREAM_NON_BLOCKING));
    allocate(from_pool);
    make_comm(MPI_COMM_WORLD);
    for (uint64_t i = 0; i < rows; ++i) {
        state = hash(seed * 1000003 + i);
        if (!row(seed * 1000003 + i)) {
            printf("check_enqueue: rank %d: row %llu of seed %llu is wrong\n", rank,
                   (unsigned long long)i, (unsigned long long)seed);
            ++wrong;
        }
        if (rows / 2 == i) {
            MPI_Comm_free(&stream_comm);
            make_comm(MPI_COMM_WORLD);
        }
    }
    MPI_Comm_free(&stream_comm);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_enqueue: %llu rows, %llu wrong results\n", (unsigned long long)rows,
               (unsigned long long)wrong);
    }
    MPI_Finalize();
    return 0 == wrong ? 0 : 1;
}
