/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: numbers of sysfs files.
 * Sources: number.c
 */
#include "config.h"

#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t value = 0;
    char again[32];
    uint64_t same;
    if (pwr_number_parse((const char *)data, size, &value) != PWR_OK) {
        return 0;
    }
    /* What was accepted reads the same when it is written again. */
    snprintf(again, sizeof again, "%llu", (unsigned long long)value);
    demand(pwr_number_parse(again, strlen(again), &same) == PWR_OK && same == value);
    return 0;
}
