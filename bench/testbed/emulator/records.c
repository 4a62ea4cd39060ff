/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the emulator writes down: messages, and files of lines that survive a full disk.
 */
#include "config.h"

#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 256 };

void emu_log(const char *format, ...)
{
    static int lines; /* nobody logs without the server's lock once there is a second thread */
    if (lines > EMU_LOG_LIMIT) {
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "pwr-emulator: %s\n",
            lines++ < EMU_LOG_LIMIT ? text : "further messages are dropped");
}

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
    /* a torn line is ended first, so that no line is a mixture of two */
    char line[LINE_SIZE + 2] = "\n";
    size_t start = csv->torn ? 0 : 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + 1, LINE_SIZE, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    size_t length = strlen(line + start);
    ssize_t written = write(csv->fd, line + start, length);
    if (written == (ssize_t)length) {
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
}
