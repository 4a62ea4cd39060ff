/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: /proc/<pid>/status.
 * Sources: topo/proc_status.c topo/cpulist.c number.c status.c
 */
#include "config.h"

#include "fuzz.h"

#include <ctype.h>
#include <string.h>

#include "topo/proc_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pwr_proc_status_t status;
    memset(&status, 0xff, sizeof status);
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!stream) {
        return 0;
    }
    pwr_status_t result = pwr_proc_status_parse(stream, &status);
    fclose(stream);
    if (result != PWR_OK) {
        return 0;
    }
    /* Names go into messages. */
    demand(memchr(status.name, '\0', sizeof status.name) != NULL);
    for (const char *letter = status.name; *letter != '\0'; letter++) {
        demand(isprint((unsigned char)*letter));
    }
    return 0;
}
