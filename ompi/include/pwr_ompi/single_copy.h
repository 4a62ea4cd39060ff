/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reading and writing the memory of another process with one copy (process_vm_readv, _writev).
 *
 * The kernel allows it where it would allow this process to attach a debugger to the other one: the
 * same user, neither set-uid, and whatever Yama, containers and seccomp filters leave.  It is never
 * asked to allow more (PR_SET_PTRACER) than it does by itself.
 */
#ifndef PWR_OMPI_SINGLE_COPY_H
#define PWR_OMPI_SINGLE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether process pid's memory can be read and written: at address it has the word expected, which
   nothing but the right process has there, and which is written back.  Returns 0 or an errno
   value; EXDEV for another process than the one that was meant (PID namespaces). */
int pwr_single_copy_probe(pid_t pid, uint64_t address, uint64_t expected);

/* All of bytes, however many.  Returns 0 or an errno value; then part may be copied. */
int pwr_single_copy_read(pid_t pid, void *to, uint64_t from, size_t bytes);
int pwr_single_copy_write(pid_t pid, uint64_t to, const void *from, size_t bytes);

#endif
