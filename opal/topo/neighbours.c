/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Compares the affinity masks of all processes with ours.
 *
 *   1. Our own mask and parent come from /proc, like everybody's: under an emulator of affinities
 *      the kernel knows only one mask for all, and must not be mixed with what hwloc says.
 *   2. Our ancestors, upwards; the first one with a wider mask shows how wide "unbound" is here.
 *   3. Every other process: reaches our CPUs, and is narrower than that?
 */
#include "config.h"

#include "number.h"
#include "pwr/neighbours.h"
#include "topo/proc_status.h"
#include "topo/topo_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_DEPTH = 64, /* generations of processes that are followed */
    INIT_PID = 1,
    NAME_BYTES = 32,
};

/* Linux, include/linux/proc_ns.h: the first PID namespace has this number on every machine. */
static const char first_pid_namespace[] = "pid:[4026531836]";

typedef struct scan {
    int proc; /* the directory */
    unsigned pid;
    unsigned ancestors[MAX_DEPTH];
    unsigned num_ancestors;
    const pwr_topo_sets_t *sets;
    pwr_cpuset_t unbound; /* who may run on all of these is not bound */
    pwr_neighbours_t result;
} scan_t;

static pwr_status_t read_process(const scan_t *scan, unsigned pid, pwr_proc_status_t *process)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%u/status", pid);
    return pwr_proc_status_read(scan->proc, name, process);
}

/* ---- 1. ourselves ---- */

/* False when the kernel sees us bound otherwise than the topology does. */
static bool bindings_agree(const pwr_topo_sets_t *sets, const pwr_proc_status_t *self)
{
    pwr_cpuset_t mine = self->allowed;
    pwr_cpuset_intersect(&mine, &sets->known);
    return pwr_cpuset_includes(&mine, &sets->mine) && pwr_cpuset_includes(&sets->mine, &mine);
}

/* ---- 2. ancestors ---- */

/* A batch system's daemon is our ancestor and may run everywhere; the job's shell and launcher may
   not be, and are confined to the cpuset of the job: nothing wider than that can be asked of them.
 */
static void note_width(scan_t *scan, const pwr_proc_status_t *ancestor)
{
    pwr_cpuset_t width = ancestor->allowed;
    pwr_cpuset_intersect(&width, &scan->sets->allowed);
    if (pwr_cpuset_includes(&width, &scan->sets->mine)) {
        scan->unbound = width;
    }
}

/* An ancestor that cannot be read ends the line: it is hidden, or older than a container. */
static pwr_status_t note_ancestors(scan_t *scan, unsigned parent)
{
    scan->unbound = scan->sets->mine;
    while (parent != 0 && scan->num_ancestors < MAX_DEPTH) {
        pwr_proc_status_t ancestor;
        pwr_status_t status = read_process(scan, parent, &ancestor);
        scan->ancestors[scan->num_ancestors++] = parent;
        if (status == PWR_ERR_UNSUPPORTED || status == PWR_ERR_PERM) {
            return PWR_OK;
        }
        if (status != PWR_OK) {
            return status;
        }
        if (pwr_cpuset_includes(&scan->sets->mine, &scan->unbound)) {
            note_width(scan, &ancestor); /* none was wider so far */
        }
        parent = ancestor.parent;
    }
    return PWR_OK;
}

static bool is_ancestor(const scan_t *scan, unsigned pid)
{
    for (unsigned i = 0; i < scan->num_ancestors; i++) {
        if (scan->ancestors[i] == pid) {
            return true;
        }
    }
    return false;
}

/* ---- 3. the others ---- */

static bool is_descendant(const scan_t *scan, unsigned parent)
{
    for (unsigned depth = 0; depth < MAX_DEPTH && parent > INIT_PID; depth++) {
        pwr_proc_status_t process;
        if (parent == scan->pid) {
            return true;
        }
        if (read_process(scan, parent, &process) != PWR_OK) {
            return false;
        }
        parent = process.parent;
    }
    return false;
}

static void judge(scan_t *scan, const pwr_proc_status_t *process)
{
    pwr_neighbours_t *result = &scan->result;
    int cpu = pwr_cpuset_first_common(&process->allowed, &scan->sets->reached);
    result->judged++;
    if (cpu < 0 || pwr_cpuset_includes(&process->allowed, &scan->unbound) ||
        is_descendant(scan, process->parent)) {
        return;
    }
    result->found = true;
    result->pid = process->pid;
    result->uid = process->uid;
    result->cpu = (unsigned)cpu;
    snprintf(result->name, sizeof result->name, "%s", process->name);
}

static pwr_status_t look_at(scan_t *scan, unsigned pid)
{
    pwr_proc_status_t process;
    if (pid == scan->pid || is_ancestor(scan, pid)) {
        return PWR_OK;
    }
    pwr_status_t status = read_process(scan, pid, &process);
    if (status == PWR_OK && process.has_memory) {
        judge(scan, &process);
    }
    if (status == PWR_ERR_PERM) {
        scan->result.unseen |= PWR_UNSEEN_HIDDEN;
    }
    /* Those that ended meanwhile compete no more. */
    return status == PWR_ERR_UNSUPPORTED || status == PWR_ERR_PERM ? PWR_OK : status;
}

static pwr_status_t look_at_all(scan_t *scan, DIR *processes)
{
    pwr_status_t status = PWR_OK;
    struct dirent *entry;
    errno = 0;
    while (status == PWR_OK && !scan->result.found && (entry = readdir(processes)) != NULL) {
        unsigned pid;
        if (pwr_number_parse_decimal(entry->d_name, strlen(entry->d_name), &pid) == PWR_OK) {
            status = look_at(scan, pid);
        }
        errno = 0;
    }
    return status == PWR_OK && errno != 0 ? pwr_status_from_errno(errno) : status;
}

static void note_what_is_hidden(scan_t *scan)
{
    char name[sizeof first_pid_namespace];
    /* Everybody has a first process, and it is rarely ours. */
    if (faccessat(scan->proc, "1/status", R_OK, 0) != 0) {
        scan->result.unseen |= PWR_UNSEEN_HIDDEN;
    }
    ssize_t length = readlinkat(scan->proc, "self/ns/pid", name, sizeof name);
    if (length >= 0 && (length != (ssize_t)sizeof name - 1 ||
                        memcmp(name, first_pid_namespace, sizeof name - 1) != 0)) {
        scan->result.unseen |= PWR_UNSEEN_OUTSIDE;
    }
}

static pwr_status_t run(scan_t *scan, const pwr_topo_t *topo, DIR *processes)
{
    pwr_proc_status_t self;
    pwr_status_t status = pwr_proc_status_read(scan->proc, "thread-self/status", &self);
    if (status != PWR_OK) {
        return status;
    }
    scan->pid = self.pid;
    scan->sets = pwr_topo_sets(topo);
    note_what_is_hidden(scan);
    if (!bindings_agree(scan->sets, &self)) {
        scan->result.unseen |= PWR_UNSEEN_BINDING;
        return PWR_OK;
    }
    status = note_ancestors(scan, self.parent);
    return status == PWR_OK ? look_at_all(scan, processes) : status;
}

pwr_status_t pwr_neighbours_scan(const pwr_env_t *env, const pwr_topo_t *topo,
                                 pwr_neighbours_t *result)
{
    scan_t scan = {.result = {.found = false}};
    pwr_status_t status = pwr_env_open(env, "/proc", O_RDONLY | O_DIRECTORY, &scan.proc);
    if (status != PWR_OK) {
        return status;
    }
    DIR *processes = fdopendir(scan.proc);
    if (!processes) {
        status = pwr_status_from_errno(errno);
        close(scan.proc);
        return status;
    }
    status = run(&scan, topo, processes);
    closedir(processes);
    if (status == PWR_OK) {
        *result = scan.result;
    }
    return status;
}

void pwr_neighbours_describe(const pwr_neighbours_t *result, char *text, unsigned size)
{
    if (result->found) {
        snprintf(text, size,
                 "process %u (%s, user %u) is bound to CPU %u, ours or an SMT sibling of ours",
                 result->pid, result->name, result->uid, result->cpu);
    } else if ((result->unseen & PWR_UNSEEN_BINDING) != 0) {
        snprintf(text, size,
                 "other processes were not looked at: the kernel sees another binding of this "
                 "process than the topology");
    } else if ((result->unseen & PWR_UNSEEN_HIDDEN) != 0) {
        snprintf(text, size,
                 "processes of other users are hidden (/proc is mounted with hidepid): whether one "
                 "is bound to our CPUs is not known");
    } else if ((result->unseen & PWR_UNSEEN_OUTSIDE) != 0) {
        snprintf(text, size,
                 "processes outside of this container are invisible: whether one is bound to our "
                 "CPUs is not known");
    } else {
        snprintf(text, size, "%s", "");
    }
}
