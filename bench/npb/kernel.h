/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the two kernels share: the command line, the random numbers, the report.
 *
 * They do what the benchmarks FT and IS of the NAS Parallel Benchmarks are specified to do (Bailey
 * et al., RNR-94-007) with the same collectives, and are not those benchmarks.
 */
#ifndef PWR_NPB_KERNEL_H
#define PWR_NPB_KERNEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of a class, by name; the last one has the name 0. */
typedef struct pwr_npb_class {
    char name;
    int iterations;
    int size[3]; /* FT: x, y, z; IS: log2 of the number of keys, log2 of what keys are below */
} pwr_npb_class_t;

typedef struct pwr_npb_run {
    const char *kernel; /* "FT" */
    const pwr_npb_class_t *class;
    int rank;
    int np;
    double begin_s;
    double seconds;
    double inside_s; /* of this rank, in its large exchanges */
} pwr_npb_run_t;

/* MPI_Init, the command line "CLASS", --help.  Ends the program, and says why, for others.
   kernel: the benchmark that it is like. */
pwr_npb_run_t pwr_npb_start(const char *kernel, const pwr_npb_class_t *classes, int argc,
                            char **argv);

/* Rank 0 says why (printf), and all end the job with status 1 through MPI_Finalize. */
_Noreturn void pwr_npb_refuse(const pwr_npb_run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* bytes bytes, or the job ends and says so. */
void *pwr_npb_allocate(size_t bytes);

/* What is timed, by all ranks. */
void pwr_npb_begin(pwr_npb_run_t *run);
void pwr_npb_end(pwr_npb_run_t *run);

/* Rank 0 prints the end of the report.  Returns the exit status: 0 if all ranks' results are right.
 */
int pwr_npb_report(const pwr_npb_run_t *run, bool right);

/* ---- random numbers: x' = 5^13 x mod 2^46, from x = 314159265 ---- */

typedef uint64_t pwr_npb_random_t;

/* The state from which the next number is that at an index. */
pwr_npb_random_t pwr_npb_random_at(uint64_t index);

/* In (0, 1). */
double pwr_npb_random(pwr_npb_random_t *state);

#endif
