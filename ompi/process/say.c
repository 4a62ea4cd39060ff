/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the user is told.
 */
#include "pwr_ompi/process.h"

#include <stdarg.h>

#include "opal/util/output.h"
#include "opal/util/proc.h"

static int verbose;

void pwr_set_verbose(int level)
{
    verbose = level;
}

void pwr_say(int level, const char *format, ...)
{
    if (level > verbose) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    opal_output(0, "poweraware: %s", line);
}

int pwr_level_alike(int level)
{
    return 0 == OPAL_PROC_MY_NAME.vpid ? level : 2;
}
