/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * process_vm_readv and _writev in front of the C library's (LD_PRELOAD): counts copies, refuses the
 * probe.
 *
 * PWR_REFUSE_RANK=N: on rank N the kernel refuses to read a word (8 bytes), as Yama, a container or
 * a seccomp filter would.  At its end each rank prints how many longer copies it made.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORD = 8 };

static long copies;

static bool is_rank(const char *rank)
{
    const char *mine = getenv("OMPI_COMM_WORLD_RANK");
    return NULL != mine && NULL != rank && 0 == strcmp(mine, rank);
}

__attribute__((destructor)) static void tell(void)
{
    if (NULL != getenv("OMPI_COMM_WORLD_RANK")) {
        printf("single copies: %ld\n", copies);
    }
}

__attribute__((visibility("default"))) ssize_t
process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long num_ours,
                 const struct iovec *theirs, unsigned long num_theirs, unsigned long flags)
{
    if (WORD == ours->iov_len && is_rank(getenv("PWR_REFUSE_RANK"))) {
        errno = EPERM;
        return -1;
    }
    copies += ours->iov_len > WORD;
    return syscall(SYS_process_vm_readv, pid, ours, num_ours, theirs, num_theirs, flags);
}

__attribute__((visibility("default"))) ssize_t
process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long num_ours,
                  const struct iovec *theirs, unsigned long num_theirs, unsigned long flags)
{
    copies += ours->iov_len > WORD;
    return syscall(SYS_process_vm_writev, pid, ours, num_ours, theirs, num_theirs, flags);
}
