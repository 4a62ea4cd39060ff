/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For LD_PRELOAD: a machine on which whoever slept on a futex needs two milliseconds to wake up, by
 * a clock of which each process has its own: CLOCK_MONOTONIC counts what it slept, and everything
 * else a thousandth. So what others do with the CPUs meanwhile changes nothing.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, SLOWER = 1000, WAKEUP_NS = 2000000 };

typedef long (*syscall_fn_t)(long number, ...);

static _Atomic uint64_t slept_ns;

static syscall_fn_t real(void)
{
    static syscall_fn_t found;
    if (!found) {
        *(void **)&found = dlsym(RTLD_NEXT, "syscall");
    }
    return found;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(args, long);
    }
    va_end(args);
    long result = real()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (SYS_futex == number && FUTEX_WAIT == a[1]) {
        slept_ns += WAKEUP_NS;
    }
    return result;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = (int)real()(SYS_clock_gettime, clock, now);
    if (0 == status && CLOCK_MONOTONIC == clock) {
        uint64_t ns = (uint64_t)now->tv_sec * NS_PER_S + (uint64_t)now->tv_nsec;
        ns = ns / SLOWER + slept_ns;
        now->tv_sec = (time_t)(ns / NS_PER_S);
        now->tv_nsec = (long)(ns % NS_PER_S);
    }
    return status;
}
