/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one transition of a lever costs: time and system calls, against a bare write on a held
 * descriptor and against opening the file each time, interleaved in one run.
 *
 * It moves real levers of one CPU, through every back end that works here, and puts them back.
 * On an emulated machine (bench/testbed/emulator/emulate) the times are those of the emulator, the
 * system calls are the real ones.
 */
#define _GNU_SOURCE
#include "config.h"

#include "lever/lever_backend.h"
#include "pwr/command.h"
#include "pwr/guard.h"
#include "topo/cpulist.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_BYTES = 1024 };

typedef struct options {
    int pairs;
    int cpu;             /* -1: the first of the affinity mask */
    const char *helpers; /* NULL: installed */
} options_t;

/* The three methods that are compared, each a pair "down, up". */
typedef enum method { OURS, BARE, REOPEN, METHODS } method_t;
static const char *const method_name[METHODS] = {"ours", "bare write", "open, write, close"};

typedef struct subject {
    const char *kind; /* the lever's name */
    const pwr_lever_backend_t *backend;
    pwr_lever_t *lever;
    const pwr_env_t *env;
} subject_t;

/* ---- time and system calls ---- */

static double now_us(void)
{
    return 1e-3 * (double)pwr_env_now_ns(&pwr_env_real);
}

/* read and write system calls of this process so far; proc(5), /proc/pid/io. */
static bool count_calls(unsigned long *calls)
{
    unsigned long reads = 0, writes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    bool known =
        file && fscanf(file, "rchar: %*u wchar: %*u syscr: %lu syscw: %lu", &reads, &writes) == 2;
    if (file) {
        fclose(file);
    }
    *calls = reads + writes;
    return known;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof values[0], compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- the methods ---- */

static pwr_status_t reopen_write(const subject_t *subject, unsigned cpu, uint64_t value)
{
    char text[WHY_BYTES];
    const pwr_why_t why = pwr_why_init(text, sizeof text);
    pwr_control_t control;
    pwr_status_t status = pwr_control_open(subject->backend->access, subject->env,
                                           subject->backend->main, cpu, &why, &control);
    if (status == PWR_OK) {
        status = control.access->write(&control, value);
        control.access->close(&control);
    }
    return status;
}

static pwr_status_t one_pair(const subject_t *subject, method_t method,
                             const pwr_control_t *control, uint64_t low, uint64_t high)
{
    pwr_status_t down, up;
    if (method == OURS) {
        down = pwr_lever_set(subject->lever, pwr_lever_lowest(subject->lever));
        up = pwr_lever_restore(subject->lever);
    } else if (method == BARE) {
        down = control->access->write(control, low);
        up = control->access->write(control, high);
    } else {
        down = reopen_write(subject, control->cpu, low);
        up = reopen_write(subject, control->cpu, high);
    }
    return down != PWR_OK ? down : up;
}

typedef struct series {
    double *us[METHODS]; /* per transition, one per pair */
    double calls[METHODS];
} series_t;

static pwr_status_t run_pairs(const subject_t *subject, const pwr_control_t *control, uint64_t low,
                              uint64_t high, unsigned pairs, series_t *series)
{
    for (unsigned i = 0; i < pairs; i++) {
        for (int method = 0; method < METHODS; method++) {
            unsigned long before = 0, after = 0;
            bool known = count_calls(&before);
            double start_us = now_us();
            pwr_status_t status = one_pair(subject, (method_t)method, control, low, high);
            series->us[method][i] = (now_us() - start_us) / 2;
            known = count_calls(&after) && known;
            if (status != PWR_OK) {
                fprintf(stderr, "levers: %s: %s: %s\n", subject->backend->name, method_name[method],
                        pwr_status_text(status));
                return status;
            }
            /* Counting itself reads once. */
            series->calls[method] += known ? (double)(after - before - 1) / 2 / pairs : 0;
        }
    }
    return PWR_OK;
}

static void print_series(const subject_t *subject, unsigned pairs, series_t *series)
{
    double bare = median(series->us[BARE], pairs);
    for (int method = 0; method < METHODS; method++) {
        double us = method == BARE ? bare : median(series->us[method], pairs);
        printf("%-8s %-18s %-19s %10.2f %10.2f %12.2f\n", subject->kind, subject->backend->name,
               method_name[method], us, us / bare, series->calls[method]);
    }
}

static int measure(const subject_t *subject, unsigned cpu, unsigned pairs)
{
    char text[WHY_BYTES];
    const pwr_why_t why = pwr_why_init(text, sizeof text);
    pwr_control_t control;
    uint64_t high;
    series_t series = {0};
    int result = EXIT_FAILURE;
    if (pwr_control_open(subject->backend->access, subject->env, subject->backend->main, cpu, &why,
                         &control) != PWR_OK) {
        fprintf(stderr, "levers: %s\n", text);
        return EXIT_FAILURE;
    }
    uint64_t low_speed = pwr_lever_lowest(subject->lever) / subject->backend->per_unit;
    double *us = calloc((size_t)METHODS * pairs, sizeof *us);
    for (unsigned method = 0; us && method < METHODS; method++) {
        series.us[method] = us + method * pairs;
    }
    if (us && control.access->read(&control, &high) == PWR_OK &&
        run_pairs(subject, &control, pwr_control_lowered(subject->backend->main, high, low_speed),
                  high, pairs, &series) == PWR_OK) {
        print_series(subject, pairs, &series);
        result = EXIT_SUCCESS;
    }
    free(us);
    control.access->close(&control);
    return result;
}

/* ---- every back end ---- */

static int measure_lever(pwr_lever_id_t id, const pwr_env_t *env, const pwr_topo_t *topo,
                         pwr_guard_t *guard, unsigned pairs)
{
    const pwr_lever_type_t *type = pwr_lever_type(id);
    int result = EXIT_SUCCESS;
    for (unsigned nth = 0; nth < type->num_backends; nth++) {
        char why[WHY_BYTES];
        subject_t subject = {.kind = type->name, .env = env, .backend = &type->backends[nth]};
        pwr_status_t status =
            pwr_lever_open_nth(id, env, topo, guard, nth, why, sizeof why, &subject.lever);
        if (status != PWR_OK) {
            printf("%-8s %-18s not here: %s\n", subject.kind, subject.backend->name,
                   why[0] ? why : pwr_status_text(status));
            continue;
        }
        if (measure(&subject, pwr_topo_my_cpu(topo, 0), pairs) != EXIT_SUCCESS) {
            result = EXIT_FAILURE;
        }
        pwr_lever_close(subject.lever);
    }
    return result;
}

/* ---- options ---- */

static bool bind_to(int cpu)
{
    pwr_cpuset_t mine, one = {{0}};
    if (!pwr_cpuset_bound(&mine)) {
        return false;
    }
    pwr_cpuset_add(&one, cpu < 0 ? pwr_cpuset_at(&mine, 0) : (unsigned)cpu);
    return pwr_cpuset_bind(&one);
}

static const pwr_option_t table[] = {
    {0, "pairs", "N", "transitions down and up of each lever (default 500)", pwr_option_int,
     offsetof(options_t, pairs), 1, 1000000},
    {0, "cpu", "N", "the CPU to bind to (default: the first this process may use)", pwr_option_int,
     offsetof(options_t, cpu), 0, CPU_SETSIZE - 1},
    {0, "helpers", "DIR", "where poweraware-guard is (default: where it is installed)",
     pwr_option_text, .at = offsetof(options_t, helpers)},
    {0},
};

static const pwr_command_t command = {
    .name = "levers",
    .usage = "usage: levers [options]\n\n"
             "Times each lever of one CPU through every back end that works here, beside bare\n"
             "writes; prints microseconds and read and write system calls per transition.\n"
             "Everything is put back.\n\n",
    .options = table,
};

int main(int argc, char **argv)
{
    options_t options = {.pairs = 500, .cpu = -1};
    pwr_env_t env = pwr_env_real;
    pwr_topo_t *topo;
    pwr_guard_t *guard;
    const pwr_guard_config_t config = {.run_directory = NULL};
    pwr_command_read(&command, &options, NULL, argc, argv);
    env.helper_dir = options.helpers;
    if (!bind_to(options.cpu)) {
        fprintf(stderr, "levers: cannot bind to CPU %d: %s\n", options.cpu, strerror(errno));
        return EXIT_FAILURE;
    }
    if (pwr_topo_open(&env, &topo) != PWR_OK) {
        return EXIT_FAILURE;
    }
    if (pwr_guard_start(&env, &config, &guard) != PWR_OK) {
        pwr_topo_close(topo);
        return EXIT_FAILURE;
    }
    printf("CPU %u, %u pairs; medians; system calls are reads and writes\n",
           pwr_topo_my_cpu(topo, 0), (unsigned)options.pairs);
    printf("%-8s %-18s %-19s %10s %10s %12s\n", "lever", "back end", "method", "us", "of bare",
           "system calls");
    int result = EXIT_SUCCESS;
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        if (measure_lever((pwr_lever_id_t)id, &env, topo, guard, (unsigned)options.pairs) !=
            EXIT_SUCCESS) {
            result = EXIT_FAILURE;
        }
    }
    pwr_guard_stop(guard);
    pwr_topo_close(topo);
    return result;
}
