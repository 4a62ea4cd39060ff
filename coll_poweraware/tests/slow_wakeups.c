/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For LD_PRELOAD: a machine on which whoever slept on a futex needs two milliseconds to wake up.
 */
#define _GNU_SOURCE

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>

typedef long (*syscall_fn_t)(long number, ...);

__attribute__((visibility("default"))) long syscall(long number, ...)
{
    static const struct timespec late = {.tv_nsec = 2000000};
    static syscall_fn_t real;
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(args, long);
    }
    va_end(args);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (SYS_futex == number && FUTEX_WAIT == a[1]) {
        nanosleep(&late, NULL);
    }
    return result;
}
