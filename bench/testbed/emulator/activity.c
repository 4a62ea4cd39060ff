/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which CPUs each task may run on, and which one each process does.
 */
#include "config.h"

#include "activity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine_file.h"
#include "process.h"
#include "records.h"

/* Dead tasks that nothing else tells of are looked for this often. */
static const uint64_t sweep_ns = 250000000;

/* A process looked at less than this ago is taken to be in the state it was in: several ranks write
   levers within microseconds, and each write charges all CPUs that share the lever.  The estimator
   carries what that gets wrong on to later intervals. */
static const uint64_t fresh_ns = 1000000;

enum { NOWHERE = -1 };

struct task {
    pid_t tid;
    cpu_set_t mask;
    bool ended;
    int cpu; /* where it was placed; NOWHERE: a thread, or it cannot be watched */
    struct emu_proc proc;
    uint64_t read_ns; /* when its counters were read last */
    struct emu_estimator estimator;
};

struct emu_activity {
    const char *proc_root;
    int cpu_count;
    uint64_t next_sweep_ns;
    int task_count;
    struct task tasks[EMU_MAX_TASKS];
    int placed[EMU_MAX_CPUS];          /* processes on each CPU */
    uint64_t pending_ns[EMU_MAX_CPUS]; /* active, not yet taken */
};

struct emu_activity *emu_activity_create(int cpu_count, const char *proc_root)
{
    struct emu_activity *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->proc_root = proc_root;
        made->cpu_count = cpu_count;
    }
    return made;
}

static void task_remove(struct emu_activity *activity, struct task *task)
{
    if (task->cpu != NOWHERE) {
        activity->placed[task->cpu]--;
        emu_proc_close(&task->proc);
    }
    *task = activity->tasks[--activity->task_count];
}

void emu_activity_destroy(struct emu_activity *activity)
{
    while (activity->task_count > 0) {
        task_remove(activity, &activity->tasks[activity->task_count - 1]);
    }
    free(activity);
}

static struct task *task_find(const struct emu_activity *activity, pid_t tid)
{
    for (int i = 0; i < activity->task_count; i++) {
        if (activity->tasks[i].tid == tid) {
            return (struct task *)&activity->tasks[i];
        }
    }
    return NULL;
}

static void place(struct emu_activity *activity, struct task *task)
{
    int best = NOWHERE;
    for (int cpu = 0; cpu < activity->cpu_count; cpu++) {
        if (CPU_ISSET(cpu, &task->mask) &&
            (best == NOWHERE || activity->placed[cpu] < activity->placed[best])) {
            best = cpu;
        }
    }
    task->cpu = best;
    activity->placed[best]++;
}

/* Adds what the process did since it was last looked at to its CPU. */
static void sample(struct emu_activity *activity, struct task *task, uint64_t now_ns)
{
    if (now_ns - task->read_ns >= fresh_ns) {
        if (task->ended || emu_proc_read(&task->proc) != 0) {
            task->ended = true;
            return;
        }
        task->read_ns = now_ns;
    }
    activity->pending_ns[task->cpu] +=
        emu_estimator_step(&task->estimator, now_ns, task->proc.total_ns, task->proc.runnable);
}

/* Begins to watch a process; a thread is none. */
static void watch(struct emu_activity *activity, struct task *task, uint64_t now_ns)
{
    int error = emu_proc_open(&task->proc, activity->proc_root, task->tid);
    if (error == EMFILE || error == ENFILE) {
        emu_log("too many processes on this machine: %s; raise the limit of open files",
                strerror(error));
    }
    if (error == 0) {
        emu_estimator_start(&task->estimator, now_ns, task->proc.total_ns, task->proc.runnable);
        place(activity, task);
    }
}

int emu_activity_bind(struct emu_activity *activity, pid_t tid, const cpu_set_t *mask,
                      uint64_t now_ns)
{
    cpu_set_t there;
    emu_activity_mask(activity, 0, &there);
    CPU_AND(&there, &there, mask);
    if (tid <= 0 || CPU_COUNT(&there) == 0) {
        return EINVAL;
    }
    struct task *task = task_find(activity, tid);
    if (task == NULL) {
        if (activity->task_count == EMU_MAX_TASKS) {
            return ENOSPC;
        }
        task = &activity->tasks[activity->task_count++];
        *task = (struct task){.tid = tid, .mask = there, .cpu = NOWHERE, .read_ns = now_ns};
        watch(activity, task, now_ns);
    }
    task->mask = there;
    if (task->cpu != NOWHERE && !CPU_ISSET(task->cpu, &there)) {
        sample(activity, task, now_ns);
        activity->placed[task->cpu]--;
        place(activity, task);
    }
    return 0;
}

bool emu_activity_mask(const struct emu_activity *activity, pid_t tid, cpu_set_t *mask)
{
    CPU_ZERO(mask);
    for (int cpu = 0; tid == 0 && cpu < activity->cpu_count; cpu++) {
        CPU_SET(cpu, mask);
    }
    const struct task *task = task_find(activity, tid);
    if (task != NULL) {
        *mask = task->mask;
    }
    return tid == 0 || task != NULL;
}

bool emu_activity_place(const struct emu_activity *activity, pid_t pid, cpu_set_t *mask)
{
    const struct task *task = task_find(activity, pid);
    CPU_ZERO(mask);
    if (task == NULL || task->cpu == NOWHERE) {
        return false;
    }
    CPU_SET(task->cpu, mask);
    return true;
}

static bool exists(const struct emu_activity *activity, pid_t tid)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%d", activity->proc_root, (int)tid);
    return access(path, F_OK) == 0;
}

void emu_activity_refresh(struct emu_activity *activity, uint64_t now_ns)
{
    bool sweep = now_ns >= activity->next_sweep_ns;
    if (sweep) {
        activity->next_sweep_ns = now_ns + sweep_ns;
    }
    for (int i = activity->task_count - 1; i >= 0; i--) {
        struct task *task = &activity->tasks[i];
        if (task->ended || (sweep && !exists(activity, task->tid))) {
            task_remove(activity, task);
        }
    }
}

uint64_t emu_activity_take(void *arg, int cpu, uint64_t now_ns)
{
    struct emu_activity *activity = arg;
    for (int i = 0; activity->placed[cpu] > 0 && i < activity->task_count; i++) {
        if (activity->tasks[i].cpu == cpu) {
            sample(activity, &activity->tasks[i], now_ns);
        }
    }
    uint64_t active_ns = activity->pending_ns[cpu];
    activity->pending_ns[cpu] = 0;
    return active_ns;
}

int emu_activity_count(const struct emu_activity *activity, int cpu)
{
    return activity->placed[cpu];
}
