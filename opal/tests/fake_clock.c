/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * clock_gettime, nanosleep, sched_yield and syscall in the place of libc's.
 */
#include "config.h"

#include "fake_clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pwr/clock.h"

enum { LONGEST_TEST_S = 600 };

static bool endless;
static struct {
    bool runs;
    uint64_t now_ns;
    unsigned looks;
    unsigned still_at; /* the look; 0: none */
    uint64_t still_ns;
} fake;

int fake_clock_setup(void **state)
{
    (void)state;
    fake.runs = true;
    fake.now_ns = PWR_NS_PER_S;
    fake.still_at = 0;
    alarm(LONGEST_TEST_S); /* a hang is a failure, not a wait */
    return 0;
}

int fake_clock_endless_setup(void **state)
{
    (void)state;
    endless = true;
    alarm(LONGEST_TEST_S);
    return 0;
}

int fake_clock_teardown(void **state)
{
    (void)state;
    fake.runs = endless = false;
    alarm(0);
    return 0;
}

uint64_t fake_clock_now_ns(void)
{
    return fake.now_ns;
}

void fake_clock_pass(uint64_t ns)
{
    fake.now_ns += ns;
}

void fake_clock_stand_still(unsigned looks, uint64_t ns)
{
    fake.looks = 0;
    fake.still_at = looks + 1;
    fake.still_ns = ns;
}

static long real_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*real)(long, ...);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    return real(number, a, b, c, d, e, f);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!fake.runs || clock != CLOCK_MONOTONIC) {
        return (int)real_syscall(SYS_clock_gettime, clock, (long)now, 0, 0, 0, 0);
    }
    *now = pwr_timespec(fake.now_ns);
    fake.now_ns += FAKE_LOOK_NS;
    if (++fake.looks == fake.still_at) {
        fake.now_ns += fake.still_ns;
    }
    return 0;
}

static uint64_t ns_of(const struct timespec *length)
{
    return (uint64_t)length->tv_sec * PWR_NS_PER_S + (uint64_t)length->tv_nsec;
}

int nanosleep(const struct timespec *length, struct timespec *left)
{
    if (!fake.runs) {
        return (int)real_syscall(SYS_nanosleep, (long)length, (long)left, 0, 0, 0, 0);
    }
    fake.now_ns += ns_of(length);
    return 0;
}

/* Others would be let run for milliseconds, each time that a wait looks at the clock. */
int sched_yield(void)
{
    return fake.runs ? 0 : (int)real_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static int futex_wait(const _Atomic uint32_t *word, uint32_t seen, const struct timespec *timeout)
{
    bool same = atomic_load(word) == seen;
    fake.now_ns += same ? ns_of(timeout) : 0;
    errno = same ? ETIMEDOUT : EAGAIN;
    return -1;
}

long syscall(long number, ...)
{
    long word[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) {
        word[i] = va_arg(rest, long);
    }
    va_end(rest);
    bool waits = number == SYS_futex && word[1] == FUTEX_WAIT;
    if (waits && fake.runs) {
        return futex_wait((const _Atomic uint32_t *)word[0], (uint32_t)word[2],
                          (const struct timespec *)word[3]);
    }
    if (waits && endless) {
        word[3] = 0;
    }
    return real_syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
