/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives of doubles in the memory of a GPU that all ranks use, by several ways:
 *
 *   staged     pinned memory: copy to the host, the collective by stock functions, copy back: the
 *              honest baseline
 *   staged-2   as Open MPI's coll/cuda does it: pageable memory, and the old result is copied, too
 *   direct     the collective on the buffers of the GPU
 *   enqueued   MPIX_Allreduce_enqueue, in rows; the CPU waits at the end of a row
 *   enqueued-1 the same, in rows of one call
 *   in-kernel  poweraware_allreduce_sum_f64, rows of calls in one kernel (in_kernel.cu), where the
 *              ranks' kernels are on the GPU at once
 *   nccl       ncclAllReduce, in rows as enqueued (peers.h)
 *   nvshmem    nvshmemx_double_sum_reduce_on_stream, the same
 *
 * Ways take turns: each round has one window of each.  A window is a number of calls, in rows of
 * 100 where there are rows, between two barriers; its time is that of the slowest rank.  One line
 * for each: way, ranks, bytes, round, calls, microseconds per call, CPU microseconds per call of
 * all ranks together, joules of the GPU per call (0 where the window is too short for its counter,
 * or there is none).  Bytes are those of a block: what a rank contributes, in an Alltoall to each
 * other one.
 *
 * Who stages waits for the GPU in the way of CUDA's default, which spins (--blocking: sleeps); rows
 * end with poweraware_stream_comm_wait.
 */
#include "peers.h"
#include "poweraware_mpix.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "pwr/command.h"
#include "tests/program.h"

enum { ROW = 100, SHORTEST_ENERGY_S = 5 };

static int rank, size;
static MPI_Comm stock, streamed;
static void *stream, *event;
typedef struct buffers {
    pwr_gpu_address_t source, result;
} buffers_t;
static buffers_t plain, symmetric; /* symmetric: those of NVSHMEM */
static double *pinned[2], *pageable[2];
static int (*copy_out)(void *, pwr_gpu_address_t, size_t, void *);
static int (*copy_in)(pwr_gpu_address_t, const void *, size_t, void *);
static bool sleeps;
static poweraware_team_t *team; /* NULL: there is none */
static int blocks;              /* of its grids, at most */
static void *in_kernel_function;

static void wait_for_gpu(void)
{
    if (sleeps) {
        MUST(record_event(event, stream));
        MUST(wait_event(event));
    } else {
        MUST(wait_stream(stream));
    }
}

/* ---- collectives ---- */

static void allreduce(const void *in, void *out, int count, MPI_Comm comm)
{
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

static void allgather(const void *in, void *out, int count, MPI_Comm comm)
{
    MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
}

static void alltoall(const void *in, void *out, int count, MPI_Comm comm)
{
    MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
}

static void bcast(const void *in, void *out, int count, MPI_Comm comm)
{
    MPI_Bcast(0 == rank ? (void *)in : out, count, MPI_DOUBLE, 0, comm);
}

/* What rank from has for rank to at place k, and what comes of it there; exact. */
static double value(int from, int to, size_t k)
{
    return (double)(k % 1000) + 1e4 * from + 1e8 * to;
}

static const struct collective {
    const char *name;
    void (*call)(const void *in, void *out, int count, MPI_Comm comm);
    bool sends_each, receives_each; /* a block for each rank, from each rank */
    bool from_root;                 /* only rank 0 has an input, only others have a result */
} collectives[] = {
    {"allreduce", allreduce, false, false, false},
    {"allgather", allgather, false, true, false},
    {"alltoall", alltoall, true, true, false},
    {"bcast", bcast, false, false, true},
};
static const struct collective *collective;

static size_t sent(size_t count)
{
    return collective->from_root && 0 != rank ? 0
                                              : count * (size_t)(collective->sends_each ? size : 1);
}

static size_t received(size_t count)
{
    return collective->from_root && 0 == rank
               ? 0
               : count * (size_t)(collective->receives_each ? size : 1);
}

/* ---- ways; each makes calls of blocks of count doubles ---- */

static void staged(size_t count, int calls)
{
    for (int i = 0; i < calls; ++i) {
        if (sent(count) > 0) {
            must(copy_out(pinned[0], plain.source, sent(count) * 8, stream), "cuMemcpyDtoHAsync");
            wait_for_gpu();
        }
        collective->call(pinned[0], pinned[1], (int)count, stock);
        if (received(count) > 0) {
            must(copy_in(plain.result, pinned[1], received(count) * 8, stream),
                 "cuMemcpyHtoDAsync");
            wait_for_gpu();
        }
    }
}

static void staged_2(size_t count, int calls)
{
    for (int i = 0; i < calls; ++i) {
        if (sent(count) > 0) {
            MUST(to_host(pageable[0], plain.source, sent(count) * 8));
        }
        if (received(count) > 0) {
            MUST(to_host(pageable[1], plain.result, received(count) * 8));
        }
        collective->call(pageable[0], pageable[1], (int)count, stock);
        if (received(count) > 0) {
            MUST(to_device(plain.result, pageable[1], received(count) * 8));
        }
    }
}

static void direct(size_t count, int calls)
{
    for (int i = 0; i < calls; ++i) {
        collective->call((void *)(uintptr_t)plain.source, (void *)(uintptr_t)plain.result,
                         (int)count, MPI_COMM_WORLD);
    }
}

static void end_row(void)
{
    if (MPI_SUCCESS != poweraware_stream_comm_wait(streamed)) {
        fprintf(stderr, "gpu_collectives: a row has failed\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

typedef void enqueue_t(pwr_gpu_address_t in, pwr_gpu_address_t out, size_t count, void *in_stream);

static void ours(pwr_gpu_address_t in, pwr_gpu_address_t out, size_t count, void *in_stream)
{
    (void)in_stream; /* that of the communicator */
    MPIX_Allreduce_enqueue((const void *)(uintptr_t)in, (void *)(uintptr_t)out, (int)count,
                           MPI_DOUBLE, MPI_SUM, streamed);
}

static void in_kernel(size_t count, int calls)
{
    enum { THREADS = 384, UNIT = 16 };
    size_t grid = (count * 8 + UNIT * THREADS - 1) / (UNIT * THREADS);
    grid = grid > (size_t)blocks ? (size_t)blocks : grid;
    for (int rest = calls; rest > 0; rest -= ROW) {
        unsigned long long num = count;
        int row = rest < ROW ? rest : ROW;
        void *arguments[] = {&team, &plain.source, &plain.result, &num, &row};
        MUST(launch(in_kernel_function, (unsigned)grid, 1, 1, THREADS, 1, 1, 0, stream, arguments,
                    NULL));
        end_row();
    }
}

enum { STAGED, STAGED_2, DIRECT, ENQUEUED, ENQUEUED_1, IN_KERNEL, NCCL, NVSHMEM, WAYS };

static const struct {
    const char *name;
    void (*run)(size_t count, int calls); /* NULL: rows of ... */
    enqueue_t *enqueue;
    const buffers_t *buffers;
    int row;      /* calls */
    bool reduces; /* no other collective than Allreduce */
} ways[WAYS] = {
    [STAGED] = {"staged", staged, NULL, &plain, 1, false},
    [STAGED_2] = {"staged-2", staged_2, NULL, &plain, 1, false},
    [DIRECT] = {"direct", direct, NULL, &plain, 1, false},
    [ENQUEUED] = {"enqueued", NULL, ours, &plain, ROW, true},
    [ENQUEUED_1] = {"enqueued-1", NULL, ours, &plain, 1, true},
    [IN_KERNEL] = {"in-kernel", in_kernel, NULL, &plain, ROW, true},
    [NCCL] = {"nccl", NULL, nccl_allreduce, &plain, ROW, true},
    [NVSHMEM] = {"nvshmem", NULL, nvshmem_allreduce, &symmetric, ROW, true},
};

static void run(int way, size_t count, int calls)
{
    const buffers_t *buffers = ways[way].buffers;
    if (NULL != ways[way].run) {
        ways[way].run(count, calls);
        return;
    }
    for (int i = 0; i < calls; ++i) {
        ways[way].enqueue(buffers->source, buffers->result, count, stream);
        if (0 == (i + 1) % ways[way].row || i == calls - 1) {
            end_row();
        }
    }
}

/* ---- windows ---- */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double gpu_j(void)
{
    static int (*energy)(void *, unsigned long long *);
    static void *device;
    static bool tried;
    unsigned long long millijoules = 0;
    if (!tried) {
        tried = true;
        void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_GLOBAL);
        int (*init)(void), (*get)(unsigned, void **);
        if (NULL != library) {
            driver_function("nvmlInit_v2", &init);
            driver_function("nvmlDeviceGetHandleByIndex_v2", &get);
            driver_function("nvmlDeviceGetTotalEnergyConsumption", &energy);
            energy = 0 == init() && 0 == get(0, &device) ? energy : NULL;
        }
    }
    return NULL != energy && 0 == energy(device, &millijoules) ? 1e-3 * (double)millijoules : 0;
}

static double window(int way, size_t count, int calls, int round)
{
    double joules = 0 == rank ? gpu_j() : 0; /* takes milliseconds */
    MPI_Barrier(stock);
    double cpu = cpu_s(), begin = now_s();
    run(way, count, calls);
    double seconds = now_s() - begin, slowest = 0, all_cpu = 0;
    cpu = cpu_s() - cpu;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, stock);
    joules = 0 == rank ? gpu_j() - joules : 0;
    MPI_Reduce(&cpu, &all_cpu, 1, MPI_DOUBLE, MPI_SUM, 0, stock);
    if (0 == rank && round >= 0) {
        printf("%s %d %zu %d %d %.3f %.3f %.9f\n", ways[way].name, size, count * 8, round, calls,
               1e6 * slowest / calls, 1e6 * all_cpu / calls,
               slowest < SHORTEST_ENERGY_S ? 0 : joules / calls);
        fflush(stdout);
    }
    return slowest / calls;
}

static double expected(int from, size_t k)
{
    double sum = 0;
    for (int r = 0; allreduce == collective->call && r < size; ++r) {
        sum += value(r, 0, k);
    }
    return allreduce == collective->call ? sum : value(from, collective->sends_each ? rank : 0, k);
}

static void check(int way, size_t count)
{
    const buffers_t *buffers = ways[way].buffers;
    double *from = pageable[0], *to = pageable[1];
    for (size_t i = 0; i < sent(count); ++i) {
        from[i] = value(rank, (int)(i / count), i % count);
    }
    for (size_t i = 0; i < received(count); ++i) {
        to[i] = -1;
    }
    if (sent(count) > 0) {
        MUST(to_device(buffers->source, from, sent(count) * 8));
    }
    if (received(count) > 0) {
        MUST(to_device(buffers->result, to, received(count) * 8));
    }
    MUST(wait_stream(NULL)); /* a copy may return before it is there */
    run(way, count, 2);
    if (received(count) > 0) {
        MUST(to_host(to, buffers->result, received(count) * 8));
    }
    for (size_t i = 0; i < received(count); ++i) {
        if (to[i] != expected((int)(i / count), i % count)) {
            fprintf(stderr, "%s: element %zu of %zu is %g, not %g\n", ways[way].name, i, count,
                    to[i], expected((int)(i / count), i % count));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

/* As many calls as take about seconds, in whole rows, the same on all ranks. */
static int calls_for(int way, size_t count, double seconds)
{
    const int row = ways[way].row;
    int calls = 10;
    window(way, count, 3, -1);
    for (int share = 10; share >= 1; share -= 9) { /* first calls are slower */
        double each = window(way, count, calls, -1);
        calls = ((int)(seconds / share / each) / row + 1) * row;
        MPI_Bcast(&calls, 1, MPI_INT, 0, stock);
    }
    return calls;
}

static void measure(size_t bytes, int rounds, double seconds, const bool *chosen)
{
    size_t count = bytes / 8;
    int calls[WAYS];
    for (int way = 0; way < WAYS; ++way) {
        if (chosen[way]) {
            check(way, count);
            calls[way] = calls_for(way, count, seconds);
        }
    }
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < WAYS; ++i) {
            int way = (i + round) % WAYS; /* who is first changes */
            if (chosen[way]) {
                window(way, count, calls[way], round);
            }
        }
    }
}

/* ---- set-up ---- */

/* Whether there is a team, and the kernel for it beside this program. */
static bool find_in_kernel(const char *program)
{
    static char ptx[1 << 17];
    void *module = NULL;
    snprintf(ptx, sizeof ptx, "%.*sin_kernel.ptx",
             NULL == strrchr(program, '/') ? 0 : (int)(strrchr(program, '/') + 1 - program),
             program);
    FILE *file = NULL == team ? NULL : fopen(ptx, "r");
    if (NULL == file) {
        return false;
    }
    size_t length = fread(ptx, 1, sizeof ptx - 1, file);
    fclose(file);
    ptx[length] = '\0';
    return CUDA_SUCCESS == pwr_gpu_driver.load_module(&module, ptx) &&
           CUDA_SUCCESS == pwr_gpu_driver.get_function(&in_kernel_function, module, "in_kernel");
}

static void make_comms(void)
{
    MPI_Info info;
    MPIX_Stream mpix_stream;
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_poweraware_algorithm", "off");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &stock);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    MPI_Info_set(info, "type", "cudaStream_t");
    MPIX_Info_set_hex(info, "value", &stream, sizeof stream);
    MPIX_Stream_create(info, &mpix_stream);
    MPIX_Stream_comm_create(MPI_COMM_WORLD, mpix_stream, &streamed);
    MPIX_Stream_free(&mpix_stream);
    MPI_Info_free(&info);
    poweraware_stream_comm_team(streamed, &team, &blocks);
}

static void allocate(size_t bytes)
{
    int (*allocate_pinned)(void **, size_t);
    driver_function("cuMemAllocHost_v2", &allocate_pinned);
    driver_function("cuMemcpyDtoHAsync_v2", &copy_out);
    driver_function("cuMemcpyHtoDAsync_v2", &copy_in);
    MUST(create_stream(&stream, CU_STREAM_NON_BLOCKING));
    MUST(create_event(&event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
    MUST(allocate(&plain.source, bytes));
    MUST(allocate(&plain.result, bytes));
    for (int i = 0; i < 2; ++i) {
        pageable[i] = malloc(bytes);
        must(allocate_pinned((void **)&pinned[i], bytes), "cuMemAllocHost");
        if (NULL == pageable[i]) {
            fprintf(stderr, "gpu_collectives: out of memory\n");
            exit(3);
        }
    }
}

static struct options {
    unsigned long from, to;
    int factor, rounds;
    double seconds;
    const char *collective, *ways;
    bool blocking;
} options = {.from = 8,
             .to = 67108864,
             .factor = 2,
             .rounds = 5,
             .seconds = 0.05,
             .collective = "allreduce",
             .ways = "staged,staged-2,direct,enqueued,enqueued-1,in-kernel"};

static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", NULL};

static const pwr_option_t table[] = {
    {0, "collective", "NAME", "of allreduce, allgather, alltoall, bcast (allreduce)",
     pwr_option_text, offsetof(struct options, collective), 0, 0},
    {0, "from", "BYTES", "the shortest block (8)", pwr_option_count, offsetof(struct options, from),
     8, 1e9},
    {0, "factor", "N", "from one length to the next (2)", pwr_option_int,
     offsetof(struct options, factor), 2, 1e6},
    {0, "to", "BYTES", "the longest (67108864)", pwr_option_count, offsetof(struct options, to), 8,
     1e9},
    {0, "rounds", "N", "windows of each way and size (5)", pwr_option_int,
     offsetof(struct options, rounds), 1, 1e6},
    {0, "seconds", "S", "about how long a window lasts (0.05)", pwr_option_real,
     offsetof(struct options, seconds), 1e-6, 1e4},
    {0, "ways", "NAME[,..]",
     "of staged, staged-2, direct, enqueued, enqueued-1, in-kernel, nccl, nvshmem (all but the "
     "last two; from enqueued on: allreduce)",
     pwr_option_text, offsetof(struct options, ways), 0, 0},
    {0, "blocking", NULL, "who stages sleeps until the GPU is ready, and does not spin",
     pwr_option_flag, offsetof(struct options, blocking), 0, 0},
    {0},
};

static const pwr_command_t command = {
    .name = "gpu_collectives",
    .usage = "usage: mpirun ... gpu_collectives [options]\n"
             "Collectives of doubles in the memory of a GPU that all ranks use, by several ways "
             "that take turns.\n\n",
    .options = table,
    .ranks = numbers,
};

static bool is_chosen(const char *name)
{
    size_t length = strlen(name);
    const char *at = options.ways;
    while (NULL != at &&
           (0 != strncmp(at, name, length) || (',' != at[length] && '\0' != at[length]))) {
        at = strchr(at, ',');
        at = NULL == at ? NULL : at + 1;
    }
    return NULL != at;
}

static void find_collective(void)
{
    for (size_t i = 0; i < sizeof collectives / sizeof collectives[0]; ++i) {
        if (0 == strcmp(collectives[i].name, options.collective)) {
            collective = &collectives[i];
        }
    }
    if (NULL == collective) {
        fprintf(stderr, "gpu_collectives: --collective: %s is not measured here\n",
                options.collective);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    bool chosen[WAYS];
    pwr_command_read(&command, &options, NULL, argc, argv);
    find_collective();
    MPI_Init(&argc, &argv);
    for (int way = 0; way < WAYS; ++way) {
        bool can = allreduce == collective->call || !ways[way].reduces;
        chosen[way] = can && is_chosen(ways[way].name);
    }
    sleeps = options.blocking;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!open_device()) {
        fprintf(stderr, "gpu_collectives: this machine has no libcuda.so.1\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    allocate(options.to * (unsigned long)(collective->receives_each ? size : 1));
    make_comms();
    chosen[IN_KERNEL] = chosen[IN_KERNEL] && find_in_kernel(argv[0]);
    chosen[NCCL] = chosen[NCCL] && nccl_open(stock);
    chosen[NVSHMEM] =
        chosen[NVSHMEM] && nvshmem_open(stock, options.to, &symmetric.source, &symmetric.result);
    for (size_t bytes = options.from; bytes <= options.to; bytes *= (size_t)options.factor) {
        measure(bytes, options.rounds, options.seconds, chosen);
    }
    if (chosen[NCCL]) {
        nccl_close();
    }
    if (chosen[NVSHMEM]) {
        nvshmem_close();
    }
    MPI_Comm_free(&streamed);
    MPI_Comm_free(&stock);
    MPI_Finalize();
    return 0;
}
