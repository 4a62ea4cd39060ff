/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who runs on which emulated CPU.
 */
#include "config.h"

#include "activity.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "estimator.h"
#include "log.h"
#include "proc_reader.h"

enum { PATH_SIZE = 512 };

/* The table is swept for dead tasks, and /proc for unbound processes, this often. */
static const uint64_t sweep_ns = 250000000;

/* A process looked at less than this ago is taken to be in the state it was in: several ranks write
   levers within microseconds, and each write charges all CPUs that share the lever.  The estimator
   carries what that gets wrong on to later intervals. */
static const uint64_t fresh_ns = 1000000;

struct process {
    struct emu_proc proc;
    uint64_t read_ns; /* when its counters were read last */
    struct emu_estimator estimator;
    emu_mask_t mask;
    int cpu;
    bool ended;
    bool bound; /* has an entry in the affinity table */
};

struct emu_activity {
    char proc_root[256];
    struct emu_affinity_table *table;
    int cpu_count;
    bool count_unbound;
    bool started; /* the table has been read once */
    uint32_t generation;
    uint64_t next_sweep_ns;
    struct process *processes;
    int process_count, process_room;
    int placed[EMU_MAX_CPUS];          /* processes on each CPU */
    uint64_t pending_ns[EMU_MAX_CPUS]; /* active, not yet taken */
};

int emu_activity_create(const struct emu_config *config, const char *proc_root,
                        struct emu_affinity_table *table, struct emu_activity **activity)
{
    int error = emu_proc_check(proc_root);
    if (error != 0) {
        return error;
    }
    struct emu_activity *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ENOMEM;
    }
    snprintf(made->proc_root, sizeof made->proc_root, "%s", proc_root);
    made->table = table;
    made->cpu_count = config->packages * config->cores * config->smt;
    made->count_unbound = config->count_unbound;
    *activity = made;
    return 0;
}

void emu_activity_destroy(struct emu_activity *activity)
{
    for (int i = 0; i < activity->process_count; i++) {
        emu_proc_close(&activity->processes[i].proc);
    }
    free(activity->processes);
    free(activity);
}

static struct process *process_find(struct emu_activity *activity, pid_t pid)
{
    for (int i = 0; i < activity->process_count; i++) {
        if (activity->processes[i].proc.pid == pid) {
            return &activity->processes[i];
        }
    }
    return NULL;
}

static emu_mask_t effective(const struct emu_activity *activity, emu_mask_t mask)
{
    emu_affinity_effective(activity->table, &mask);
    return mask;
}

static int least_loaded(const struct emu_activity *activity, const emu_mask_t *mask)
{
    int best = -1;
    for (int cpu = 0; cpu < activity->cpu_count; cpu++) {
        if (emu_mask_has(mask, cpu) &&
            (best < 0 || activity->placed[cpu] < activity->placed[best])) {
            best = cpu;
        }
    }
    return best < 0 ? 0 : best;
}

static void place(struct emu_activity *activity, struct process *process)
{
    emu_mask_t mask = effective(activity, process->mask);
    process->cpu = least_loaded(activity, &mask);
    activity->placed[process->cpu]++;
    if (process->bound) {
        emu_affinity_place(activity->table, process->proc.pid, process->cpu);
    }
}

/* Adds what the process did since it was last looked at to its CPU. */
static void process_sample(struct emu_activity *activity, struct process *process, uint64_t now_ns)
{
    struct emu_proc_sample sample = {.total_ns = process->estimator.total_ns,
                                     .runnable = process->estimator.runnable};
    if (now_ns - process->read_ns >= fresh_ns) {
        if (process->ended || emu_proc_read(&process->proc, &sample) != 0) {
            process->ended = true;
            return;
        }
        process->read_ns = now_ns;
    }
    activity->pending_ns[process->cpu] +=
        emu_estimator_step(&process->estimator, now_ns, sample.total_ns, sample.runnable);
}

static void process_add(struct emu_activity *activity, pid_t pid, const emu_mask_t *mask,
                        bool bound, uint64_t now_ns)
{
    if (activity->process_count == activity->process_room) {
        int room = activity->process_room > 0 ? 2 * activity->process_room : 16;
        struct process *more = realloc(activity->processes, (size_t)room * sizeof *more);
        if (more == NULL) {
            return;
        }
        activity->processes = more;
        activity->process_room = room;
    }
    struct process *process = &activity->processes[activity->process_count];
    *process = (struct process){.mask = *mask, .bound = bound, .read_ns = now_ns};
    struct emu_proc_sample sample;
    int error = emu_proc_open(&process->proc, activity->proc_root, pid);
    if (error != 0) {
        if (error == EMFILE || error == ENFILE) {
            emu_log("too many processes on this machine: %s; raise the limit of open files",
                    strerror(error));
        }
        return;
    }
    if (emu_proc_read(&process->proc, &sample) != 0) {
        emu_proc_close(&process->proc);
        return;
    }
    emu_estimator_start(&process->estimator, now_ns, sample.total_ns, sample.runnable);
    activity->process_count++;
    place(activity, process);
}

static void remove_ended(struct emu_activity *activity)
{
    for (int i = 0; i < activity->process_count;) {
        struct process *process = &activity->processes[i];
        if (!process->ended) {
            i++;
            continue;
        }
        activity->placed[process->cpu]--;
        if (process->bound) {
            emu_affinity_drop(activity->table, process->proc.pid);
        }
        emu_proc_close(&process->proc);
        *process = activity->processes[--activity->process_count];
    }
}

/* Moves those whose CPU is no longer theirs: another mask, or hotplug. */
static void settle(struct emu_activity *activity, uint64_t now_ns)
{
    for (int i = 0; i < activity->process_count; i++) {
        struct process *process = &activity->processes[i];
        emu_mask_t mask = effective(activity, process->mask);
        if (!emu_mask_has(&mask, process->cpu)) {
            process_sample(activity, process, now_ns);
            activity->placed[process->cpu]--;
            place(activity, process);
        }
    }
}

static void read_table(struct emu_activity *activity, uint64_t now_ns)
{
    for (int i = 0; i < EMU_AFFINITY_SLOTS; i++) {
        pid_t pid = atomic_load_explicit(&activity->table->slots[i].tid, memory_order_acquire);
        emu_mask_t mask;
        if (pid <= 0 || !emu_affinity_get(activity->table, pid, &mask, NULL)) {
            continue;
        }
        struct process *process = process_find(activity, pid);
        if (process == NULL) {
            process_add(activity, pid, &mask, true, now_ns);
        } else {
            process->bound = true;
            process->mask = mask;
        }
    }
}

static bool task_exists(const struct emu_activity *activity, pid_t tid)
{
    char path[PATH_SIZE];
    struct stat status;
    snprintf(path, sizeof path, "%s/%d", activity->proc_root, (int)tid);
    return stat(path, &status) == 0;
}

/* Entries of threads and of processes that ended before they were ever seen. */
static void drop_dead_tasks(struct emu_activity *activity)
{
    for (int i = 0; i < EMU_AFFINITY_SLOTS; i++) {
        pid_t tid = atomic_load_explicit(&activity->table->slots[i].tid, memory_order_acquire);
        if (tid > 0 && !task_exists(activity, tid)) {
            emu_affinity_drop(activity->table, tid);
        }
    }
}

/* Kernel threads have no user memory map: their maps-derived fields are 0, and so is field 23
   (vsize) of stat. */
static bool is_kernel_thread(const struct emu_activity *activity, pid_t pid)
{
    char path[PATH_SIZE], text[512];
    snprintf(path, sizeof path, "%s/%d/stat", activity->proc_root, (int)pid);
    FILE *stream = fopen(path, "re");
    size_t length = stream == NULL ? 0 : fread(text, 1, sizeof text - 1, stream);
    if (stream != NULL) {
        fclose(stream);
    }
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    unsigned long vsize = 0;
    return at == NULL ||
           sscanf(at + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                  "%*d %*d %*u %lu",
                  &vsize) != 1 ||
           vsize == 0;
}

static void add_unbound(struct emu_activity *activity, uint64_t now_ns)
{
    emu_mask_t all;
    memset(&all, 0xff, sizeof all);
    DIR *folder = opendir(activity->proc_root);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        pid_t pid = atoi(entry->d_name);
        if (pid > 0 && pid != getpid() && process_find(activity, pid) == NULL &&
            !is_kernel_thread(activity, pid)) {
            process_add(activity, pid, &all, false, now_ns);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

void emu_activity_refresh(struct emu_activity *activity, uint64_t now_ns)
{
    remove_ended(activity);
    if (now_ns >= activity->next_sweep_ns) {
        activity->next_sweep_ns = now_ns + sweep_ns;
        drop_dead_tasks(activity);
        if (activity->count_unbound) {
            add_unbound(activity, now_ns);
        }
    }
    uint32_t generation = atomic_load_explicit(&activity->table->generation, memory_order_acquire);
    if (generation != activity->generation || !activity->started) {
        activity->started = true;
        activity->generation = generation;
        read_table(activity, now_ns);
        settle(activity, now_ns);
    }
}

uint64_t emu_activity_take(void *arg, int cpu, uint64_t from_ns, uint64_t now_ns)
{
    (void)from_ns;
    struct emu_activity *activity = arg;
    if (activity->placed[cpu] > 0) {
        for (int i = 0; i < activity->process_count; i++) {
            if (activity->processes[i].cpu == cpu) {
                process_sample(activity, &activity->processes[i], now_ns);
            }
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
