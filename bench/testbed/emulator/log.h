/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages of the emulator: one line each, to standard error (a file once it is a daemon).
 */
#ifndef EMU_LOG_H
#define EMU_LOG_H

/* "pwr-emulator: " + text + newline.  At most EMU_LOG_LIMIT lines are written, then one that says
   so: a client that repeats a bad write must not fill a disk. */
enum { EMU_LOG_LIMIT = 1000 };
void emu_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
