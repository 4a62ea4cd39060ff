/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * process_vm_readv and process_vm_writev until everything is copied.
 */
#define _GNU_SOURCE /* process_vm_readv */
#include "pwr_ompi/single_copy.h"

#include <errno.h>
#include <sys/uio.h>

typedef ssize_t (*copy_fn_t)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                             unsigned long, unsigned long);

/* One call copies at most 2^31 - 4096 bytes, and stops early in front of a page that it cannot
   reach: the next one then says why. */
static int copy(copy_fn_t some, pid_t pid, void *here, uint64_t there, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const struct iovec ours = {(char *)here + done, bytes - done};
        const struct iovec theirs = {(void *)(uintptr_t)(there + done), bytes - done};
        ssize_t n = some(pid, &ours, 1, &theirs, 1, 0);
        if (n < 0 && EINTR != errno) {
            return errno;
        }
        if (0 == n) {
            return EFAULT;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int pwr_single_copy_read(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    return copy(process_vm_readv, pid, to, from, bytes);
}

int pwr_single_copy_write(pid_t pid, uint64_t to, const void *from, size_t bytes)
{
    return copy(process_vm_writev, pid, (void *)from, to, bytes);
}

int pwr_single_copy_probe(pid_t pid, uint64_t address, uint64_t expected)
{
    uint64_t word = ~expected;
    int error = pwr_single_copy_read(pid, &word, address, sizeof word);
    if (0 == error && expected != word) {
        error = EXDEV;
    }
    return 0 == error ? pwr_single_copy_write(pid, address, &word, sizeof word) : error;
}
