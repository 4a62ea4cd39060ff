/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the two kernels share.
 */
#include "config.h"

#include "kernel.h"
#include "pwr/command.h"
#include "../common/ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program for other command lines than "CLASS". */
static const pwr_npb_class_t *read_class(const char *kernel, const pwr_npb_class_t *classes,
                                         int argc, char **argv)
{
    static const pwr_option_t no_options[] = {{0}};
    char letters[16] = "";
    char usage[512];
    const char *wanted = "";
    const pwr_command_t command = {.name = basename(argv[0]),
                                   .usage = usage,
                                   .options = no_options,
                                   .ranks = pwr_rank_variables};
    for (int i = 0; classes[i].name != 0; i++) {
        snprintf(&letters[2 * i], sizeof letters - 2 * (size_t)i, " %c", classes[i].name);
    }
    snprintf(
        usage, sizeof usage,
        "usage: mpirun -np N %s CLASS\n\n"
        "A kernel with the communication of the NAS Parallel Benchmark %s, by the poweraware\n"
        "authors: not that benchmark. Prints times and whether the results are right; exit status\n"
        "0 if they are. Classes:%s\n\n",
        command.name, kernel, letters);
    pwr_command_read(&command, NULL, &wanted, argc, argv);
    for (; classes->name != 0; classes++) {
        if (wanted[0] == classes->name && wanted[1] == '\0') {
            return classes;
        }
    }
    pwr_command_refuse(&command, "usage: mpirun -np N %s CLASS, one of%s", command.name, letters);
}

pwr_npb_run_t pwr_npb_start(const char *kernel, const pwr_npb_class_t *classes, int argc,
                            char **argv)
{
    pwr_npb_run_t run = {.kernel = kernel, .class = read_class(kernel, classes, argc, argv)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.np);
    if (run.rank == 0) {
        printf("%s-like kernel of poweraware (not NPB), class %c\n", kernel, run.class->name);
        printf("Processes        = %d\nIterations       = %d\n", run.np, run.class->iterations);
    }
    return run;
}

void pwr_npb_refuse(const pwr_npb_run_t *run, const char *format, ...)
{
    if (run->rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s-like kernel: ", run->kernel);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    MPI_Finalize();
    exit(1);
}

void *pwr_npb_allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes: take a smaller class or more nodes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    return memory;
}

void pwr_npb_begin(pwr_npb_run_t *run)
{
    MPI_Barrier(MPI_COMM_WORLD);
    run->inside_s = 0;
    run->begin_s = MPI_Wtime();
}

void pwr_npb_end(pwr_npb_run_t *run)
{
    MPI_Barrier(MPI_COMM_WORLD);
    run->seconds = MPI_Wtime() - run->begin_s;
}

int pwr_npb_report(const pwr_npb_run_t *run, bool right)
{
    int mine = right;
    int all = 0;
    double inside_s = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Reduce(&run->inside_s, &inside_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (run->rank == 0) {
        printf("Exchange seconds = %.6f (mean over processes)\n", inside_s / run->np);
        printf("Time in seconds  = %.6f\n", run->seconds);
        printf("Verification     = %s\n", all != 0 ? "SUCCESSFUL" : "UNSUCCESSFUL");
        fflush(stdout);
    }
    return all != 0 ? 0 : 1;
}

/* ---- random numbers ---- */

enum { MODULUS_BITS = 46 };
static const uint64_t multiplier = 1220703125; /* 5^13 */
static const uint64_t seed = 314159265;
static const uint64_t low_bits = ((uint64_t)1 << MODULUS_BITS) - 1;

/* The low 46 bits of a product are those of the product modulo 2^64. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return (a * b) & low_bits;
}

pwr_npb_random_t pwr_npb_random_at(uint64_t index)
{
    uint64_t state = seed;
    for (uint64_t power = multiplier; index != 0; index >>= 1, power = times(power, power)) {
        if ((index & 1) != 0) {
            state = times(state, power);
        }
    }
    return state;
}

double pwr_npb_random(pwr_npb_random_t *state)
{
    *state = times(*state, multiplier);
    return (double)*state / (double)((uint64_t)1 << MODULUS_BITS);
}
