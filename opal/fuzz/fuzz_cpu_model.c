/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: /proc/cpuinfo.
 * Sources: topo/cpu_model.c env.c number.c status.c
 */
#include "config.h"

#include "fuzz.h"

#include <string.h>

#include "pwr/cpu_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pwr_cpu_model_t model;
    memset(&model, 0xff, sizeof model);
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!stream) {
        return 0;
    }
    pwr_status_t result = pwr_cpu_model_parse(stream, &model);
    fclose(stream);
    if (result == PWR_OK) {
        demand(memchr(model.vendor, '\0', sizeof model.vendor) && model.vendor[0] != '\0');
        demand(memchr(model.name, '\0', sizeof model.name) != NULL);
        demand(pwr_tstate_winner(&model) <= PWR_TSTATE_WINNER_HIGHEST);
    }
    return 0;
}
