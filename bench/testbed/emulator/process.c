/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernel's counters of one process.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads are listed again when their number changes, and every so many samples in case one ended
   and another began in between. */
enum { LIST_EVERY = 64, TEXT_SIZE = 512 };

/* Counters of a process that stays runnable are read every so many samples. */
enum { READ_EVERY = 8 };

/* The file's begin, or false. */
static bool read_text(int fd, char text[TEXT_SIZE])
{
    ssize_t length = pread(fd, text, TEXT_SIZE - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static int open_task(const struct emu_proc *proc, pid_t tid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%d/%s", (int)tid, name);
    return openat(dirfd(proc->tasks), path, O_RDONLY | O_CLOEXEC);
}

static bool has_thread(const struct emu_proc *proc, pid_t tid)
{
    for (int i = 0; i < proc->thread_count; i++) {
        if (proc->threads[i].tid == tid) {
            return true;
        }
    }
    return false;
}

static void thread_add(struct emu_proc *proc, pid_t tid)
{
    size_t count = (size_t)proc->thread_count + 1;
    struct emu_proc_thread *more = realloc(proc->threads, count * sizeof *more);
    if (more == NULL) {
        return;
    }
    proc->threads = more;
    int fd = open_task(proc, tid, "schedstat");
    if (fd >= 0) { /* it has not just ended */
        more[proc->thread_count++] = (struct emu_proc_thread){.tid = tid, .fd = fd};
    }
}

static void threads_list(struct emu_proc *proc)
{
    const struct dirent *entry;
    proc->unseen = 0;
    rewinddir(proc->tasks);
    while ((entry = readdir(proc->tasks)) != NULL) {
        pid_t tid = atoi(entry->d_name);
        if (tid > 0 && !has_thread(proc, tid)) {
            thread_add(proc, tid);
        }
    }
}

static void threads_read(struct emu_proc *proc)
{
    for (int i = 0; i < proc->thread_count;) {
        struct emu_proc_thread *thread = &proc->threads[i];
        char text[TEXT_SIZE], *delay;
        if (!read_text(thread->fd, text)) {
            close(thread->fd);
            *thread = proc->threads[--proc->thread_count];
            continue;
        }
        uint64_t total_ns = strtoull(text, &delay, 10);
        total_ns += strtoull(delay, NULL, 10);
        if (total_ns > thread->total_ns) {
            proc->total_ns += total_ns - thread->total_ns;
            thread->total_ns = total_ns;
        }
        i++;
    }
}

/* /proc/TID resolves for threads too; only a process's main thread has its process's number. */
static bool is_process(const struct emu_proc *proc, pid_t pid)
{
    char text[TEXT_SIZE];
    int fd = open_task(proc, pid, "status");
    bool good = fd >= 0 && read_text(fd, text);
    if (fd >= 0) {
        close(fd);
    }
    const char *group = good ? strstr(text, "\nTgid:") : NULL;
    return group != NULL && atoi(group + strlen("\nTgid:")) == pid;
}

int emu_proc_open(struct emu_proc *proc, const char *proc_root, pid_t pid)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d/task", proc_root, (int)pid);
    *proc = (struct emu_proc){.tasks = opendir(path), .stat_fd = -1};
    if (proc->tasks == NULL) {
        return errno == ENOENT ? ESRCH : errno;
    }
    if (is_process(proc, pid)) {
        proc->stat_fd = open_task(proc, pid, "stat");
    }
    int error = proc->stat_fd < 0 ? ESRCH : emu_proc_read(proc);
    if (error != 0) {
        emu_proc_close(proc);
    }
    return error;
}

int emu_proc_read(struct emu_proc *proc)
{
    /* State letter and number of threads: fields 3 and 20.  The command in field 2 may hold blanks
       and parentheses, so counting starts at the last ')'. */
    static const char fields[] = " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                 "%*s %d";
    char text[TEXT_SIZE], state;
    int threads;
    if (!read_text(proc->stat_fd, text)) {
        return ESRCH;
    }
    const char *at = strrchr(text, ')');
    if (at == NULL || sscanf(at + 1, fields, &state, &threads) != 2) {
        return EINVAL;
    }
    bool stays = state == 'R' && proc->runnable;
    proc->runnable = state == 'R';
    if (stays && ++proc->stale < READ_EVERY) {
        return 0;
    }
    proc->stale = 0;
    if (threads != proc->thread_count || ++proc->unseen >= LIST_EVERY) {
        threads_list(proc);
    }
    threads_read(proc);
    return (state == 'Z' || state == 'X') && threads <= 1 ? ESRCH : 0;
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
    closedir(proc->tasks);
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
