/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A file of lines that survives a full disk.
 */
#ifndef EMU_CSV_FILE_H
#define EMU_CSV_FILE_H

#include <stdbool.h>

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
