/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Timing one message size, as OSU does: each call on its own, a barrier after it.  Latencies are
 * those of the timed calls.  What energy and CPU seconds are taken over begins with the warm-up
 * calls: what a library does once, in its first calls, counts there.
 */
#include "config.h"

#include "harness.h"

#include "pwr/clock.h"
#include "pwr/wait.h"

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

static unsigned long operations_of_a_run(const pwr_osu_run_t *run)
{
    return pwr_osu_suite.operations ? (unsigned long)pwr_osu_suite.operations(run->np) : 1;
}

/* What is in a cache of that size or smaller leaves it. */
static void write_own_memory(const pwr_osu_run_t *run)
{
    for (size_t at = 0; at < run->cold.capacity; at += PWR_CACHE_LINE) {
        run->cold.data[at]++;
    }
}

/* Seconds this rank spent inside the collective. */
static double timed_calls(const pwr_osu_run_t *run, size_t bytes, unsigned long count)
{
    double inside = 0;
    for (unsigned long i = 0; i < count; i++) {
        pwr_osu_call_t call = pwr_osu_call(run, bytes, i);
        write_own_memory(run);
        double begin = MPI_Wtime();
        run->benchmark->run(&call);
        inside += MPI_Wtime() - begin;
        MPI_Barrier(run->comm);
    }
    return inside;
}

/* All ranks go by the one that began first. */
static bool is_too_short(const pwr_osu_run_t *run, double wall_s)
{
    double longest_s = wall_s;
    if (run->options->least_ms > 0) {
        MPI_Allreduce(&wall_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, run->comm);
    }
    return 1e3 * longest_s < (double)run->options->least_ms;
}

static double reduce_real(const pwr_osu_run_t *run, double value, MPI_Op op)
{
    double result = 0;
    MPI_Reduce(&value, &result, 1, MPI_DOUBLE, op, 0, run->comm);
    return result;
}

static uint64_t reduce_time(const pwr_osu_run_t *run, uint64_t value, MPI_Op op)
{
    uint64_t result = 0;
    MPI_Reduce(&value, &result, 1, MPI_UINT64_T, op, 0, run->comm);
    return result;
}

void pwr_osu_use_buffers(pwr_osu_run_t *run, size_t bytes)
{
    const pwr_osu_data_t *data = run->benchmark->data;
    pwr_buffer_use(&run->send, data->send_bytes(run->benchmark, run->np, bytes));
    pwr_buffer_use(&run->recv, data->recv_bytes(run->benchmark, run->np, bytes));
}

void pwr_osu_measure(pwr_osu_run_t *run, size_t bytes, pwr_osu_row_t *row)
{
    const pwr_osu_benchmark_t *benchmark = run->benchmark;
    const pwr_osu_options_t *options = run->options;
    pwr_osu_calls_t calls = bytes > PWR_OSU_LARGE_BYTES ? options->large : options->small;
    pwr_osu_call_t first = pwr_osu_call(run, bytes, 0);
    pwr_osu_use_buffers(run, bytes);
    benchmark->data->fill(&first);

    MPI_Barrier(run->comm);
    uint64_t cpu_begin_ns = pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t begin_ns = pwr_clock_ns(CLOCK_REALTIME);
    double wall_begin = MPI_Wtime();
    timed_calls(run, bytes, calls.warmup);

    double timed_begin = MPI_Wtime();
    double inside_s = 0;
    unsigned long timed = 0;
    do {
        inside_s += timed_calls(run, bytes, calls.timed);
        timed += calls.timed;
    } while (is_too_short(run, MPI_Wtime() - timed_begin));
    double wall_s = MPI_Wtime() - wall_begin;
    uint64_t end_ns = pwr_clock_ns(CLOCK_REALTIME);
    double cpu_s = 1e-9 * (double)(pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ns);

    unsigned long iterations = timed * operations_of_a_run(run);
    unsigned long operations = iterations + calls.warmup * operations_of_a_run(run);
    double mean_us = 1e6 * inside_s / (double)iterations;

    run->cpu_s += cpu_s;
    run->wall_s += wall_s;
    *row = (pwr_osu_row_t){
        .bytes = bytes,
        .iterations = iterations,
        .operations = operations,
        .moved_bytes = pwr_osu_suite.operations ? bytes * operations * (uint64_t)run->np : 0,
        .avg_us = reduce_real(run, mean_us, MPI_SUM) / run->np,
        .min_us = reduce_real(run, mean_us, MPI_MIN),
        .max_us = reduce_real(run, mean_us, MPI_MAX),
        .begin_ns = reduce_time(run, begin_ns, MPI_MIN),
        .end_ns = reduce_time(run, end_ns, MPI_MAX),
        .cpu_s = reduce_real(run, cpu_s, MPI_SUM),
        .verdict = PWR_OSU_NOT_CHECKED,
    };
}
