/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the emulator writes down: messages, and files of lines that survive a full disk.
 */
#ifndef EMU_RECORDS_H
#define EMU_RECORDS_H

#include <stdbool.h>

/* "pwr-emulator: " + text + newline to standard error.  At most EMU_LOG_LIMIT lines are written,
   then one that says so: a client that repeats a bad write must not fill a disk. */
enum { EMU_LOG_LIMIT = 1000 };
void emu_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct emu_csv {
    int fd;
    const char *name;   /* for messages */
    bool torn;          /* the file ends in the middle of a line */
    unsigned long lost; /* lines that could not be written */
};

/* Creates (or empties) directory/name and writes the header line.  Returns 0 or errno. */
int emu_csv_open(struct emu_csv *csv, const char *directory, const char *name, const char *header);

/* Appends one line; it is in the file when this returns.  Failure is logged once and counted,
   and the next line is tried again. */
void emu_csv_line(struct emu_csv *csv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void emu_csv_close(struct emu_csv *csv);

#endif
