/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Command line of poweraware-tune.
 */
#include "config.h"

#include "tune.h"
#include "pwr/command.h"
#include "../common/ranks.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const size_t all_sizes[] = {8, 64, 512, 4096, 32768, 262144, 1048576, 4194304};
static const size_t quick_sizes[] = {8, 4096, 262144};

static const char *set_sizes(const pwr_option_t *option, void *to, char *value)
{
    tune_options_t *options = to;
    char word[TUNE_NAME_MAX];
    (void)option;
    options->num_sizes = 0;
    for (const char *rest = value; tune_list_next(&rest, word);) {
        const char *end;
        unsigned long number;
        if (options->num_sizes == TUNE_SIZES_MAX || !pwr_option_digits(word, &end, &number) ||
            *end != '\0' || number == 0 || number % sizeof(float) != 0 || number > INT_MAX) {
            return "not a list of sizes in bytes, each a multiple of 4";
        }
        options->sizes[options->num_sizes++] = number;
    }
    return NULL;
}

static const char *set_quick(const pwr_option_t *option, void *to, char *value)
{
    tune_options_t *options = to;
    (void)option;
    (void)value;
    memcpy(options->sizes, quick_sizes, sizeof quick_sizes);
    options->num_sizes = sizeof quick_sizes / sizeof quick_sizes[0];
    options->seconds = 0.05;
    options->blocks = 5;
    return NULL;
}

#define AT(member) .at = offsetof(tune_options_t, member)
static const pwr_option_t table[] = {
    {'o', "output", "FILE", "where to write what was measured", pwr_option_text, AT(output)},
    {'l', "layouts", "NxP,...",
     "nodes x ranks per node; \"world\": all ranks; default: powers of two up to all",
     pwr_option_text, AT(layouts)},
    {'c', "collectives", "C,...", "default: all", pwr_option_text, AT(collectives)},
    {'s', "sizes", "BYTES,...", "message sizes (default: 8 to 4194304)", .set = set_sizes},
    {'V', "variants", "V,...",
     "stock, our algorithms, auto, tuned, basic, sm, adapt, xhc, han, copy: of the message by each "
     "rank (default: stock and ours)",
     pwr_option_text, AT(variants)},
    {0, "seconds", "S", "time for each collective and size (default 0.5)", pwr_option_real,
     AT(seconds), 0.001, 3600},
    {0, "blocks", "N", "interleaved blocks of calls of each variant (default 21)", pwr_option_int,
     AT(blocks), 3, TUNE_BLOCKS_MAX},
    {'q', "quick", NULL, "three sizes, short blocks: to see whether it works", .set = set_quick},
    {0, "seed", "N", "of the order within blocks (default 1)", pwr_option_count, AT(seed), 0,
     LONG_MAX},
    {'M', "mem-limit", "BYTES",
     "message buffers per rank; larger sizes are left out (default 268435456)", pwr_option_count,
     AT(mem_limit), 1, LONG_MAX},
    {0},
};

static const pwr_command_t command = {
    .name = "poweraware-tune",
    .usage =
        "usage: mpirun -np N [mpirun options] poweraware-tune --output FILE [options]\n"
        "Measures where the algorithms of coll_poweraware pay on this machine.  Of what it writes\n"
        "\"poweraware decide\" makes the decision table of scheme auto.\n\n",
    .epilog = "\nexit status: 0, 1 (nothing usable was measured, or the file cannot be written),\n"
              "2 (options)\n",
    .options = table,
    .ranks = pwr_rank_variables,
};

tune_options_t tune_options_read(int argc, char **argv)
{
    tune_options_t options = {.seconds = 0.5,
                              .blocks = 21,
                              .seed = 1,
                              .mem_limit = 256ul << 20,
                              .num_sizes = sizeof all_sizes / sizeof all_sizes[0]};
    memcpy(options.sizes, all_sizes, sizeof all_sizes);
    pwr_command_read(&command, &options, NULL, argc, argv);
    if (!options.output) {
        pwr_command_refuse(&command, "nothing to do: give --output");
    }
    char word[TUNE_NAME_MAX];
    for (const char *rest = options.collectives; tune_list_next(&rest, word);) {
        if (!pwr_osu_find(word)) {
            pwr_command_refuse(&command, "option --collectives: \"%s\" is not known", word);
        }
    }
    return options;
}

bool tune_list_next(const char **rest, char word[TUNE_NAME_MAX])
{
    if (!*rest) {
        return false;
    }
    size_t length = strcspn(*rest, ",");
    snprintf(word, TUNE_NAME_MAX, "%.*s", (int)length, *rest);
    *rest = (*rest)[length] == ',' ? *rest + length + 1 : NULL;
    return true;
}

bool tune_list_has(const char *list, const char *name)
{
    char word[TUNE_NAME_MAX];
    while (tune_list_next(&list, word)) {
        if (strcmp(word, name) == 0) {
            return true;
        }
    }
    return false;
}
