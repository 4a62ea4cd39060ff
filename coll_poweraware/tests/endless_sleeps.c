/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * For LD_PRELOAD: sleeps of libpoweraware in the event loop last until something wakes the sleeper,
 * and naps that nothing ends for ever.  Who relies on a bell that nobody rings hangs, instead of
 * being late.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <execinfo.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 32 };

/* By way of whatever it calls; other threads have event loops of their own. */
static bool is_called_by_ours(void)
{
    void *frames[FRAMES];
    int num = syscall(SYS_gettid) == getpid() ? backtrace(frames, FRAMES) : 0;
    Dl_info caller;
    for (int i = 0; i < num; ++i) {
        if (0 != dladdr(frames[i], &caller) && NULL != strstr(caller.dli_fname, "libpoweraware")) {
            return true;
        }
    }
    return false;
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t num, int timeout_ms)
{
    struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                               .tv_nsec = timeout_ms % 1000 * 1000000l};
    bool endless = timeout_ms < 0 || (timeout_ms > 0 && is_called_by_ours());
    return (int)syscall(SYS_ppoll, fds, num, endless ? NULL : &timeout, NULL, 0);
}

__attribute__((visibility("default"))) int epoll_wait(int epoll, struct epoll_event *events,
                                                      int most, int timeout_ms)
{
    bool endless = timeout_ms > 0 && is_called_by_ours();
    return (int)syscall(SYS_epoll_pwait, epoll, events, most, endless ? -1 : timeout_ms, NULL, 0);
}

__attribute__((visibility("default"))) int ppoll(struct pollfd *fds, nfds_t num,
                                                 const struct timespec *timeout,
                                                 const sigset_t *signals)
{
    return (int)syscall(SYS_ppoll, fds, num, is_called_by_ours() ? NULL : timeout, signals,
                        sizeof(uint64_t)); /* the kernel's set */
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *length,
                                                     struct timespec *left)
{
    if (is_called_by_ours()) {
        pause();
    }
    return (int)syscall(SYS_nanosleep, length, left);
}
