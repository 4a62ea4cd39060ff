/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernel's counters of one process, read cheaply: files stay open between samples.
 */
#ifndef EMU_PROCESS_H
#define EMU_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emu_proc_thread {
    pid_t tid;
    int fd; /* schedstat */
    uint64_t total_ns;
};

struct emu_proc {
    DIR *tasks;  /* folder /proc/PID/task */
    int stat_fd; /* of the main thread */
    struct emu_proc_thread *threads;
    int thread_count;
    int unseen; /* samples since the threads were listed */
    int stale;  /* samples since the counters were read */

    /* The sample taken last.  Run time plus run-queue delay of all threads, dead ones included.
       While the main thread stays runnable it may be some samples old: the estimator does not look
       at it then, and a spinning process costs one read instead of one per thread. */
    uint64_t total_ns;
    bool runnable; /* the main thread's state letter is R */
};

/* Opens proc_root ("/proc")/pid and takes a sample.  ESRCH: no such process, or pid is a thread's.
 */
int emu_proc_open(struct emu_proc *proc, const char *proc_root, pid_t pid);
/* Takes a sample.  ESRCH: the process has ended (a zombie has: it runs no more). */
int emu_proc_read(struct emu_proc *proc);
void emu_proc_close(struct emu_proc *proc);

/* Does this kernel keep schedstat?  0, or errno. */
int emu_proc_check(const char *proc_root);

/* How long a process was runnable, from samples of the kernel's counters.
 *
 * A process on an emulated CPU is active while it is runnable, whether or not it holds one of the
 * few real CPUs: D, the growth of its threads' run time plus run-queue delay, is that time.  But
 * the kernel credits delay only once the task gets the CPU, and run time only at ticks, so D of
 * one interval is late.  Hence, for each interval:
 *   1. runnable (state letter R) at both ends: active for all of it.  What D says more or less is
 *      carried on.
 *   2. otherwise: active for D plus what was carried, as far as the interval goes.
 * In the long run the sum is D's, which is exact: 1. only moves time between intervals.
 *
 * The carry is bounded.  Debt (time charged before the kernel credited it): a task that only
 * happens to be runnable whenever we look must not be shown idle for longer than DEBT_NS after it
 * changes its ways.  Credit (time the kernel credited later than it passed): a second thread that
 * is runnable at the same time must not add up, it cannot use the same CPU.
 */
enum { EMU_DEBT_NS = 1000000000, EMU_CREDIT_NS = 20000000 };

struct emu_estimator {
    uint64_t t_ns;
    uint64_t total_ns; /* D, summed since the process started */
    int64_t carry_ns;  /* negative: debt */
    bool runnable;
};

void emu_estimator_start(struct emu_estimator *estimator, uint64_t now_ns, uint64_t total_ns,
                         bool runnable);
/* The time active since the last step (or start): 0 .. now_ns - then. */
uint64_t emu_estimator_step(struct emu_estimator *estimator, uint64_t now_ns, uint64_t total_ns,
                            bool runnable);

#endif
