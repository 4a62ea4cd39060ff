/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The ways to model-specific registers, in the order in which they are tried.
 */
#include "config.h"

#include "msr/msr.h"

const pwr_msr_way_t *const pwr_msr_ways[] = {
    &pwr_msr_way_safe,
    &pwr_msr_way_device,
    &pwr_msr_way_accessd,
};
const size_t pwr_msr_num_ways = sizeof pwr_msr_ways / sizeof pwr_msr_ways[0];
