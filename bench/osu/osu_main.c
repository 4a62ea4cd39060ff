/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The program of one benchmark: PWR_OSU_BENCHMARK is its descriptor.
 */
#include "config.h"

#include "osu.h"

int main(int argc, char **argv)
{
    return pwr_osu_main(&PWR_OSU_BENCHMARK, argc, argv);
}
