/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Preload library: lets processes bind themselves to the CPUs of an emulated machine.
 *
 * Masks are recorded in the machine's affinity table (PWR_EMU_STATE/affinity), never passed on to
 * the kernel: the real CPUs are fewer, and which of them runs what is best left to its scheduler.
 * Without PWR_EMU_STATE, or outside the machine, every call goes straight to the kernel.
 *
 * Offline CPUs are left out of what is told, as the kernel does.
 *
 * Inheritance is the kernel's: a thread without a mask of its own has its process's; a forked child
 * gets a copy; exec keeps it (the table is keyed by task id).  A child of vfork or posix_spawn, for
 * which no fork handler runs, takes its parent's mask over when it starts.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "affinity_table.h"

#define PWR_EXPORT __attribute__((visibility("default")))

static struct emu_affinity_table *table;
/* Between prepare and child handler of one fork, in the thread that forks. */
static __thread emu_mask_t fork_mask;
static __thread bool fork_has_mask;

static pid_t self_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static bool is_own_thread(pid_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* The mask that holds for a task: its own, or its process's if that is ours. */
static bool mask_of(pid_t tid, emu_mask_t *mask, int *cpu)
{
    return emu_affinity_get(table, tid, mask, cpu) ||
           (is_own_thread(tid) && emu_affinity_get(table, getpid(), mask, cpu));
}

static void before_fork(void)
{
    fork_has_mask = mask_of(self_tid(), &fork_mask, NULL);
}

static void in_child(void)
{
    if (fork_has_mask) {
        emu_affinity_set(table, getpid(), &fork_mask);
    }
}

__attribute__((constructor)) static void attach(void)
{
    const char *state = getenv("PWR_EMU_STATE");
    char path[4096];
    if (state == NULL || snprintf(path, sizeof path, "%s/affinity", state) >= (int)sizeof path) {
        return;
    }
    int saved = errno;
    table = emu_affinity_attach(path);
    errno = saved;
    emu_mask_t mask;
    if (table == NULL) {
        return;
    }
    if (!emu_affinity_get(table, getpid(), &mask, NULL) &&
        emu_affinity_get(table, getppid(), &mask, NULL)) {
        emu_affinity_set(table, getpid(), &mask);
    }
    pthread_atfork(before_fork, NULL, in_child);
}

/* The kernel's answer for a task that is not there or not ours. */
static int check_task(pid_t tid)
{
    return tid == self_tid() || kill(tid, 0) == 0 ? 0 : -1;
}

PWR_EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (table == NULL) {
        return (int)syscall(SYS_sched_setaffinity, pid, size, set);
    }
    emu_mask_t mask = {{0}};
    bool any = false;
    for (int cpu = 0; cpu < table->cpu_count && (size_t)cpu < 8 * size; cpu++) {
        if (CPU_ISSET_S(cpu, size, set)) {
            mask.word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
            any = any || emu_affinity_is_online(table, cpu);
        }
    }
    if (!any) {
        errno = EINVAL;
        return -1;
    }
    pid_t tid = pid != 0 ? pid : self_tid();
    if (check_task(tid) != 0) {
        return -1;
    }
    if (!emu_affinity_set(table, tid, &mask)) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

PWR_EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (table == NULL) {
        long length = syscall(SYS_sched_getaffinity, pid, size, set);
        if (length < 0) {
            return -1;
        }
        memset((char *)set + length, 0, size - (size_t)length);
        return 0;
    }
    if (8 * size < (size_t)table->cpu_count) {
        errno = EINVAL;
        return -1;
    }
    pid_t tid = pid != 0 ? pid : self_tid();
    if (check_task(tid) != 0 && errno == ESRCH) {
        return -1;
    }
    emu_mask_t mask;
    if (!mask_of(tid, &mask, NULL)) {
        memset(&mask, 0xff, sizeof mask);
    }
    emu_affinity_effective(table, &mask);
    CPU_ZERO_S(size, set);
    for (int cpu = 0; cpu < table->cpu_count; cpu++) {
        if (emu_mask_has(&mask, cpu)) {
            CPU_SET_S(cpu, size, set);
        }
    }
    return 0;
}

PWR_EXPORT int sched_getcpu(void)
{
    unsigned real = 0;
    if (table == NULL) {
        return syscall(SYS_getcpu, &real, NULL, NULL) == 0 ? (int)real : -1;
    }
    emu_mask_t mask;
    int placed = -1;
    if (!mask_of(self_tid(), &mask, &placed)) {
        return 0; /* not placed: any CPU is as true as another, but it must exist */
    }
    emu_affinity_effective(table, &mask);
    if (placed >= 0 && placed < table->cpu_count && emu_mask_has(&mask, placed)) {
        return placed;
    }
    int cpu = 0;
    while (cpu < table->cpu_count - 1 && !emu_mask_has(&mask, cpu)) {
        cpu++;
    }
    return cpu;
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
    emu_mask_t mask;
    if (table != NULL && !emu_affinity_get(table, tid, &mask, NULL)) {
        tid = getpid(); /* a thread of ours without a mask of its own */
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
        if (CPU_ISSET_S(cpu, size, set) && (table == NULL || cpu < table->cpu_count)) {
            return 0;
        }
    }
    return EINVAL;
}
