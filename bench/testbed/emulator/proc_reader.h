/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernel's counters of one process, read cheaply: files stay open between samples.
 */
#ifndef EMU_PROC_READER_H
#define EMU_PROC_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emu_proc_thread {
    pid_t tid;
    int fd; /* schedstat */
    uint64_t total_ns;
};

struct emu_proc {
    pid_t pid;
    int task_fd; /* folder /proc/PID/task */
    int stat_fd; /* of the main thread */
    struct emu_proc_thread *threads;
    int thread_count, thread_room;
    int unseen; /* samples since the threads were listed */
    int stale;  /* samples since the counters were read */
    bool runnable;
    uint64_t total_ns;
};

struct emu_proc_sample {
    /* Run time plus run-queue delay of all threads, dead ones included.  While the main thread
       stays runnable it may be some samples old: the estimator does not look at it then, and a
       spinning process costs one read instead of one per thread. */
    uint64_t total_ns;
    bool runnable; /* the main thread's state letter is R */
};

/* Opens proc_root ("/proc")/pid.  ESRCH: no such process, or pid is a thread's. */
int emu_proc_open(struct emu_proc *proc, const char *proc_root, pid_t pid);
/* ESRCH: the process has ended (a zombie has: it runs no more). */
int emu_proc_read(struct emu_proc *proc, struct emu_proc_sample *sample);
void emu_proc_close(struct emu_proc *proc);

/* Does this kernel keep schedstat?  0, or errno. */
int emu_proc_check(const char *proc_root);

#endif
