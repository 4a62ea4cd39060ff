/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: what meters read besides numbers and CPU lists: event files of perf, /proc/stat.
 * Sources: meter/meter_perf.c meter/model_power.c
 * Libraries: -lm
 */
#include "config.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "meter/meter_backend.h"
#include "meter/model_power.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t config, busy_ticks;
    unsigned cpu;
    double scale;
    char *text = malloc(size + 1); /* exactly as long: reading on is found */
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    demand(!pwr_perf_parse_config(text, &config) || config <= 0xff);
    demand(!pwr_perf_parse_scale(text, &scale) || (scale > 0 && scale <= 1));
    demand(!pwr_model_parse_stat_line(text, &cpu, &busy_ticks) || strncmp(text, "cpu", 3) == 0);
    free(text);
    return 0;
}
