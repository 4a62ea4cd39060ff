/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads small files of /proc.
 */
#include "config.h"

#include "tools/record/proc.h"

#include <stdio.h>

size_t proc_read(int pid, const char *file, char *text, size_t room)
{
    char path[64];
    size_t size = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    FILE *opened = fopen(path, "re");
    if (opened) {
        size = fread(text, 1, room - 1, opened);
        fclose(opened);
    }
    text[size] = '\0';
    return size;
}
