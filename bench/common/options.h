/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command lines of the benchmarks in C: one table of options, from which getopt's tables and the
 * help text are made.
 */
#ifndef PWR_BENCH_OPTIONS_H
#define PWR_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct pwr_option pwr_option_t;

/* Takes value (NULL of a switch) into the program's structure; returns why it is not acceptable
   ("not a ..."), or NULL. */
typedef const char *pwr_option_set_t(const pwr_option_t *option, void *options, char *value);

/* A table ends with a row without a name. */
struct pwr_option {
    char letter; /* 0: the long name only */
    const char *name;
    const char *value; /* its name in the help; NULL: a switch */
    const char *help;
    pwr_option_set_t *set;
    size_t at; /* offset of the member that the functions below write */
    double least;
    double most;
};

pwr_option_set_t pwr_option_flag; /* bool: true */
pwr_option_set_t pwr_option_text; /* const char *: points into argv */
/* Numbers from least to most. */
pwr_option_set_t pwr_option_int;
pwr_option_set_t pwr_option_count; /* unsigned long */
pwr_option_set_t pwr_option_real;

/* A number without sign and blanks; *end is what follows it. */
bool pwr_option_digits(const char *text, const char **end, unsigned long *number);

/* Options and, unless operand is NULL, at most one argument that is none.  False: error[size] says
   which option and why, in one line. */
bool pwr_options_parse(const pwr_option_t *table, void *options, const char **operand, int argc,
                       char **argv, char *error, size_t size);

/* Of mpirun's and srun's ranks only the first one speaks, before MPI_Init says which it is. */
bool pwr_options_is_first(void);

/* The same of what parse said is wrong.  Returns the exit status: 2; of other ranks 0, or mpirun
   might end the first one because of them before it has spoken. */
int pwr_options_refuse(const char *program, const char *error);

void pwr_options_help(const pwr_option_t *table, FILE *out);

#endif
