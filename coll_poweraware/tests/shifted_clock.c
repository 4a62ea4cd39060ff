/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For LD_PRELOAD: CLOCK_MONOTONIC is ahead by the first word of the file that PWR_WATCHED names
 * (see watched.h), so that what takes minutes is over when a test says so, and not before.
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

enum { NS_PER_S = 1000000000 };

static const _Atomic uint64_t *shift;

static void map(void)
{
    const char *path = getenv("PWR_WATCHED");
    int file = NULL == path ? -1 : open(path, O_RDONLY);
    void *memory =
        file < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    shift = MAP_FAILED == memory ? NULL : memory;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (0 != status || CLOCK_MONOTONIC != clock) {
        return status;
    }
    pthread_once(&once, map);
    if (NULL != shift) {
        uint64_t ns = (uint64_t)now->tv_nsec + *shift;
        now->tv_sec += (time_t)(ns / NS_PER_S);
        now->tv_nsec = (long)(ns % NS_PER_S);
    }
    return 0;
}
