/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command lines from a table.
 */
#include "config.h"

#include "pwr/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 32,
    /* getopt_long returns FIRST_KEY + the row's index for long names, the letter for short ones. */
    FIRST_KEY = 256,
};

static char why[96]; /* a number is not acceptable */

static void *member(const pwr_option_t *option, void *options)
{
    return (char *)options + option->at;
}

static bool is_within(const pwr_option_t *option, double number)
{
    return number >= option->least && number <= option->most;
}

static const char *not_within(const pwr_option_t *option, const char *kind)
{
    snprintf(why, sizeof why, "not a %s from %.10g to %.10g", kind, option->least, option->most);
    return why;
}

const char *pwr_option_flag(const pwr_option_t *option, void *options, char *value)
{
    (void)value;
    *(bool *)member(option, options) = true;
    return NULL;
}

const char *pwr_option_text(const pwr_option_t *option, void *options, char *value)
{
    *(const char **)member(option, options) = value;
    return NULL;
}

bool pwr_option_digits(const char *text, const char **end, unsigned long *number)
{
    char *stop;
    if (*text < '0' || *text > '9') {
        return false; /* strtoul would take blanks and signs */
    }
    errno = 0;
    *number = strtoul(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

const char *pwr_option_count(const pwr_option_t *option, void *options, char *value)
{
    const char *end;
    unsigned long number;
    if (!pwr_option_digits(value, &end, &number) || *end != '\0' ||
        !is_within(option, (double)number)) {
        return not_within(option, "whole number");
    }
    *(unsigned long *)member(option, options) = number;
    return NULL;
}

const char *pwr_option_int(const pwr_option_t *option, void *options, char *value)
{
    unsigned long number;
    pwr_option_t in_number = *option;
    in_number.at = 0;
    const char *reason = pwr_option_count(&in_number, &number, value);
    if (!reason) {
        *(int *)member(option, options) = (int)number;
    }
    return reason;
}

const char *pwr_option_real(const pwr_option_t *option, void *options, char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || !is_within(option, number)) {
        return not_within(option, "number");
    }
    *(double *)member(option, options) = number;
    return NULL;
}

/* ---- the command line ---- */

static void end_unless_first(const pwr_command_t *command)
{
    const char *rank = NULL;
    for (const char *const *name = command->ranks; name && *name && !rank; name++) {
        rank = getenv(*name);
    }
    if (rank && strcmp(rank, "0") != 0) {
        exit(0);
    }
}

void pwr_command_refuse(const pwr_command_t *command, const char *format, ...)
{
    va_list arguments;
    end_unless_first(command);
    va_start(arguments, format);
    fprintf(stderr, "%s: ", command->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static void print_option(const pwr_option_t *option)
{
    char left[64];
    const char *value = option->value ? option->value : "";
    if (option->letter != 0) {
        snprintf(left, sizeof left, "-%c, --%s %s", option->letter, option->name, value);
    } else {
        snprintf(left, sizeof left, "    --%s %s", option->name, value);
    }
    printf("  %-30s %s\n", left, option->help);
}

/* --help or --version. */
static _Noreturn void answer(const pwr_command_t *command, const pwr_option_t *rows,
                             const char *question)
{
    end_unless_first(command);
    if (strcmp(question, "version") == 0) {
        printf("%s (poweraware) %s\n", command->name, PACKAGE_VERSION);
        exit(0);
    }
    fputs(command->usage, stdout);
    for (; rows->name; rows++) {
        print_option(rows);
    }
    fputs(command->epilog ? command->epilog : "", stdout);
    exit(0);
}

static const pwr_option_t *option_of(const pwr_option_t *rows, int key)
{
    if (key >= FIRST_KEY) {
        return &rows[key - FIRST_KEY];
    }
    while (rows->name && (rows->letter == 0 || rows->letter != key)) {
        rows++;
    }
    return rows->name ? rows : NULL;
}

/* The command's rows and those that all commands have; the latter set nothing. */
static void make_rows(const pwr_option_t *options, pwr_option_t rows[ROWS_MAX])
{
    char version = option_of(options, 'v') ? 0 : 'v';
    while (options->name) {
        *rows++ = *options++;
    }
    rows[0] = (pwr_option_t){'h', "help", NULL, "print this and end", .set = NULL};
    rows[1] = (pwr_option_t){version, "version", NULL, "print the version and end", .set = NULL};
    rows[2] = (pwr_option_t){.name = NULL};
}

static void make_getopt_tables(const pwr_option_t *rows, char *letters, struct option *names)
{
    *letters++ = ':'; /* tell a missing value from an unknown option */
    for (int i = 0; rows[i].name; i++) {
        *names++ = (struct option){.name = rows[i].name,
                                   .has_arg = rows[i].value ? required_argument : no_argument,
                                   .val = FIRST_KEY + i};
        if (rows[i].letter != 0) {
            *letters++ = rows[i].letter;
            if (rows[i].value) {
                *letters++ = ':';
            }
        }
    }
    *names = (struct option){0};
    *letters = '\0';
}

/* What getopt_long did not accept; word is the argument it looked at last. */
static _Noreturn void refuse(const pwr_command_t *command, const pwr_option_t *option, int key,
                             const char *word)
{
    if (key == ':' && option) {
        pwr_command_refuse(command, "option --%s: needs a value, %s", option->name, option->value);
    } else if (option) {
        pwr_command_refuse(command, "option --%s: takes no value", option->name);
    } else if (optopt != 0) {
        pwr_command_refuse(command, "unknown option -%c (--help lists them)", optopt);
    } else {
        pwr_command_refuse(command, "unknown option %s (--help lists them)", word);
    }
}

void pwr_command_read(const pwr_command_t *command, void *options, const char **operand, int argc,
                      char **argv)
{
    pwr_option_t rows[ROWS_MAX];
    char letters[2 * ROWS_MAX + 2];
    struct option names[ROWS_MAX];
    make_rows(command->options, rows);
    make_getopt_tables(rows, letters, names);
    opterr = 0;
    int key;
    while ((key = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        if (key == '?' || key == ':') {
            refuse(command, option_of(rows, optopt), key, argv[optind - 1]);
        }
        const pwr_option_t *option = option_of(rows, key);
        if (!option->set) {
            answer(command, rows, option->name);
        }
        const char *reason = option->set(option, options, optarg);
        if (reason) {
            pwr_command_refuse(command, "option --%s: \"%s\" is %s", option->name, optarg, reason);
        }
    }
    if (operand && optind < argc) {
        *operand = argv[optind++];
    }
    if (optind < argc) {
        pwr_command_refuse(command, "unexpected argument \"%s\" (--help lists the options)",
                           argv[optind]);
    }
}
