/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reading the command line, and writing what repeats a call.
 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: check_collectives [options]\n"
    "  --seed S             what all calls are drawn from (1)\n"
    "  --calls N            how many (200)\n"
    "  --first N            number of the first one (0)\n"
    "  --again N            after so many the same ones again, as often as --calls wants\n"
    "  --rounds FILE        a byte for each time that the calls of --again are through\n"
    "  --only NAME[,..]     these collectives, as in MPI_<name>, lower case\n"
    "  --modes NAME[,..]    of blocking, nonblocking, persistent, big (64-bit counts)\n"
    "  --most-bytes N       data in a rank's buffer, at most (240000)\n"
    "  --beyond-stock       also calls that Open MPI's own functions get wrong (known_faults.c)\n"
    "  --fresh              each call on a communicator of its own\n"
    "  --device[=all]       blocking calls with some (all) buffers on a GPU, by libcuda.so.1\n"
    "  --threads 1..8       each with communicators of its own (1)\n"
    "  --limit SECONDS      a call that takes longer hangs (100)\n"
    "  --reproducible       sums that round; the results of two runs must have the same digests\n"
    "  --digests FILE       a line for each result\n"
    "  --call SEED          only the call with this seed\n"
    "  --simpler MASK, --most-units N   that call made simpler and smaller\n"
    "  --fault[=UNITS]      flip a byte of each result (of blocks of at least as many units)\n"
    "  --stay               do not look for the smallest call that fails\n";

typedef const char *(*name_of_t)(int);

static const char *collective_name(int i)
{
    return diff_collective_name((diff_collective_t)i);
}

static const char *mode_name(int i)
{
    return diff_mode_name((diff_mode_t)i);
}

/* A list of names with commas between them, as bits; 0 where one is unknown. */
static unsigned parse_names(const char *list, name_of_t name_of, int num)
{
    unsigned bits = 0;
    while ('\0' != *list) {
        size_t length = strcspn(list, ",");
        unsigned bit = 0;
        for (int i = 0; i < num; ++i) {
            const char *name = name_of(i);
            if (strlen(name) == length && 0 == strncmp(name, list, length)) {
                bit = 1u << i;
            }
        }
        if (0 == bit) {
            return 0;
        }
        bits |= bit;
        list += length + (',' == list[length]);
    }
    return bits;
}

static void format_names(unsigned bits, name_of_t name_of, int num, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < num; ++i) {
        size_t used = strlen(text);
        if (0 != (bits >> i & 1)) {
            snprintf(text + used, size - used, "%s%s", 0 == used ? "" : ",", name_of(i));
        }
    }
}

enum { ALL_COLLECTIVES = (1 << DIFF_NUM_COLLECTIVES) - 1, ALL_MODES = (1 << DIFF_NUM_MODES) - 1 };
enum { MOST_BYTES = 240000 };

static const diff_options_t defaults = {
    .choice = {.collectives = ALL_COLLECTIVES, .modes = ALL_MODES, .most_bytes = MOST_BYTES},
    .limits = {.most_units = SIZE_MAX},
    .seed = 1,
    .calls = 200,
    .threads = 1,
    .limit_s = 100,
};

enum long_option {
    SEED,
    CALLS,
    FIRST,
    AGAIN,
    ROUNDS,
    ONLY,
    MODES,
    MOST,
    THREADS,
    LIMIT,
    REPRODUCIBLE,
    BEYOND_STOCK,
    FRESH,
    DIGESTS,
    CALL,
    SIMPLER,
    UNITS,
    FAULT,
    STAY,
    DEVICE
};

static const struct option longs[] = {
    {"seed", required_argument, NULL, SEED},
    {"calls", required_argument, NULL, CALLS},
    {"first", required_argument, NULL, FIRST},
    {"again", required_argument, NULL, AGAIN},
    {"rounds", required_argument, NULL, ROUNDS},
    {"only", required_argument, NULL, ONLY},
    {"modes", required_argument, NULL, MODES},
    {"most-bytes", required_argument, NULL, MOST},
    {"threads", required_argument, NULL, THREADS},
    {"limit", required_argument, NULL, LIMIT},
    {"reproducible", no_argument, NULL, REPRODUCIBLE},
    {"beyond-stock", no_argument, NULL, BEYOND_STOCK},
    {"fresh", no_argument, NULL, FRESH},
    {"digests", required_argument, NULL, DIGESTS},
    {"call", required_argument, NULL, CALL},
    {"simpler", required_argument, NULL, SIMPLER},
    {"most-units", required_argument, NULL, UNITS},
    {"fault", optional_argument, NULL, FAULT},
    {"stay", no_argument, NULL, STAY},
    {"device", optional_argument, NULL, DEVICE},
    {NULL, 0, NULL, 0},
};

/* Only reductions round, and only blocking ones have a layout of their own to be compared in. */
static void choose_reproducible(diff_choice_t *choice)
{
    choice->inexact = true;
    choice->collectives &= 1u << DIFF_ALLREDUCE | 1u << DIFF_REDUCE | 1u << DIFF_REDUCE_SCATTER |
                           1u << DIFF_REDUCE_SCATTER_BLOCK;
    choice->modes &= 1u << DIFF_BLOCKING | 1u << DIFF_BIG_COUNT;
}

/* Those of which poweraware has algorithms, by functions that return when all is done. */
static void choose_device(diff_options_t *o, bool all)
{
    o->device = true;
    o->device_all = all;
    o->choice.collectives &= ((1u << DIFF_NUM_HANDLED) - 1) | 1u << DIFF_EXSCAN | 1u << DIFF_SCAN;
    o->choice.modes &= 1u << DIFF_BLOCKING | 1u << DIFF_BIG_COUNT;
}

static void take(diff_options_t *o, int option, const char *value)
{
    uint64_t number = NULL == value ? 0 : strtoull(value, NULL, 0);
    switch (option) {
    case SEED:
        o->seed = number;
        break;
    case CALLS:
        o->calls = number;
        break;
    case FIRST:
        o->first = number;
        break;
    case AGAIN:
        o->again = number;
        break;
    case ROUNDS:
        o->rounds = value;
        break;
    case ONLY:
        o->choice.collectives = parse_names(value, collective_name, DIFF_NUM_COLLECTIVES);
        break;
    case MODES:
        o->choice.modes = parse_names(value, mode_name, DIFF_NUM_MODES);
        break;
    case MOST:
        o->choice.most_bytes = number;
        break;
    case THREADS:
        o->threads = (int)number;
        break;
    case LIMIT:
        o->limit_s = (unsigned)number;
        break;
    case REPRODUCIBLE:
        choose_reproducible(&o->choice);
        break;
    case BEYOND_STOCK:
        o->choice.beyond_stock = true;
        break;
    case FRESH:
        o->choice.fresh = true;
        break;
    case DIGESTS:
        o->digests = value;
        break;
    case CALL:
        o->only_call = number;
        break;
    case SIMPLER:
        o->limits.simpler = number;
        break;
    case UNITS:
        o->limits.most_units = number;
        break;
    case DEVICE:
        choose_device(o, NULL != value && 0 == strcmp("all", value));
        break;
    case FAULT:
        o->fault = true;
        o->fault_units = number;
        break;
    default:
        o->stay = true;
        break;
    }
}

static bool some_mode_exists(unsigned modes)
{
    for (int mode = 0; mode < DIFF_NUM_MODES; ++mode) {
        if (0 != (modes >> mode & 1) && diff_mode_exists((diff_mode_t)mode)) {
            return true;
        }
    }
    return false;
}

bool diff_options_parse(diff_options_t *options, int argc, char **argv, bool loud)
{
    *options = defaults;
    opterr = loud;
    bool fine = true;
    int option;
    while (-1 != (option = getopt_long(argc, argv, "", longs, NULL))) {
        fine = fine && '?' != option;
        take(options, option, optarg);
    }
    fine = fine && optind == argc && 0 != options->choice.collectives &&
           some_mode_exists(options->choice.modes) && options->threads >= 1 &&
           options->threads <= DIFF_MAX_THREADS && options->choice.most_bytes >= 256;
    if (0 != options->only_call) {
        options->calls = 1;
    }
    if (!fine && loud) {
        fputs(usage, stderr);
    }
    return fine;
}

bool diff_options_everything(const diff_options_t *options)
{
    return ALL_COLLECTIVES == options->choice.collectives && ALL_MODES == options->choice.modes;
}

void diff_options_format(const diff_options_t *options, char *text, size_t size)
{
    const diff_choice_t *choice = &options->choice;
    char names[512];
    size_t used = 0;
    text[0] = '\0';
    if (choice->inexact) {
        used += (size_t)snprintf(text + used, size - used, " --reproducible");
    } else if (ALL_COLLECTIVES != choice->collectives) {
        format_names(choice->collectives, collective_name, DIFF_NUM_COLLECTIVES, names,
                     sizeof names);
        used += (size_t)snprintf(text + used, size - used, " --only %s", names);
    }
    if (ALL_MODES != choice->modes && !choice->inexact) {
        format_names(choice->modes, mode_name, DIFF_NUM_MODES, names, sizeof names);
        used += (size_t)snprintf(text + used, size - used, " --modes %s", names);
    }
    if (MOST_BYTES != choice->most_bytes) {
        used += (size_t)snprintf(text + used, size - used, " --most-bytes %zu", choice->most_bytes);
    }
    if (choice->beyond_stock) {
        used += (size_t)snprintf(text + used, size - used, " --beyond-stock");
    }
    if (options->device) {
        used += (size_t)snprintf(text + used, size - used,
                                 options->device_all ? " --device=all" : " --device");
    }
    if (choice->fresh) {
        used += (size_t)snprintf(text + used, size - used, " --fresh");
    }
    if (options->fault) {
        snprintf(text + used, size - used, " --fault=%zu", options->fault_units);
    }
}
