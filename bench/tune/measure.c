/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One collective at one size: all variants checked, then measured in turns.
 *
 * 1. Each variant makes one checked call.  One that gives wrong data is said so and left out, and
 *    so is an algorithm of ours that leaves the call to the stock function.
 * 2. Each makes a few calls, from which follows how many calls a turn has: as many for all, because
 *    the first of a turn takes longer than those behind it.
 * 3. Blocks: in each, every variant has its turn, in a random order, so that what changes slowly on
 *    the machine (heat, other load) favours none.
 *
 * Variant copy is what any of them could reach at best between two ranks: each rank copies a
 * message of its own.
 *
 * Each call is timed by itself and a barrier of the stock functions follows, as in OSU's programs;
 * a block counts with the mean over ranks of their mean per call.  CPU time is read around the
 * calls, so that the barriers' is no part of it; where calls are short around others than those
 * that are timed: to read it is a system call, after which the next call of MPI takes longer.
 */
#include "config.h"

#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pwr/clock.h"
#include "pwr_verify/buffer.h"

enum {
    PROBES = 4,
    PROBE_CALLS = 3,
    CALLS_MAX = 5000,
    BLOCKS_MIN = 5,
    SLOW_BLOCKS_MIN = 3,
    SHORT_CALLS = 20, /* a turn that has so many calls has short ones */
    CPU_PART = 4,     /* of these, for so many that are timed there is one whose CPU time is read */
};

/* A turn takes this at least, on average: it hardly notices the clock's grain. */
static const double turn_s = 1e-3;
/* A first call that is shorter may have been set-up alone. */
static const double set_up_s = 50e-3;
/* Where one call of each variant takes longer than this, turns begin without a call to warm up. */
static const double cold_calls_s = 0.1;
/* Blocks that take longer than this are made fewer times. */
static const double slow_block_s = 2;

typedef struct series {
    const tune_variant_t *variant;
    MPI_Comm comm;
    bool is_wrong;
    bool declines; /* an algorithm of ours that cannot do this call: it would be stock again */
    double us[TUNE_BLOCKS_MAX];     /* mean over ranks */
    double cpu_us[TUNE_BLOCKS_MAX]; /* of all ranks together */
} series_t;

typedef struct cell {
    tune_place_t *place;
    const pwr_osu_benchmark_t *benchmark;
    size_t size;
    size_t send_bytes;
    size_t recv_bytes;
    pwr_buffer_t send;
    pwr_buffer_t recv;
    pwr_buffer_t copied; /* by variant copy */
    series_t series[TUNE_VARIANTS_MAX];
    int num;
    unsigned long calls; /* of a turn */
    bool warms_up;       /* by a call before them */
    int blocks;
} cell_t;

typedef struct spent {
    double wall_s;
    double cpu_s;
} spent_t;

static pwr_osu_call_t call_of(const cell_t *cell, const series_t *series, unsigned tag)
{
    return (pwr_osu_call_t){
        .benchmark = cell->benchmark,
        .comm = series->comm,
        .np = cell->place->np,
        .rank = cell->place->rank,
        .root = 0,
        .bytes = cell->size,
        .tag = tag,
        .send = cell->send.data,
        .recv = cell->recv.data,
    };
}

static void run(const cell_t *cell, const series_t *series, const pwr_osu_call_t *call)
{
    if (series->variant->copies) {
        const pwr_buffer_t *from = cell->send_bytes >= cell->size ? &cell->send : &cell->recv;
        memcpy(cell->copied.data, from->data, cell->size);
    } else {
        cell->benchmark->run(call);
    }
}

static uint64_t cpu_now_ns(bool reads)
{
    return reads ? pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID) : 0;
}

/* Seconds of this rank inside the calls. */
static spent_t timed_calls(const cell_t *cell, const series_t *series, unsigned long count,
                           bool reads_cpu)
{
    spent_t spent = {0, 0};
    pwr_osu_call_t call = call_of(cell, series, 0);
    for (unsigned long i = 0; i < count; i++) {
        uint64_t cpu_ns = cpu_now_ns(reads_cpu);
        double begin = MPI_Wtime();
        run(cell, series, &call);
        spent.wall_s += MPI_Wtime() - begin;
        spent.cpu_s += 1e-9 * (double)(cpu_now_ns(reads_cpu) - cpu_ns);
        MPI_Barrier(cell->place->neutral);
    }
    return spent;
}

static bool is_out(const series_t *series)
{
    return series->is_wrong || series->declines;
}

/* Step 1.  Every rank checks, all learn whether anybody's data is wrong. */
static void check(const cell_t *cell, series_t *series)
{
    pwr_osu_error_t error = {.no_byte = false};
    ptrdiff_t offset;
    /* other data in each checked call; 0 is that of the timed ones */
    cell->place->tag = cell->place->tag % 200 + 1;
    pwr_osu_call_t call = call_of(cell, series, cell->place->tag);
    unsigned long long before = tune_variants_handled(cell->place->variants);
    cell->benchmark->data->fill(&call);
    cell->benchmark->run(&call);
    series->declines =
        series->variant->is_ours && tune_variants_handled(cell->place->variants) == before;
    int wrong = !cell->benchmark->data->check(&call, &error);
    wrong |= !pwr_buffer_check(&cell->send, &offset) || !pwr_buffer_check(&cell->recv, &offset);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, cell->place->neutral);
    series->is_wrong = wrong != 0;
    if (wrong && cell->place->rank == 0) {
        fprintf(stderr,
                "\npoweraware-tune: %s of %s, %zu bytes on %d x %d ranks: wrong data, left out\n",
                series->variant->name, cell->benchmark->name, cell->size,
                cell->place->layout->nodes, cell->place->layout->ranks_per_node);
    }
}

static double slowest(const cell_t *cell, double seconds)
{
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, cell->place->neutral);
    return seconds;
}

/* Calls of a turn whose CPU time is read, beside those that are timed; 0: that of those. */
static unsigned long metered_apart(const cell_t *cell)
{
    return cell->calls >= SHORT_CALLS ? cell->calls / CPU_PART : 0;
}

static bool probes_again(int probes, double call_s)
{
    double below_s = probes == 1 ? set_up_s : turn_s;
    return probes == 0 || (probes < PROBES && call_s < below_s);
}

/* Seconds of a call, with the barrier behind it. */
static double probe(const cell_t *cell, const series_t *series)
{
    double call_s = INFINITY;
    for (int i = 0; probes_again(i, call_s); i++) {
        unsigned long calls = call_s < turn_s ? PROBE_CALLS : 1;
        MPI_Barrier(cell->place->neutral);
        double begin = MPI_Wtime();
        timed_calls(cell, series, calls, false);
        double probe_s = slowest(cell, (MPI_Wtime() - begin) / (double)calls);
        call_s = probe_s < call_s ? probe_s : call_s;
    }
    return call_s;
}

/* Seconds of one call of each variant that is not out, and how many these are. */
static double probe_all(const cell_t *cell, int *variants)
{
    double each_once_s = 0;
    *variants = 0;
    for (int i = 0; i < cell->num; i++) {
        if (!is_out(&cell->series[i])) {
            each_once_s += probe(cell, &cell->series[i]);
            ++*variants;
        }
    }
    return each_once_s > 0 ? each_once_s : 1e-9;
}

/* A block has its share of the time of a collective and size; calls whose CPU time is read apart
   are beside those that are timed. */
static unsigned long calls_of_a_turn(const tune_options_t *options, double each_once_s,
                                     int variants)
{
    double share_s = options->seconds / options->blocks * CPU_PART / (CPU_PART + 1);
    double least_s = variants * turn_s;
    double calls = (share_s > least_s ? share_s : least_s) / each_once_s;
    return calls < 1 ? 1 : calls > CALLS_MAX ? CALLS_MAX : (unsigned long)calls;
}

static int blocks_within_time(const tune_options_t *options, double block_s)
{
    double affordable = options->seconds / block_s;
    int fewest = block_s > slow_block_s ? SLOW_BLOCKS_MIN : BLOCKS_MIN;
    int least = options->blocks < fewest ? options->blocks : fewest;
    return affordable < least             ? least
           : affordable > options->blocks ? options->blocks
                                          : (int)affordable;
}

/* Step 2. */
static void plan(cell_t *cell)
{
    const tune_options_t *options = cell->place->options;
    int variants;
    double each_once_s = probe_all(cell, &variants);
    cell->warms_up = each_once_s < cold_calls_s;
    cell->calls = calls_of_a_turn(options, each_once_s, variants);
    double block_s = each_once_s * (double)(cell->calls + metered_apart(cell));
    cell->blocks = blocks_within_time(options, block_s);
}

static unsigned long below(unsigned long *chance, unsigned long limit)
{
    *chance = *chance * 6364136223846793005ul + 1442695040888963407ul;
    return (*chance >> 33) % limit;
}

static void shuffle(unsigned long *chance, int *order, int num)
{
    for (int i = num - 1; i > 0; i--) {
        int other = (int)below(chance, (unsigned long)i + 1);
        int kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void take_turn(const cell_t *cell, series_t *series, int block)
{
    unsigned long apart = metered_apart(cell);
    if (cell->warms_up) {
        timed_calls(cell, series, 1, false); /* caches and connections are its own again */
    }
    spent_t spent = timed_calls(cell, series, cell->calls, apart == 0);
    series->us[block] = 1e6 * spent.wall_s / (double)cell->calls;
    if (apart > 0) {
        spent = timed_calls(cell, series, apart, true);
    }
    series->cpu_us[block] = 1e6 * spent.cpu_s / (double)(apart > 0 ? apart : cell->calls);
}

/* Step 3. */
static void run_block(cell_t *cell, int block)
{
    int order[TUNE_VARIANTS_MAX];
    for (int i = 0; i < cell->num; i++) {
        order[i] = i;
    }
    shuffle(&cell->place->chance, order, cell->num);
    for (int i = 0; i < cell->num; i++) {
        series_t *series = &cell->series[order[i]];
        if (!is_out(series)) {
            take_turn(cell, series, block);
        }
    }
}

static json_t *array_of(const double *values, int num)
{
    json_t *array = json_array();
    for (int i = 0; i < num; i++) {
        json_array_append_new(array, json_real(values[i]));
    }
    return array;
}

static void sum_over_ranks(const cell_t *cell, double *values)
{
    const void *send = cell->place->rank == 0 ? MPI_IN_PLACE : values;
    MPI_Reduce(send, values, cell->blocks, MPI_DOUBLE, MPI_SUM, 0, cell->place->neutral);
}

/* All ranks; the result is rank 0's. */
static json_t *result_of(const cell_t *cell, series_t *series)
{
    if (!is_out(series)) {
        sum_over_ranks(cell, series->us);
        sum_over_ranks(cell, series->cpu_us);
    }
    if (cell->place->rank != 0) {
        return NULL;
    }
    int blocks = is_out(series) ? 0 : cell->blocks;
    for (int i = 0; i < blocks; i++) {
        series->us[i] /= cell->place->np;
    }
    return json_pack("{s:s, s:b, s:b, s:I, s:o, s:o}", "name", series->variant->name, "wrong",
                     series->is_wrong, "declines", series->declines, "calls",
                     (json_int_t)cell->calls, "us", array_of(series->us, blocks), "cpu_us",
                     array_of(series->cpu_us, blocks));
}

/* What a decision table calls bytes: the blocks of all ranks, or one message. */
static json_int_t bytes_of_table(const cell_t *cell)
{
    size_t messages = cell->benchmark->data == &pwr_osu_blocks ? (size_t)cell->place->np : 1;
    return (json_int_t)(messages * cell->size);
}

static json_t *results(cell_t *cell)
{
    const tune_layout_t *layout = cell->place->layout;
    json_t *all = json_array();
    for (int i = 0; i < cell->num; i++) {
        json_array_append_new(all, result_of(cell, &cell->series[i]));
    }
    if (cell->place->rank != 0) {
        json_decref(all);
        return NULL;
    }
    return json_pack("{s:s, s:i, s:i, s:I, s:I, s:o}", "collective", cell->benchmark->name, "nodes",
                     layout->nodes, "ranks_per_node", layout->ranks_per_node, "size",
                     (json_int_t)cell->size, "bytes", bytes_of_table(cell), "variants", all);
}

static void measure(cell_t *cell)
{
    pwr_osu_call_t call = call_of(cell, &cell->series[0], 0);
    for (int i = 0; i < cell->num; i++) {
        if (!cell->series[i].variant->copies) {
            check(cell, &cell->series[i]);
        }
    }
    cell->benchmark->data->fill(&call);
    plan(cell);
    for (int block = 0; block < cell->blocks; block++) {
        run_block(cell, block);
    }
}

/* False on all ranks where one of them has no memory. */
static bool open_buffers(cell_t *cell)
{
    int ok = pwr_buffer_open(&cell->send, cell->send_bytes) &&
             pwr_buffer_open(&cell->recv, cell->recv_bytes) &&
             pwr_buffer_open(&cell->copied, cell->size);
    MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, cell->place->neutral);
    if (ok) {
        pwr_buffer_use(&cell->send, cell->send_bytes);
        pwr_buffer_use(&cell->recv, cell->recv_bytes);
        pwr_buffer_use(&cell->copied, cell->size);
    }
    return ok != 0;
}

/* Reductions that deal less than an element to each rank do nothing worth measuring. */
static bool is_measurable(const cell_t *cell)
{
    return cell->send_bytes + cell->recv_bytes <= cell->place->options->mem_limit &&
           (cell->size == 0 || cell->recv_bytes > 0);
}

json_t *tune_measure(tune_place_t *place, const pwr_osu_benchmark_t *collective, size_t size)
{
    cell_t cell = {.place = place,
                   .benchmark = collective,
                   .size = size,
                   .send_bytes = collective->data->send_bytes(collective, place->np, size),
                   .recv_bytes = collective->data->recv_bytes(collective, place->np, size)};
    json_t *point = NULL;
    for (int i = 0; i < place->variants->num; i++) {
        if (place->variants->variant[i].has[collective - pwr_osu_benchmarks]) {
            cell.series[cell.num].variant = &place->variants->variant[i];
            cell.series[cell.num++].comm = place->comms[i];
        }
    }
    if (is_measurable(&cell) && open_buffers(&cell)) {
        measure(&cell);
        point = results(&cell);
    }
    pwr_buffer_release(&cell.send);
    pwr_buffer_release(&cell.recv);
    pwr_buffer_release(&cell.copied);
    return point;
}
