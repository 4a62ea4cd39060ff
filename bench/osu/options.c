/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of the collective benchmarks: one table, from which getopt's strings and the help
 * text are made.
 */
#include "config.h"

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Takes value (NULL for a switch); returns why it is not acceptable, or NULL. */
typedef const char *setter_t(pwr_osu_options_t *options, const char *value);

typedef struct row {
    char letter; /* 0: the long name only */
    const char *name;
    const char *value; /* its name in the help; NULL for a switch */
    setter_t *set;
    const char *help;
} row_t;

static bool parse_number(const char *text, unsigned long max, unsigned long *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') {
        return false; /* strtoul would take blanks and signs */
    }
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > max) {
        return false;
    }
    *number = value;
    return true;
}

static const char *set_message_size(pwr_osu_options_t *options, const char *value)
{
    static const char reason[] = "not [MIN:]MAX in bytes, each at most 2147483647";
    const char *colon = strchr(value, ':');
    const char *max_text = colon ? colon + 1 : value;
    unsigned long number;
    if (colon) {
        char min_text[16] = "";
        if ((size_t)(colon - value) >= sizeof min_text) {
            return reason;
        }
        memcpy(min_text, value, (size_t)(colon - value));
        if (!parse_number(min_text, INT_MAX, &number)) {
            return reason;
        }
        options->min_bytes = number;
        if (*max_text == '\0') {
            return NULL; /* "MIN:" keeps the default maximum */
        }
    }
    if (!parse_number(max_text, INT_MAX, &number)) {
        return reason;
    }
    options->max_bytes = number;
    return NULL;
}

static const char *set_iterations(pwr_osu_options_t *options, const char *value)
{
    unsigned long number;
    if (!parse_number(value, INT_MAX, &number) || number == 0) {
        return "not a whole number from 1 on";
    }
    options->small.timed = options->large.timed = number;
    return NULL;
}

static const char *set_warmup(pwr_osu_options_t *options, const char *value)
{
    unsigned long number;
    if (!parse_number(value, INT_MAX, &number)) {
        return "not a whole number from 0 on";
    }
    options->small.warmup = options->large.warmup = number;
    return NULL;
}

static const char *set_mem_limit(pwr_osu_options_t *options, const char *value)
{
    unsigned long number;
    if (!parse_number(value, ULONG_MAX, &number) || number == 0) {
        return "not a number of bytes from 1 on";
    }
    options->mem_limit = number;
    return NULL;
}

static const char *set_validated_calls(pwr_osu_options_t *options, const char *value)
{
    if (!parse_number(value, INT_MAX, &options->validated_calls) || options->validated_calls == 0) {
        return "not a whole number from 1 on";
    }
    return NULL;
}

static const char *set_root(pwr_osu_options_t *options, const char *value)
{
    unsigned long number;
    if (strcmp(value, "rotate") == 0) {
        options->root = PWR_OSU_ROOT_ROTATES;
        return NULL;
    }
    if (!parse_number(value, INT_MAX, &number)) {
        return "neither a rank nor \"rotate\"";
    }
    options->root = (int)number;
    return NULL;
}

static const char *set_json(pwr_osu_options_t *options, const char *value)
{
    options->json_path = value;
    return NULL;
}

static const char *set_validation(pwr_osu_options_t *options, const char *value)
{
    (void)value;
    options->validate = true;
    return NULL;
}

static const char *set_full(pwr_osu_options_t *options, const char *value)
{
    (void)value;
    options->full = true;
    return NULL;
}

static const char *set_help(pwr_osu_options_t *options, const char *value)
{
    (void)value;
    options->help = true;
    return NULL;
}

static const char *set_version(pwr_osu_options_t *options, const char *value)
{
    (void)value;
    options->version = true;
    return NULL;
}

static const row_t rows[] = {
    {'m', "message-size", "[MIN:]MAX", set_message_size,
     "message sizes in bytes, doubled from MIN to MAX (\"MIN:\" keeps MAX)"},
    {'i', "iterations", "N", set_iterations,
     "timed calls per size (default 1000, above 8192 bytes 100)"},
    {'x', "warmup", "N", set_warmup,
     "calls per size before the timed ones (default 200, above 8192 bytes 20)"},
    {'M', "mem-limit", "BYTES", set_mem_limit,
     "message buffers per process; larger sizes are left out (default 536870912)"},
    {'c', "validation", NULL, set_validation,
     "check every byte, in calls of their own after the timed ones"},
    {0, "validation-calls", "N", set_validated_calls,
     "checked calls per size, each with other data (default 10)"},
    {'f', "full", NULL, set_full, "also print the fastest and slowest rank and the iterations"},
    {0, "root", "R|rotate", set_root, "root rank, or another one in each call (default 0)"},
    {0, "json", "FILE", set_json, "also write the results, times and CPU seconds as JSON"},
    {'h', "help", NULL, set_help, "print this and end"},
    {'v', "version", NULL, set_version, "print the version and end"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* getopt_long returns FIRST_KEY + the row's index for long names, the letter for short ones. */
enum { FIRST_KEY = 256 };

static const row_t *row_of(int key)
{
    if (key >= FIRST_KEY) {
        return &rows[key - FIRST_KEY];
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].letter != 0 && rows[i].letter == key) {
            return &rows[i];
        }
    }
    return NULL;
}

static void make_getopt_tables(char letters[2 * ROWS + 3], struct option names[ROWS + 1])
{
    *letters++ = '+'; /* no reordering: what is not an option is an error */
    *letters++ = ':'; /* tell a missing value from an unknown option */
    for (size_t i = 0; i < ROWS; i++) {
        names[i] = (struct option){.name = rows[i].name,
                                   .has_arg = rows[i].value ? required_argument : no_argument,
                                   .val = FIRST_KEY + (int)i};
        if (rows[i].letter != 0) {
            *letters++ = rows[i].letter;
            if (rows[i].value) {
                *letters++ = ':';
            }
        }
    }
    names[ROWS] = (struct option){0};
    *letters = '\0';
}

/* What getopt_long did not accept; word is the argument it was looking at. */
static void explain_refusal(int key, const char *word, char *error, size_t size)
{
    const row_t *row = row_of(optopt);
    if (key == ':' && row) {
        snprintf(error, size, "option --%s: needs a value, %s", row->name, row->value);
    } else if (row) {
        snprintf(error, size, "option --%s: takes no value", row->name);
    } else if (optopt != 0) {
        snprintf(error, size, "unknown option -%c (--help lists them)", optopt);
    } else {
        snprintf(error, size, "unknown option %s (--help lists them)", word);
    }
}

static bool parse_words(pwr_osu_options_t *options, int argc, char **argv, char *error, size_t size)
{
    char letters[2 * ROWS + 3];
    struct option names[ROWS + 1];
    make_getopt_tables(letters, names);
    opterr = 0;
    for (;;) {
        const char *word = argv[optind];
        int key = getopt_long(argc, argv, letters, names, NULL);
        if (key == -1) {
            break;
        }
        if (key == '?' || key == ':') {
            explain_refusal(key, word, error, size);
            return false;
        }
        const row_t *row = row_of(key);
        const char *reason = row->set(options, optarg);
        if (reason) {
            snprintf(error, size, "option --%s: \"%s\" is %s", row->name, optarg, reason);
            return false;
        }
    }
    if (optind < argc) {
        snprintf(error, size, "unexpected argument \"%s\" (--help lists the options)",
                 argv[optind]);
        return false;
    }
    return true;
}

/* What no single option can know. */
static bool check_together(pwr_osu_options_t *options, const pwr_osu_benchmark_t *benchmark, int np,
                           char *error, size_t size)
{
    if (options->root != 0 && !benchmark->rooted) {
        snprintf(error, size, "option --root: this collective has no root");
        return false;
    }
    if (options->root >= np) {
        snprintf(error, size, "option --root: %d is not one of the %d ranks (0 to %d)",
                 options->root, np, np - 1);
        return false;
    }
    if (benchmark->unit == 0) {
        if (options->max_bytes != 0) {
            snprintf(error, size, "option --message-size: this collective has no messages");
        }
        return options->max_bytes == 0;
    }
    if (options->min_bytes < benchmark->unit && benchmark->unit > 1) {
        options->min_bytes = benchmark->unit; /* as OSU does: one element at least */
    }
    if (options->min_bytes % benchmark->unit != 0) {
        snprintf(error, size, "option --message-size: MIN %zu is not a multiple of %zu (%s)",
                 options->min_bytes, benchmark->unit, benchmark->datatype);
        return false;
    }
    if (options->min_bytes > options->max_bytes) {
        snprintf(error, size, "option --message-size: MIN %zu is above MAX %zu", options->min_bytes,
                 options->max_bytes);
        return false;
    }
    return true;
}

bool pwr_osu_options_parse(pwr_osu_options_t *options, const pwr_osu_benchmark_t *benchmark, int np,
                           int argc, char **argv, char *error, size_t size)
{
    *options = (pwr_osu_options_t){
        .min_bytes = benchmark->unit,
        .max_bytes = benchmark->unit == 0 ? 0 : 1 << 20,
        .small = {.timed = 1000, .warmup = 200},
        .large = {.timed = 100, .warmup = 20},
        .validated_calls = 10,
        .mem_limit = 512ul << 20,
    };
    if (!parse_words(options, argc, argv, error, size)) {
        return false;
    }
    return options->help || options->version || check_together(options, benchmark, np, error, size);
}

pwr_osu_calls_t pwr_osu_options_calls(const pwr_osu_options_t *options, size_t bytes)
{
    return bytes > PWR_OSU_LARGE_BYTES ? options->large : options->small;
}

void pwr_osu_options_help(const pwr_osu_benchmark_t *benchmark, FILE *out)
{
    fprintf(out, "usage: mpirun -np N %s [options]\nLatency of the MPI collective",
            benchmark->name);
    if (benchmark->unit > 0) {
        fprintf(out, " over message sizes %zu to 1048576 bytes (%s)", benchmark->unit,
                benchmark->datatype);
    }
    fprintf(out, ".\nOptions and output are those of the OSU micro-benchmarks.\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        char left[64];
        const char *value = rows[i].value ? rows[i].value : "";
        if (rows[i].letter != 0) {
            snprintf(left, sizeof left, "-%c, --%s %s", rows[i].letter, rows[i].name, value);
        } else {
            snprintf(left, sizeof left, "    --%s %s", rows[i].name, value);
        }
        fprintf(out, "  %-30s %s\n", left, rows[i].help);
    }
    fprintf(out,
            "\nexit status: 0, 1 (wrong data, or a file that cannot be written), 2 (options)\n");
}
