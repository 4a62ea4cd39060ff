/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: lists of CPUs.
 * Sources: topo/cpulist.c
 */
#include "config.h"

#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "topo/cpulist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char again[8 * PWR_CPUSET_CPUS];
    pwr_cpuset_t set, same;
    size_t used = 0;
    if (pwr_cpulist_parse((const char *)data, size, &set) != PWR_OK) {
        return 0;
    }
    /* What was accepted reads the same when it is written again, CPU by CPU. */
    for (int cpu = pwr_cpuset_next(&set, -1); cpu >= 0; cpu = pwr_cpuset_next(&set, cpu)) {
        used += (size_t)snprintf(again + used, sizeof again - used, "%s%d", used ? "," : "", cpu);
    }
    demand(pwr_cpulist_parse(again, used, &same) == PWR_OK);
    demand(memcmp(&set, &same, sizeof set) == 0);
    return 0;
}
