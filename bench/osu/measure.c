/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Timing one message size, as OSU does: each call on its own, a barrier after it.
 */
#include "config.h"

#include "measure.h"

#include <time.h>

pwr_osu_call_t pwr_osu_call(const pwr_osu_run_t *run, size_t bytes, unsigned long index)
{
    int root = run->options->root;
    return (pwr_osu_call_t){
        .benchmark = run->benchmark,
        .comm = run->comm,
        .np = run->np,
        .rank = run->rank,
        .root = root == PWR_OSU_ROOT_ROTATES ? (int)(index % (unsigned long)run->np) : root,
        .bytes = bytes,
        .tag = 0,
        .send = run->send.data,
        .recv = run->recv.data,
    };
}

/* Seconds this rank spent inside the collective. */
static double timed_calls(const pwr_osu_run_t *run, size_t bytes, unsigned long count)
{
    double inside = 0;
    for (unsigned long i = 0; i < count; i++) {
        pwr_osu_call_t call = pwr_osu_call(run, bytes, i);
        double begin = MPI_Wtime();
        run->benchmark->run(&call);
        inside += MPI_Wtime() - begin;
        MPI_Barrier(run->comm);
    }
    return inside;
}

static int64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double pwr_osu_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double reduce_real(const pwr_osu_run_t *run, double value, MPI_Op op)
{
    double result = 0;
    MPI_Reduce(&value, &result, 1, MPI_DOUBLE, op, 0, run->comm);
    return result;
}

static int64_t reduce_time(const pwr_osu_run_t *run, int64_t value, MPI_Op op)
{
    int64_t result = 0;
    MPI_Reduce(&value, &result, 1, MPI_INT64_T, op, 0, run->comm);
    return result;
}

void pwr_osu_measure(pwr_osu_run_t *run, size_t bytes, pwr_osu_row_t *row)
{
    const pwr_osu_benchmark_t *benchmark = run->benchmark;
    pwr_osu_calls_t calls = pwr_osu_options_calls(run->options, bytes);
    pwr_osu_call_t first = pwr_osu_call(run, bytes, 0);
    pwr_buffer_use(&run->send, benchmark->data->send_bytes(benchmark, run->np, bytes));
    pwr_buffer_use(&run->recv, benchmark->data->recv_bytes(benchmark, run->np, bytes));
    benchmark->data->fill(&first);

    timed_calls(run, bytes, calls.warmup);
    MPI_Barrier(run->comm);

    double cpu_begin = pwr_osu_cpu_s();
    int64_t begin_ns = realtime_ns();
    double wall_begin = MPI_Wtime();
    double mean_us = 1e6 * timed_calls(run, bytes, calls.timed) / (double)calls.timed;
    double wall_s = MPI_Wtime() - wall_begin;
    int64_t end_ns = realtime_ns();
    double cpu_s = pwr_osu_cpu_s() - cpu_begin;

    run->cpu_s += cpu_s;
    run->wall_s += wall_s;
    *row = (pwr_osu_row_t){
        .bytes = bytes,
        .iterations = calls.timed,
        .avg_us = reduce_real(run, mean_us, MPI_SUM) / run->np,
        .min_us = reduce_real(run, mean_us, MPI_MIN),
        .max_us = reduce_real(run, mean_us, MPI_MAX),
        .begin_ns = reduce_time(run, begin_ns, MPI_MIN),
        .end_ns = reduce_time(run, end_ns, MPI_MAX),
        .cpu_s = reduce_real(run, cpu_s, MPI_SUM),
        .verdict = PWR_OSU_NOT_CHECKED,
    };
}
