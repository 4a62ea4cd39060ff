/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of the collective benchmarks.
 */
#include "config.h"

#include "harness.h"
#include "pwr/command.h"
#include "../common/ranks.h"

#include <limits.h>
#include <string.h>

static const char *set_message_size(const pwr_option_t *option, void *to, char *value)
{
    static const char reason[] = "not [MIN:]MAX in bytes, each at most 2147483647";
    pwr_osu_options_t *options = to;
    const char *end;
    unsigned long first;
    unsigned long last = options->max_bytes; /* "MIN:" keeps the default maximum */
    (void)option;
    if (!pwr_option_digits(value, &end, &first) || first > INT_MAX) {
        return reason;
    }
    if (*end == '\0') {
        options->max_bytes = first;
        return NULL;
    }
    if (*end++ != ':' || (*end != '\0' && (!pwr_option_digits(end, &end, &last) || last > INT_MAX ||
                                           *end != '\0'))) {
        return reason;
    }
    options->min_bytes = first;
    options->max_bytes = last;
    return NULL;
}

/* Of small and of large messages. */
static const char *set_calls(const pwr_option_t *option, void *to, char *value)
{
    pwr_osu_options_t *options = to;
    pwr_osu_calls_t *small = &options->small;
    const char *reason = pwr_option_count(option, small, value);
    if (!reason) {
        memcpy((char *)&options->large + option->at, (char *)small + option->at,
               sizeof(unsigned long));
    }
    return reason;
}

static const char *set_root(const pwr_option_t *option, void *to, char *value)
{
    pwr_osu_options_t *options = to;
    if (strcmp(value, "rotate") == 0) {
        options->root = PWR_OSU_ROOT_ROTATES;
        return NULL;
    }
    return pwr_option_int(option, to, value) ? "neither a rank nor \"rotate\"" : NULL;
}

#define AT(member) .at = offsetof(pwr_osu_options_t, member)
static const pwr_option_t table[] = {
    {'m', "message-size", "[MIN:]MAX",
     "message sizes in bytes, doubled from MIN to MAX (\"MIN:\" keeps MAX)",
     .set = set_message_size},
    {'i', "iterations", "N", "timed calls per size (default 1000, above 8192 bytes 100)", set_calls,
     offsetof(pwr_osu_calls_t, timed), 1, INT_MAX},
    {'x', "warmup", "N", "calls per size before the timed ones (default 200, above 8192 bytes 20)",
     set_calls, offsetof(pwr_osu_calls_t, warmup), 0, INT_MAX},
    {0, "least-ms", "MS", "make the timed calls again until they have taken so long (default 0)",
     pwr_option_count, AT(least_ms), 0, INT_MAX},
    {0, "cold", "BYTES",
     "write so much memory of the rank's own before each call, as programs do (default 0)",
     pwr_option_count, AT(cold_bytes), 0, INT_MAX},
    {'M', "mem-limit", "BYTES",
     "message buffers per process; larger sizes are left out (default 536870912)", pwr_option_count,
     AT(mem_limit), 1, INT64_MAX},
    {'c', "validation", NULL, "check every byte, in calls of their own after the timed ones",
     pwr_option_flag, AT(validate)},
    {0, "validation-calls", "N", "checked calls per size, each with other data (default 10)",
     pwr_option_count, AT(validated_calls), 1, INT_MAX},
    {'f', "full", NULL, "also print the fastest and slowest rank and the iterations",
     pwr_option_flag, AT(full)},
    {0, "root", "R|rotate", "root rank, or another one in each call (default 0)", set_root,
     AT(root), 0, INT_MAX},
    {0, "json", "FILE", "also write the results, times and CPU seconds as JSON", pwr_option_text,
     AT(json_path)},
    {0},
};

/* What no single option can know. */
static void check_together(const pwr_command_t *command, pwr_osu_options_t *options,
                           const pwr_osu_benchmark_t *benchmark)
{
    size_t unit = benchmark->data->unit;
    if (options->root != 0 && !benchmark->rooted) {
        pwr_command_refuse(command, "option --root: this collective has no root");
    }
    if (unit == 0 && options->max_bytes != 0) {
        pwr_command_refuse(command, "option --message-size: this collective has no messages");
    }
    if (options->min_bytes < unit && unit > 1) {
        options->min_bytes = unit; /* as OSU does: one element at least */
    }
    if (unit > 0 && options->min_bytes % unit != 0) {
        pwr_command_refuse(command, "option --message-size: MIN %zu is not a multiple of %zu (%s)",
                           options->min_bytes, unit, benchmark->data->datatype);
    }
    if (options->min_bytes > options->max_bytes) {
        pwr_command_refuse(command, "option --message-size: MIN %zu is above MAX %zu",
                           options->min_bytes, options->max_bytes);
    }
}

pwr_osu_options_t pwr_osu_options_read(const pwr_osu_benchmark_t *benchmark, int argc, char **argv)
{
    char name[64];
    char sizes[96] = "";
    char usage[512];
    const pwr_command_t command = {
        .name = name,
        .usage = usage,
        .epilog =
            "\nexit status: 0, 1 (wrong data, or a file that cannot be written), 2 (options)\n",
        .options = table,
        .ranks = pwr_rank_variables,
    };
    pwr_osu_options_t options = {
        .min_bytes = benchmark->data->unit,
        .max_bytes = benchmark->data->unit == 0 ? 0 : 1 << 20,
        .small = {.timed = 1000, .warmup = 200},
        .large = {.timed = 100, .warmup = 20},
        .validated_calls = 10,
        .mem_limit = 512ul << 20,
    };
    snprintf(name, sizeof name, "%s%s", pwr_osu_suite.prefix, benchmark->name);
    if (benchmark->data->unit > 0) {
        snprintf(sizes, sizeof sizes, " over message sizes %zu to 1048576 bytes (%s)",
                 benchmark->data->unit, benchmark->data->datatype);
    }
    snprintf(usage, sizeof usage, "usage: mpirun -np N %s [options]\nLatency of %s%s.\n%s\n\n",
             name, pwr_osu_suite.what ? pwr_osu_suite.what : benchmark->title, sizes,
             pwr_osu_suite.note);
    pwr_command_read(&command, &options, NULL, argc, argv);
    check_together(&command, &options, benchmark);
    return options;
}
