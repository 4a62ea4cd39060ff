/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A file of lines that survives a full disk.
 */
#include "config.h"

#include "csv_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

enum { LINE_SIZE = 256 };

int emu_csv_open(struct emu_csv *csv, const char *directory, const char *name, const char *header)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    *csv = (struct emu_csv){.name = name};
    csv->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (csv->fd < 0) {
        return errno;
    }
    emu_csv_line(csv, "%s", header);
    return 0;
}

void emu_csv_line(struct emu_csv *csv, const char *format, ...)
{
    char line[LINE_SIZE + 2] = "\n";
    char *start = line + 1; /* a torn line is ended first, so that no line is a mixture of two */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(start, LINE_SIZE, format, arguments);
    va_end(arguments);
    if (length >= LINE_SIZE) {
        length = LINE_SIZE - 1;
    }
    start[length++] = '\n';
    if (csv->torn) {
        start = line;
        length++;
    }
    ssize_t written = write(csv->fd, start, (size_t)length);
    if (written == length) {
        csv->torn = false;
        return;
    }
    if (csv->lost++ == 0) {
        emu_log("cannot write %s: %s; lines are lost until there is room again", csv->name,
                written < 0 ? strerror(errno) : "disk full");
    }
    csv->torn = csv->torn || written > 0;
}

void emu_csv_close(struct emu_csv *csv)
{
    if (csv->lost > 0) {
        emu_log("%lu lines of %s were lost", csv->lost, csv->name);
    }
    close(csv->fd);
    csv->fd = -1;
}
