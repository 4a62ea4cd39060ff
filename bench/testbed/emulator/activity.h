/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which CPUs each task may run on, on which one each process does, and for how long each CPU was
 * active.
 *
 * Placement: a process goes to the least loaded CPU of its mask and stays there while the mask
 * allows it.  Processes without a mask (shells, launchers, this daemon) are not counted: on a real
 * node their share is small, here they would be a large one.  A thread's own mask is kept, but the
 * thread is counted where its process is.
 */
#ifndef EMU_ACTIVITY_H
#define EMU_ACTIVITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { EMU_MAX_TASKS = 4096 };

struct emu_activity;

/* proc_root is "/proc", except in tests.  NULL: out of memory. */
struct emu_activity *emu_activity_create(int cpu_count, const char *proc_root);
void emu_activity_destroy(struct emu_activity *activity);

/* Records a task's mask, of which at least one CPU is there.  0, or EINVAL, or ENOSPC. */
int emu_activity_bind(struct emu_activity *activity, pid_t tid, const cpu_set_t *mask,
                      uint64_t now_ns);
/* The task's mask, or that of task 0: all CPUs there are.  False if it has none. */
bool emu_activity_mask(const struct emu_activity *activity, pid_t tid, cpu_set_t *mask);

/* The CPU on which the process is, alone in mask.  False if it is on none: not bound, a thread, or
   not known. */
bool emu_activity_place(const struct emu_activity *activity, pid_t pid, cpu_set_t *mask);

/* Forgets tasks that have ended. */
void emu_activity_refresh(struct emu_activity *activity, uint64_t now_ns);

/* An emu_active_fn (machine.h); arg is the struct emu_activity. */
uint64_t emu_activity_take(void *arg, int cpu, uint64_t now_ns);

/* Processes now placed on a CPU. */
int emu_activity_count(const struct emu_activity *activity, int cpu);

#endif
