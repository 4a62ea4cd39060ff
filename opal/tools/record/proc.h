/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel tells of a process.
 */
#ifndef PWR_RECORD_PROC_H
#define PWR_RECORD_PROC_H

#include <stddef.h>

/* The begin of /proc/<pid>/<file>, at most room - 1 bytes and a 0 behind them; their number, 0
   where nothing can be read. */
size_t proc_read(int pid, const char *file, char *text, size_t room);

#endif
