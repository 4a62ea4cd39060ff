/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The benchmarks of collectives as a program.
 */
#include "config.h"

#include "harness.h"

const pwr_osu_suite_t pwr_osu_suite = {
    .prefix = "osu_",
    .owner = "OSU",
    .kind = "OSU MPI",
    .what = "the MPI collective",
    .note = "Options and output are those of the OSU micro-benchmarks.",
    .fewest_ranks = 1,
    .open = pwr_buffer_open,
    .release = pwr_buffer_release,
};
