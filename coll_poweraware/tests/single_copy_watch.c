/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * process_vm_readv linked in front of the C library's: counts what is read, refuses the probe.
 *
 * PWR_REFUSE_RANK=N: on rank N the kernel refuses to read a word (8 bytes), as Yama, a container or
 * a seccomp filter would.  At its end rank 0 prints how many longer reads it made.
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

static long reads;

static bool is_rank(const char *rank)
{
    const char *mine = getenv("OMPI_COMM_WORLD_RANK");
    return NULL != mine && NULL != rank && 0 == strcmp(mine, rank);
}

__attribute__((destructor)) static void tell(void)
{
    if (is_rank("0")) {
        printf("single copies: %ld\n", reads);
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
    reads += ours->iov_len > WORD;
    return syscall(SYS_process_vm_readv, pid, ours, num_ours, theirs, num_theirs, flags);
}
