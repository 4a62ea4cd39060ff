/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * process_vm_readv and _writev in front of the C library's (LD_PRELOAD): counts copies, refuses the
 * probe or copies.
 *
 * PWR_REFUSE_RANK=N: on rank N the kernel refuses to read a word (8 bytes), as Yama, a container or
 * a seccomp filter would.
 * PWR_REFUSE_ONE_OF=N: it refuses one longer copy in N, drawn at random.
 * PWR_REFUSE_UP_TO=N: it refuses the first one after a probe, after another probe the second one,
 * ..., the N-th one, the first one.
 * PWR_CUT=1: it makes half of a copy before it refuses the rest.
 *
 * At its end each rank prints how many longer copies it made, and how many were refused; for
 * programs there are single_copies_asked and single_copies_refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORD = 8 };

__attribute__((visibility("default"))) long single_copies_asked;
__attribute__((visibility("default"))) long single_copies_refused;
static long since_probe;
static long probed; /* times, with copies after it */

static long setting(const char *name)
{
    const char *value = getenv(name);
    return NULL == value ? 0 : atol(value);
}

static bool is_rank(const char *rank)
{
    const char *mine = getenv("OMPI_COMM_WORLD_RANK");
    return NULL != mine && NULL != rank && 0 == strcmp(mine, rank);
}

__attribute__((destructor)) static void tell(void)
{
    if (NULL != getenv("OMPI_COMM_WORLD_RANK")) {
        printf("single copies: %ld\ncopies refused: %ld\n",
               single_copies_asked - single_copies_refused, single_copies_refused);
    }
}

static bool is_drawn(long one_of)
{
    static uint64_t state;
    if (0 == state) {
        state = (uint64_t)setting("OMPI_COMM_WORLD_RANK") + 1;
    }
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return one_of > 0 && 0 == (state >> 33) % (uint64_t)one_of;
}

static bool is_refused(void)
{
    long up_to = setting("PWR_REFUSE_UP_TO");
    return is_drawn(setting("PWR_REFUSE_ONE_OF")) ||
           (up_to > 0 && since_probe == 1 + probed % up_to);
}

/* What a kernel may say: no right, no such memory, no such process, no such call. */
static ssize_t refuse(void)
{
    static const int errors[] = {EPERM, EFAULT, ESRCH, ENOSYS};
    errno = errors[single_copies_asked % 4];
    return -1;
}

static void count_probe(void)
{
    probed += since_probe > 0;
    since_probe = 0;
}

static ssize_t copy(long number, pid_t pid, const struct iovec *ours, unsigned long num_ours,
                    const struct iovec *theirs, unsigned long num_theirs, unsigned long flags)
{
    static bool is_cut; /* the copy under way */
    struct iovec half = *ours;
    if (WORD == ours->iov_len) {
        count_probe();
        return syscall(number, pid, ours, num_ours, theirs, num_theirs, flags);
    }
    single_copies_asked += !is_cut;
    since_probe += !is_cut;
    ssize_t done;
    if (is_cut) {
        is_cut = false;
        done = refuse();
    } else if (!is_refused()) {
        done = syscall(number, pid, ours, num_ours, theirs, num_theirs, flags);
    } else if (0 == setting("PWR_CUT")) {
        done = refuse();
    } else {
        is_cut = true;
        half.iov_len /= 2;
        done = syscall(number, pid, &half, num_ours, theirs, num_theirs, flags);
    }
    single_copies_refused += done < 0;
    return done;
}

__attribute__((visibility("default"))) ssize_t
process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long num_ours,
                 const struct iovec *theirs, unsigned long num_theirs, unsigned long flags)
{
    if (WORD == ours->iov_len && is_rank(getenv("PWR_REFUSE_RANK"))) {
        errno = EPERM;
        return -1;
    }
    return copy(SYS_process_vm_readv, pid, ours, num_ours, theirs, num_theirs, flags);
}

__attribute__((visibility("default"))) ssize_t
process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long num_ours,
                  const struct iovec *theirs, unsigned long num_theirs, unsigned long flags)
{
    return copy(SYS_process_vm_writev, pid, ours, num_ours, theirs, num_theirs, flags);
}
