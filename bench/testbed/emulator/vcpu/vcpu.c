/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Preload library: lets processes bind themselves to the CPUs of an emulated machine.
 *
 * Masks are given to the emulator (PWR_EMU_STATE/mnt/ctl/affinity, where a task's mask is at the
 * offset of its number), never to the kernel: the real CPUs are fewer, and which of them runs what
 * is best left to its scheduler.  Without PWR_EMU_STATE, or outside the machine, every call goes
 * straight to the kernel.
 *
 * Inheritance is the kernel's: a thread without a mask of its own has its process's; a forked child
 * gets a copy; exec keeps it (masks go with task numbers).  A child of vfork or posix_spawn, for
 * which no fork handler runs, takes its parent's mask over when it starts.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PWR_EXPORT __attribute__((visibility("default")))

/* Paths of the emulator's files. */
static char masks[4096];
static char places[4096];
static bool emulated;
static cpu_set_t machine; /* its CPUs */
/* Between prepare and child handler of one fork, in the thread that forks. */
static __thread cpu_set_t fork_mask;
static __thread bool fork_has_mask;

static pid_t self_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static bool get(const char *path, pid_t tid, cpu_set_t *mask)
{
    int saved = errno;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && pread(fd, mask, sizeof *mask, tid) == (ssize_t)sizeof *mask;
    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
    return found;
}

static bool get_mask(pid_t tid, cpu_set_t *mask)
{
    return get(masks, tid, mask);
}

/* 0, or -1 and errno. */
static int set_mask(pid_t tid, const cpu_set_t *mask)
{
    int fd = open(masks, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    int result = pwrite(fd, mask, sizeof *mask, tid) == (ssize_t)sizeof *mask ? 0 : -1;
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static bool is_own_thread(pid_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* The mask that holds for a task: its own, or its process's if that is ours. 0 is a parent outside
   the PID namespace. */
static bool mask_of(pid_t tid, cpu_set_t *mask)
{
    return tid > 0 && (get_mask(tid, mask) || (is_own_thread(tid) && get_mask(getpid(), mask)));
}

static void before_fork(void)
{
    fork_has_mask = mask_of(self_tid(), &fork_mask);
}

static void in_child(void)
{
    if (fork_has_mask) {
        set_mask(getpid(), &fork_mask);
    }
}

__attribute__((constructor)) static void attach(void)
{
    const char *state = getenv("PWR_EMU_STATE");
    cpu_set_t mask;
    int saved = errno;
    emulated = state != NULL &&
               snprintf(masks, sizeof masks, "%s/mnt/ctl/affinity", state) < (int)sizeof masks &&
               snprintf(places, sizeof places, "%s/mnt/ctl/place", state) < (int)sizeof places &&
               get_mask(0, &machine);
    if (emulated) {
        if (!get_mask(getpid(), &mask) && mask_of(getppid(), &mask)) {
            set_mask(getpid(), &mask);
        }
        pthread_atfork(before_fork, NULL, in_child);
    }
    errno = saved;
}

/* The kernel's answer for a task that is not there or not ours. */
static int check_task(pid_t tid)
{
    return tid == self_tid() || kill(tid, 0) == 0 ? 0 : -1;
}

PWR_EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (!emulated) {
        return (int)syscall(SYS_sched_setaffinity, pid, size, set);
    }
    cpu_set_t mask;
    CPU_ZERO(&mask);
    memcpy(&mask, set, size < sizeof mask ? size : sizeof mask);
    pid_t tid = pid != 0 ? pid : self_tid();
    return check_task(tid) != 0 ? -1 : set_mask(tid, &mask);
}

PWR_EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (!emulated) {
        long length = syscall(SYS_sched_getaffinity, pid, size, set);
        if (length < 0) {
            return -1;
        }
        memset((char *)set + length, 0, size - (size_t)length);
        return 0;
    }
    if (8 * size < (size_t)CPU_COUNT(&machine)) {
        errno = EINVAL;
        return -1;
    }
    pid_t tid = pid != 0 ? pid : self_tid();
    if (check_task(tid) != 0 && errno == ESRCH) {
        return -1;
    }
    cpu_set_t mask;
    if (!mask_of(tid, &mask)) {
        mask = machine;
    }
    memset(set, 0, size);
    memcpy(set, &mask, size < sizeof mask ? size : sizeof mask);
    return 0;
}

/* The kernel's number of a thread: glibc tells it only through the thread's CPU clock, whose id
   holds its complement above three bits of clock type (CPUCLOCK, linux/posix-timers.h). */
static pid_t tid_of(pthread_t thread)
{
    clockid_t clock;
    if (pthread_equal(thread, pthread_self())) {
        return self_tid();
    }
    return pthread_getcpuclockid(thread, &clock) == 0 ? (pid_t) ~(clock >> 3) : -1;
}

PWR_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    pid_t tid = tid_of(thread);
    if (tid < 0) {
        return ESRCH;
    }
    return sched_setaffinity(tid, size, set) == 0 ? 0 : errno;
}

PWR_EXPORT int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    pid_t tid = tid_of(thread);
    if (tid < 0) {
        return ESRCH;
    }
    return sched_getaffinity(tid, size, set) == 0 ? 0 : errno;
}

/* Attributes would be given to the kernel when the thread is created, which knows fewer CPUs and
   would refuse.  The thread begins with its process's mask instead and may narrow it itself. */
PWR_EXPORT int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size,
                                           const cpu_set_t *set)
{
    (void)attributes;
    for (int cpu = 0; cpu < CPU_SETSIZE && (size_t)cpu < 8 * size; cpu++) {
        if (CPU_ISSET_S(cpu, size, set) && (!emulated || CPU_ISSET(cpu, &machine))) {
            return 0;
        }
    }
    return EINVAL;
}

/* The emulated CPU, whose files and registers the caller may look for; the real one has another
   number.  A thread is where its process is.  What is not bound is on no CPU: the first one stands
   for all. */
PWR_EXPORT int sched_getcpu(void)
{
    unsigned real;
    if (!emulated) {
        return syscall(SYS_getcpu, &real, NULL, NULL) == 0 ? (int)real : -1;
    }
    cpu_set_t mask;
    if (!get(places, getpid(), &mask)) {
        mask = machine;
    }
    int cpu = 0;
    while (!CPU_ISSET(cpu, &mask)) { /* one is set */
        cpu++;
    }
    return cpu;
}
