/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of poweraware-tune.
 */
#include "config.h"

#include "tune.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes value; returns why it is not acceptable, or NULL. */
typedef const char *setter_t(tune_options_t *options, char *value);

typedef struct row {
    char letter; /* 0: the long name only */
    const char *name;
    const char *value; /* its name in the help; NULL for a switch */
    setter_t *set;
    const char *help;
} row_t;

static const size_t all_sizes[] = {8, 64, 512, 4096, 32768, 262144, 1048576, 4194304};
static const size_t quick_sizes[] = {8, 4096, 262144};

static bool parse_size(const char *text, const char **end, unsigned long *number)
{
    char *stop;
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *number = strtoul(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

static bool parse_real(const char *text, double least, double most, double *number)
{
    char *stop;
    double value = strtod(text, &stop);
    if (stop == text || *stop != '\0' || !(value >= least && value <= most)) {
        return false;
    }
    *number = value;
    return true;
}

static const char *set_output(tune_options_t *options, char *value)
{
    options->output = value;
    return NULL;
}

static const char *set_measurements(tune_options_t *options, char *value)
{
    options->measurements = value;
    return NULL;
}

static const char *set_from(tune_options_t *options, char *value)
{
    char **longer = realloc(options->from, (size_t)(options->num_from + 1) * sizeof *longer);
    if (!longer) {
        return "too much";
    }
    options->from = longer;
    options->from[options->num_from++] = value;
    return NULL;
}

static const char *set_source(tune_options_t *options, char *value)
{
    options->source = value;
    return NULL;
}

static const char *set_layouts(tune_options_t *options, char *value)
{
    options->layouts = value;
    return NULL;
}

static const char *set_collectives(tune_options_t *options, char *value)
{
    options->collectives = value;
    return NULL;
}

static const char *set_variants(tune_options_t *options, char *value)
{
    options->variants = value;
    return NULL;
}

static const char *set_sizes(tune_options_t *options, char *value)
{
    const char *next = value;
    options->num_sizes = 0;
    do {
        unsigned long number;
        next += *next == ',';
        if (options->num_sizes == TUNE_SIZES_MAX || !parse_size(next, &next, &number) ||
            number == 0 || number % sizeof(float) != 0 || number > INT_MAX) {
            return "not a list of sizes in bytes, each a multiple of 4";
        }
        options->sizes[options->num_sizes++] = number;
    } while (*next == ',');
    return *next == '\0' ? NULL : "not a list of sizes in bytes";
}

static const char *set_margin(tune_options_t *options, char *value)
{
    options->margin *= 100;
    bool good = parse_real(value, 0, 50, &options->margin);
    options->margin /= 100;
    return good ? NULL : "not a percentage from 0 to 50";
}

static const char *set_saving(tune_options_t *options, char *value)
{
    options->saving *= 100;
    bool good = parse_real(value, 0, 100, &options->saving);
    options->saving /= 100;
    return good ? NULL : "not a percentage from 0 to 100";
}

static const char *set_seconds(tune_options_t *options, char *value)
{
    return parse_real(value, 0.001, 3600, &options->seconds) ? NULL : "not a number of seconds";
}

static const char *set_blocks(tune_options_t *options, char *value)
{
    double number;
    if (!parse_real(value, 3, TUNE_BLOCKS_MAX, &number)) {
        return "not a number from 3 to 200";
    }
    options->blocks = (int)number;
    return NULL;
}

static const char *set_seed(tune_options_t *options, char *value)
{
    const char *end;
    return parse_size(value, &end, &options->seed) && *end == '\0' ? NULL : "not a number";
}

static const char *set_mem_limit(tune_options_t *options, char *value)
{
    const char *end;
    unsigned long number;
    if (!parse_size(value, &end, &number) || *end != '\0' || number == 0) {
        return "not a number of bytes from 1 on";
    }
    options->mem_limit = number;
    return NULL;
}

static const char *set_quick(tune_options_t *options, char *value)
{
    (void)value;
    memcpy(options->sizes, quick_sizes, sizeof quick_sizes);
    options->num_sizes = sizeof quick_sizes / sizeof quick_sizes[0];
    options->seconds = 0.05;
    options->blocks = 5;
    return NULL;
}

static const char *set_help(tune_options_t *options, char *value)
{
    (void)value;
    options->help = true;
    return NULL;
}

static const char *set_version(tune_options_t *options, char *value)
{
    (void)value;
    options->version = true;
    return NULL;
}

static const row_t rows[] = {
    {'o', "output", "FILE", set_output, "decision table to write"},
    {'m', "measurements", "FILE", set_measurements, "also write what was measured"},
    {'f', "from", "FILE", set_from, "measure nothing, decide from such a file; may be repeated"},
    {'l', "layouts", "NxP,...", set_layouts,
     "nodes x ranks per node; \"world\": all ranks; default: powers of two up to all"},
    {'c', "collectives", "C,...", set_collectives, "default: all"},
    {'s', "sizes", "BYTES,...", set_sizes, "message sizes (default: 8 to 4194304)"},
    {'V', "variants", "V,...", set_variants,
     "stock, our algorithms, auto, tuned, basic, sm, adapt, xhc, han (default: stock and ours)"},
    {0, "margin", "PERCENT", set_margin, "stock stays where ours gains less time (default 3)"},
    {0, "saving", "PERCENT", set_saving,
     "... unless ours saves so much CPU time within the margin (default 20)"},
    {0, "seconds", "S", set_seconds, "time for each collective and size (default 0.5)"},
    {0, "blocks", "N", set_blocks, "interleaved blocks of calls of each variant (default 21)"},
    {'q', "quick", NULL, set_quick, "three sizes, short blocks: to see whether it works"},
    {0, "seed", "N", set_seed, "of the order within blocks (default 1)"},
    {'M', "mem-limit", "BYTES", set_mem_limit,
     "message buffers per rank; larger sizes are left out (default 268435456)"},
    {0, "source", "TEXT", set_source, "source of the table (default: the command)"},
    {'h', "help", NULL, set_help, "print this and end"},
    {'v', "version", NULL, set_version, "print the version and end"},
};
enum { ROWS = sizeof rows / sizeof rows[0], FIRST_KEY = 256 };

static void make_getopt_tables(char letters[2 * ROWS + 3], struct option names[ROWS + 1])
{
    *letters++ = '+';
    *letters++ = ':';
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

static const row_t *row_of(int key)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (key == FIRST_KEY + (int)i || (rows[i].letter != 0 && rows[i].letter == key)) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool check_together(const tune_options_t *options, char *error, size_t size)
{
    if (!options->output && !options->measurements) {
        snprintf(error, size, "nothing to do: give --output, --measurements or both");
        return false;
    }
    if (options->num_from > 0 && (options->measurements || !options->output)) {
        snprintf(error, size, "option --from: decides only; give --output and no --measurements");
        return false;
    }
    return true;
}

bool tune_options_parse(tune_options_t *options, int argc, char **argv, char *error, size_t size)
{
    char letters[2 * ROWS + 3];
    struct option names[ROWS + 1];
    *options = (tune_options_t){.margin = 0.03,
                                .saving = 0.20,
                                .seconds = 0.5,
                                .blocks = 21,
                                .seed = 1,
                                .mem_limit = 256ul << 20,
                                .num_sizes = sizeof all_sizes / sizeof all_sizes[0]};
    memcpy(options->sizes, all_sizes, sizeof all_sizes);
    make_getopt_tables(letters, names);
    opterr = 0;
    for (;;) {
        const char *word = argv[optind];
        int key = getopt_long(argc, argv, letters, names, NULL);
        if (key == -1) {
            break;
        }
        const row_t *row = row_of(key);
        if (!row) {
            snprintf(error, size, "option %s is not known or lacks its value (--help lists them)",
                     word);
            return false;
        }
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
    return options->help || options->version || check_together(options, error, size);
}

void tune_options_help(void)
{
    fputs("usage: mpirun -np N [mpirun options] poweraware-tune --output FILE [options]\n"
          "       poweraware-tune --from FILE --output FILE\n"
          "Measures where the algorithms of coll_poweraware pay on this machine and writes the\n"
          "decision table of its scheme auto (coll_poweraware_decision_table).\n\n",
          stdout);
    for (size_t i = 0; i < ROWS; i++) {
        char left[64];
        const char *value = rows[i].value ? rows[i].value : "";
        if (rows[i].letter != 0) {
            snprintf(left, sizeof left, "-%c, --%s %s", rows[i].letter, rows[i].name, value);
        } else {
            snprintf(left, sizeof left, "    --%s %s", rows[i].name, value);
        }
        printf("  %-27s %s\n", left, rows[i].help);
    }
    fputs(
        "\nexit status: 0, 1 (nothing usable was measured, or a file cannot be read or written),\n"
        "2 (options)\n",
        stdout);
}

bool tune_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}
