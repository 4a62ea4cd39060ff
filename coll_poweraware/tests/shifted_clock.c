/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For LD_PRELOAD: CLOCK_MONOTONIC is ahead by the first word of the file that PWR_WATCHED names
 * (see watched.h), so that what takes minutes is over when a test says so, and not before.  Each
 * millisecond it jumps by PWR_CLOCK_JUMP_US (default 0), as for a thread that is interrupted.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000, NS_PER_US = 1000 };

static const _Atomic uint64_t *shift;
static uint64_t jump_ns;

static void map(void)
{
    const char *path = getenv("PWR_WATCHED");
    int file = NULL == path ? -1 : open(path, O_RDONLY);
    void *memory =
        file < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    shift = MAP_FAILED == memory ? NULL : memory;
    const char *jump_us = getenv("PWR_CLOCK_JUMP_US");
    jump_ns = NULL == jump_us ? 0 : strtoull(jump_us, NULL, 10) * NS_PER_US;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (0 != status || CLOCK_MONOTONIC != clock) {
        return status;
    }
    pthread_once(&once, map);
    uint64_t ns = (uint64_t)now->tv_sec * NS_PER_S + (uint64_t)now->tv_nsec;
    ns += (NULL == shift ? 0 : *shift) + ns / NS_PER_MS * jump_ns;
    now->tv_sec = (time_t)(ns / NS_PER_S);
    now->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}
