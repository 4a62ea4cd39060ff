/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reading the command line.
 */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: random_shmem [options]\n"
    "  --seed S             what all programs are drawn from (1)\n"
    "  --calls N            how many calls, of all PEs together (1000)\n"
    "  --first N            number of the first program (0)\n"
    "  --without NAME[,..]  what is left out\n"
    "  --only NAME[,..]     calls: all others are left out\n"
    "  --most-units N       elements of a call, at most\n"
    "  --limit SECONDS      an epoch that takes longer hangs (100)\n"
    "  --program SEED       only the program with this seed\n"
    "  --fault NAME         PE 0 does not make calls of that name; memory: a byte of its heap is\n"
    "                       another one; hang: PE 0 stops within an epoch\n"
    "  --stay               do not look for the smallest program that fails\n"
    "  --help               this\n"
    "names:\n";

enum long_option { SEED, CALLS, FIRST, WITHOUT, ONLY, UNITS, LIMIT, PROGRAM, FAULT, STAY, HELP };

static const struct option longs[] = {
    {"seed", required_argument, NULL, SEED},   {"calls", required_argument, NULL, CALLS},
    {"first", required_argument, NULL, FIRST}, {"without", required_argument, NULL, WITHOUT},
    {"only", required_argument, NULL, ONLY},   {"most-units", required_argument, NULL, UNITS},
    {"limit", required_argument, NULL, LIMIT}, {"program", required_argument, NULL, PROGRAM},
    {"fault", required_argument, NULL, FAULT}, {"stay", no_argument, NULL, STAY},
    {"help", no_argument, NULL, HELP},         {NULL, 0, NULL, 0},
};

static const rsh_options_t defaults = {
    .seed = 1,
    .calls = 1000,
    .limits = {.most_units = SIZE_MAX},
    .limit_s = 100,
};

static bool take_names(rsh_options_t *o, const char *list, bool only)
{
    uint64_t names;
    if (!rsh_names_parse(list, &names)) {
        return false;
    }
    uint64_t calls = (UINT64_C(1) << RSH_NUM_CALLS) - 1;
    o->limits.simpler |= only ? calls & ~names : names;
    return true;
}

static bool take_fault(rsh_options_t *o, const char *name)
{
    uint64_t set = 0;
    if (0 == strcmp("memory", name)) {
        o->fault = RSH_FLIP_MEMORY;
    } else if (0 == strcmp("hang", name)) {
        o->fault = RSH_HANG;
    } else if (rsh_names_parse(name, &set)) {
        o->fault = RSH_LOSE;
        o->lost = (rsh_name_t)__builtin_ctzll(set | UINT64_C(1) << 63);
    }
    return RSH_NO_FAULT != o->fault && (RSH_LOSE != o->fault || o->lost < RSH_NUM_CALLS);
}

static bool take_number(rsh_options_t *o, int option, const char *value)
{
    char *end;
    uint64_t number = strtoull(value, &end, 0);
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
    case UNITS:
        o->limits.most_units = number;
        break;
    case LIMIT:
        o->limit_s = (unsigned)number;
        break;
    default:
        o->only_program = number;
        break;
    }
    return end != value && '\0' == *end;
}

static bool take(rsh_options_t *o, int option, const char *value)
{
    switch (option) {
    case WITHOUT:
    case ONLY:
        return take_names(o, value, ONLY == option);
    case FAULT:
        return take_fault(o, value);
    case STAY:
        o->stay = true;
        return true;
    case HELP:
        o->help = true;
        return true;
    case '?':
        return false;
    default:
        return take_number(o, option, value);
    }
}

void rsh_options_help(FILE *to)
{
    fputs(usage, to);
    for (int name = 0; name < RSH_NUM_NAMES; ++name) {
        fprintf(to, "  %-20s %s\n", rsh_name((rsh_name_t)name), rsh_name_what((rsh_name_t)name));
    }
}

bool rsh_options_parse(rsh_options_t *options, int argc, char **argv, bool loud)
{
    *options = defaults;
    opterr = loud;
    bool fine = true;
    int option;
    while (-1 != (option = getopt_long(argc, argv, "", longs, NULL))) {
        fine = take(options, option, optarg) && fine;
    }
    fine = fine && optind == argc && options->limits.most_units > 0;
    if (!fine && loud) {
        rsh_options_help(stderr);
    }
    return fine;
}

void rsh_options_format(uint64_t without, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int name = 0; name < RSH_NUM_NAMES; ++name) {
        if (rsh_has(without, (rsh_name_t)name) && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     0 == used ? " --without " : ",", rsh_name((rsh_name_t)name));
        }
    }
}
