/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What every fuzz target defines.  `make fuzz` lets libFuzzer call it, `make check` calls it with
 * the files of its corpus (replay.c).
 */
#ifndef PWR_FUZZ_H
#define PWR_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* data[size] is any bytes.  Returns 0; a finding is a crash, a sanitizer's report or abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void demand(bool good)
{
    if (!good) {
        abort();
    }
}

#endif
