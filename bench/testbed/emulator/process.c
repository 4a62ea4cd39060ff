/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernel's counters of one process.
 */
#include "config.h"

#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads are listed again when their number changes, and every so many samples in case one ended
   and another began in between. */
enum { LIST_EVERY = 64, STAT_SIZE = 512 };

/* Counters of a process that stays runnable are read every so many samples. */
enum { READ_EVERY = 8 };

static int read_schedstat(int fd, uint64_t *total_ns)
{
    char text[96];
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length <= 0) {
        return ESRCH;
    }
    text[length] = '\0';
    char *end;
    uint64_t run_ns = strtoull(text, &end, 10);
    *total_ns = run_ns + strtoull(end, NULL, 10);
    return 0;
}

/* State letter and number of threads from /proc/PID/task/PID/stat: fields 3 and 20.  The command
   in field 2 may hold blanks and parentheses, so counting starts at the last ')'. */
static int read_stat(int fd, char *state, int *threads)
{
    char text[STAT_SIZE];
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length <= 0) {
        return ESRCH;
    }
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    int found = at == NULL ? 0
                           : sscanf(at + 1,
                                    " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                    "%*s %*s %d",
                                    state, threads);
    return found == 2 ? 0 : EINVAL;
}

static struct emu_proc_thread *thread_find(struct emu_proc *proc, pid_t tid)
{
    for (int i = 0; i < proc->thread_count; i++) {
        if (proc->threads[i].tid == tid) {
            return &proc->threads[i];
        }
    }
    return NULL;
}

static void thread_add(struct emu_proc *proc, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "%d/schedstat", (int)tid);
    int fd = openat(proc->task_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return; /* it has just ended */
    }
    if (proc->thread_count == proc->thread_room) {
        int room = proc->thread_room > 0 ? 2 * proc->thread_room : 4;
        struct emu_proc_thread *more = realloc(proc->threads, (size_t)room * sizeof *more);
        if (more == NULL) {
            close(fd);
            return;
        }
        proc->threads = more;
        proc->thread_room = room;
    }
    proc->threads[proc->thread_count++] = (struct emu_proc_thread){.tid = tid, .fd = fd};
}

static void threads_list(struct emu_proc *proc)
{
    proc->unseen = 0;
    int fd = openat(proc->task_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        pid_t tid = atoi(entry->d_name);
        if (tid > 0 && thread_find(proc, tid) == NULL) {
            thread_add(proc, tid);
        }
    }
    closedir(folder);
}

/* /proc/TID resolves for threads too; only a process's main thread has its process's number. */
static bool is_process(int task_fd, pid_t pid)
{
    char path[64], text[STAT_SIZE];
    snprintf(path, sizeof path, "%d/status", (int)pid);
    int fd = openat(task_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *group = strstr(text, "\nTgid:");
    return group != NULL && atoi(group + strlen("\nTgid:")) == pid;
}

int emu_proc_open(struct emu_proc *proc, const char *proc_root, pid_t pid)
{
    char path[4096];
    *proc = (struct emu_proc){.pid = pid, .stat_fd = -1};
    snprintf(path, sizeof path, "%s/%d/task", proc_root, (int)pid);
    proc->task_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc->task_fd < 0) {
        return errno == ENOENT ? ESRCH : errno;
    }
    snprintf(path, sizeof path, "%d/stat", (int)pid);
    if (is_process(proc->task_fd, pid)) {
        proc->stat_fd = openat(proc->task_fd, path, O_RDONLY | O_CLOEXEC);
    }
    if (proc->stat_fd < 0) {
        emu_proc_close(proc);
        return ESRCH;
    }
    threads_list(proc);
    return 0;
}

static void threads_read(struct emu_proc *proc)
{
    for (int i = 0; i < proc->thread_count;) {
        struct emu_proc_thread *thread = &proc->threads[i];
        uint64_t total_ns;
        if (read_schedstat(thread->fd, &total_ns) != 0) {
            close(thread->fd);
            *thread = proc->threads[--proc->thread_count];
            continue;
        }
        if (total_ns > thread->total_ns) {
            proc->total_ns += total_ns - thread->total_ns;
            thread->total_ns = total_ns;
        }
        i++;
    }
}

int emu_proc_read(struct emu_proc *proc, struct emu_proc_sample *sample)
{
    char state;
    int threads;
    int error = read_stat(proc->stat_fd, &state, &threads);
    if (error != 0) {
        return error;
    }
    bool stays = state == 'R' && proc->runnable;
    proc->runnable = state == 'R';
    if (stays && ++proc->stale < READ_EVERY) {
        *sample = (struct emu_proc_sample){.total_ns = proc->total_ns, .runnable = true};
        return 0;
    }
    proc->stale = 0;
    if (threads != proc->thread_count || ++proc->unseen >= LIST_EVERY) {
        threads_list(proc);
    }
    threads_read(proc);
    if ((state == 'Z' || state == 'X') && threads <= 1) {
        return ESRCH;
    }
    *sample = (struct emu_proc_sample){.total_ns = proc->total_ns, .runnable = proc->runnable};
    return 0;
}

void emu_proc_close(struct emu_proc *proc)
{
    for (int i = 0; i < proc->thread_count; i++) {
        close(proc->threads[i].fd);
    }
    free(proc->threads);
    if (proc->stat_fd >= 0) {
        close(proc->stat_fd);
    }
    close(proc->task_fd);
    *proc = (struct emu_proc){.task_fd = -1, .stat_fd = -1};
}

int emu_proc_check(const char *proc_root)
{
    char path[4096];
    uint64_t turns; /* on a CPU: not 0 here unless nothing is counted */
    snprintf(path, sizeof path, "%s/self/schedstat", proc_root);
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        return errno;
    }
    int fields = fscanf(stream, "%*u %*u %" SCNu64, &turns);
    fclose(stream);
    return fields == 1 && turns > 0 ? 0 : ENOTSUP;
}

/* --- the estimator --- */

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

void emu_estimator_start(struct emu_estimator *estimator, uint64_t now_ns, uint64_t total_ns,
                         bool runnable)
{
    *estimator = (struct emu_estimator){
        .t_ns = now_ns,
        .total_ns = total_ns,
        .runnable = runnable,
    };
}

uint64_t emu_estimator_step(struct emu_estimator *estimator, uint64_t now_ns, uint64_t total_ns,
                            bool runnable)
{
    if (now_ns <= estimator->t_ns) {
        return 0;
    }
    int64_t interval = (int64_t)(now_ns - estimator->t_ns);
    int64_t due = (int64_t)(total_ns - estimator->total_ns) + estimator->carry_ns;
    int64_t active = interval;
    if (!runnable || !estimator->runnable) {
        active = clamp(due, 0, interval);
    }
    estimator->carry_ns = clamp(due - active, -(int64_t)EMU_DEBT_NS, EMU_CREDIT_NS);
    estimator->t_ns = now_ns;
    estimator->total_ns = total_ns;
    estimator->runnable = runnable;
    return (uint64_t)active;
}
