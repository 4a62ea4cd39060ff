/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command lines: one table of options, from which getopt's tables and the help text are made. Every
 * command has --help and --version besides.
 */
#ifndef PWR_COMMAND_H
#define PWR_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pwr_option pwr_option_t;

/* Takes value (NULL of a switch) into the program's structure; returns why it is not acceptable
   ("not a ..."), or NULL. */
typedef const char *pwr_option_set_t(const pwr_option_t *option, void *options, char *value);

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

typedef struct pwr_command {
    const char *name;
    const char *usage;           /* what --help says before the options ... */
    const char *epilog;          /* ... and after them; NULL: nothing */
    const pwr_option_t *options; /* the last row has no name */
    /* Of a program that many processes run together: the environment variables, up to a NULL, of
       which the first that is there has a process's number.  Only number 0 speaks. */
    const char *const *ranks;
} pwr_command_t;

/* Reads options and, unless operand is NULL, at most one argument that is none; of many processes
   before they know each other.  Ends the program for --help, for --version and for what is wrong.
 */
void pwr_command_read(const pwr_command_t *command, void *options, const char **operand, int argc,
                      char **argv);

/* Ends the program with status 2: which option is wrong and why, in one line.  Processes that do
   not speak end with 0: else their launcher might end the first one before it has spoken. */
_Noreturn void pwr_command_refuse(const pwr_command_t *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
