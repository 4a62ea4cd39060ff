/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages of the emulator.
 */
#include "config.h"

#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

void emu_log(const char *format, ...)
{
    static atomic_int lines;
    int number = atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed);
    if (number > EMU_LOG_LIMIT) {
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "pwr-emulator: %s\n",
            number < EMU_LOG_LIMIT ? text : "further messages are dropped");
}
