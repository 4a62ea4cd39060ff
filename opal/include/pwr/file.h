/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Files by name, and files that grow, where neither may cost the process its life.
 *
 *   1. A name that a user gives may be that of a FIFO, which nobody reads: opening does not wait,
 *      and what is not a regular file is refused.
 *   2. A file that would grow beyond RLIMIT_FSIZE (tmpfs and memfd_create count) brings SIGXFSZ
 *      besides EFBIG.  The kernel sends it to the thread that wrote.  While it is blocked there,
 * the one that we have caused is taken away: handlers of the application never see it, and other
 *      threads and signals are as ever.
 */
#ifndef PWR_FILE_H
#define PWR_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* 2., around what may grow a file, in one thread; errno stays. */
typedef struct pwr_growth {
    sigset_t before;
    bool pending; /* one that is not of our making: it is left alone */
} pwr_growth_t;
pwr_growth_t pwr_growth_begin(void);
void pwr_growth_end(const pwr_growth_t *growth);

/* Makes sure that the first bytes of a file are there.  0, or errno. */
int pwr_file_allocate(int fd, size_t bytes);
/* Gives a new file its size, and no memory.  0, or errno. */
int pwr_file_extend(int fd, size_t bytes);

/* Writes a file anew: opens it (1.; links are followed), lets fill write, closes it.  fill returns
   whether it could; errno then says why not.  What is not whole is removed.  0, or errno. */
int pwr_file_write(const char *path, bool (*fill)(FILE *file, const void *arg), const void *arg);

/* Of an error of pwr_file_write, for messages. */
const char *pwr_file_why(int error);

#endif
