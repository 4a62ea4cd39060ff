/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command lines from a table.
 */
#include "config.h"

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTIONS_MAX = 32,
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

static const pwr_option_t *option_of(const pwr_option_t *table, int key)
{
    if (key >= FIRST_KEY) {
        return &table[key - FIRST_KEY];
    }
    for (; table->name; table++) {
        if (table->letter != 0 && table->letter == key) {
            return table;
        }
    }
    return NULL;
}

static void make_getopt_tables(const pwr_option_t *table, char *letters, struct option *names)
{
    *letters++ = ':'; /* tell a missing value from an unknown option */
    for (int i = 0; table[i].name; i++) {
        *names++ = (struct option){.name = table[i].name,
                                   .has_arg = table[i].value ? required_argument : no_argument,
                                   .val = FIRST_KEY + i};
        if (table[i].letter != 0) {
            *letters++ = table[i].letter;
            if (table[i].value) {
                *letters++ = ':';
            }
        }
    }
    *names = (struct option){0};
    *letters = '\0';
}

/* What getopt_long did not accept; word is the argument it looked at last. */
static void explain_refusal(const pwr_option_t *option, int key, const char *word, char *error,
                            size_t size)
{
    if (key == ':' && option) {
        snprintf(error, size, "option --%s: needs a value, %s", option->name, option->value);
    } else if (option) {
        snprintf(error, size, "option --%s: takes no value", option->name);
    } else if (optopt != 0) {
        snprintf(error, size, "unknown option -%c (--help lists them)", optopt);
    } else {
        snprintf(error, size, "unknown option %s (--help lists them)", word);
    }
}

bool pwr_options_parse(const pwr_option_t *table, void *options, const char **operand, int argc,
                       char **argv, char *error, size_t size)
{
    char letters[2 * OPTIONS_MAX + 3];
    struct option names[OPTIONS_MAX + 1];
    make_getopt_tables(table, letters, names);
    opterr = 0;
    for (;;) {
        int key = getopt_long(argc, argv, letters, names, NULL);
        if (key == -1) {
            break;
        }
        if (key == '?' || key == ':') {
            explain_refusal(option_of(table, optopt), key, argv[optind - 1], error, size);
            return false;
        }
        const pwr_option_t *option = option_of(table, key);
        const char *reason = option->set(option, options, optarg);
        if (reason) {
            snprintf(error, size, "option --%s: \"%s\" is %s", option->name, optarg, reason);
            return false;
        }
    }
    if (operand && optind < argc) {
        *operand = argv[optind++];
    }
    if (optind < argc) {
        snprintf(error, size, "unexpected argument \"%s\" (--help lists the options)",
                 argv[optind]);
        return false;
    }
    return true;
}

void pwr_options_help(const pwr_option_t *table, FILE *out)
{
    for (; table->name; table++) {
        char left[64];
        const char *value = table->value ? table->value : "";
        if (table->letter != 0) {
            snprintf(left, sizeof left, "-%c, --%s %s", table->letter, table->name, value);
        } else {
            snprintf(left, sizeof left, "    --%s %s", table->name, value);
        }
        fprintf(out, "  %-30s %s\n", left, table->help);
    }
}

bool pwr_options_is_first(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *rank = getenv(variables[i]);
        if (rank) {
            return strcmp(rank, "0") == 0;
        }
    }
    return true;
}

int pwr_options_refuse(const char *program, const char *error)
{
    if (!pwr_options_is_first()) {
        return 0;
    }
    fprintf(stderr, "%s: %s\n", program, error);
    return 2;
}
