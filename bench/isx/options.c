/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of isx.
 */
#include "config.h"

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRONG = 1, WEAK, EXCHANGE, ITERATIONS, WARMUP, RANGE, SEED, PIN, JSON, HELP };

isx_options_t isx_options = {.range = 1u << 28, .iterations = 10, .warmup = 2, .seed = 1};

static const char usage[] =
    "usage: oshrun -np N isx --strong KEYS | --weak KEYS [options]\n"
    "Sorts uniformly distributed keys of 4 bytes into a bucket per PE, as ISx does.\n"
    "  --strong KEYS     so many of all PEs together (0 to 2147483647)\n"
    "  --weak KEYS       so many of each PE; not more of all than with --strong\n"
    "  --exchange W,...  stock, shnode-mixed, shnode, shnode-direct: ways to exchange keys (all)\n"
    "  --iterations N    sorts in each way (10)\n"
    "  --warmup N        those before, which are not timed (2)\n"
    "  --key-range N     keys are below N (268435456)\n"
    "  --seed N          of the keys (1)\n"
    "  --pin             PE k stays on CPU k modulo their number\n"
    "  --json FILE       writes the times of each sort there, too\n"
    "Exit status: 0 = keys are sorted, 1 = they are not, or no memory, 2 = wrong options.\n";

static const struct option names[] = {
    {"strong", required_argument, NULL, STRONG},
    {"weak", required_argument, NULL, WEAK},
    {"exchange", required_argument, NULL, EXCHANGE},
    {"iterations", required_argument, NULL, ITERATIONS},
    {"warmup", required_argument, NULL, WARMUP},
    {"key-range", required_argument, NULL, RANGE},
    {"seed", required_argument, NULL, SEED},
    {"pin", no_argument, NULL, PIN},
    {"json", required_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static bool is_number(const char *text, long least, long most, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *number >= least && *number <= most;
}

static bool read_ways(const char *list)
{
    memset(isx_options.ways, 0, sizeof isx_options.ways);
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        int way = 0;
        while (way < ISX_WAYS && (strlen(isx_ways[way].name) != length ||
                                  strncmp(isx_ways[way].name, at, length) != 0)) {
            way++;
        }
        if (way == ISX_WAYS || isx_options.ways[way]) {
            return false;
        }
        isx_options.ways[way] = true;
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

static bool take(int option, const char *text)
{
    long number = 0;
    bool is_right = true;
    switch (option) {
    case STRONG:
    case WEAK:
        is_right = is_number(text, 0, INT32_MAX, &number);
        isx_options.is_weak = option == WEAK;
        isx_options.keys = (size_t)number;
        break;
    case ITERATIONS:
        is_right = is_number(text, 1, 10000, &number);
        isx_options.iterations = (int)number;
        break;
    case WARMUP:
        is_right = is_number(text, 0, 10000, &number);
        isx_options.warmup = (int)number;
        break;
    case RANGE:
        is_right = is_number(text, 1, INT32_MAX, &number);
        isx_options.range = (uint32_t)number;
        break;
    case SEED:
        is_right = is_number(text, 0, INT32_MAX, &number);
        isx_options.seed = (uint64_t)number;
        break;
    case PIN:
        isx_options.is_pinned = true;
        break;
    case EXCHANGE:
        return read_ways(text);
    default:
        isx_options.json = text;
    }
    return is_right;
}

int isx_read_options(int argc, char **argv)
{
    int sizes = 0, option, at;
    memset(isx_options.ways, true, sizeof isx_options.ways);
    while ((option = getopt_long(argc, argv, "", names, &at)) != -1) {
        if (option == HELP) {
            fputs(usage, stdout);
            return 0;
        }
        if (option == '?') {
            return 2;
        }
        if (!take(option, optarg)) {
            fprintf(stderr, "isx: --%s %s is wrong: see --help\n", names[at].name, optarg);
            return 2;
        }
        sizes += option == STRONG || option == WEAK;
    }
    if (sizes != 1 || optind != argc) {
        fprintf(stderr, "isx: one of --strong and --weak is wanted, no other words: see --help\n");
        return 2;
    }
    return -1;
}
