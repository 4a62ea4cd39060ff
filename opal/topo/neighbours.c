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

#include "pwr/neighbours.h"
#include "topo/proc_status.h"

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
    pwr_cpuset_t known;   /* CPUs of the topology */
    pwr_cpuset_t allowed; /* those of our cgroup cpuset */
    pwr_cpuset_t mine;    /* ours, as the kernel says; this and those below without CPUs that the
                             topology does not have */
    pwr_cpuset_t reached; /* and their SMT siblings */
    pwr_cpuset_t unbound; /* who may run on all of these is not bound */
    pwr_neighbours_t result;
} scan_t;

static bool includes(const pwr_cpuset_t *set, const pwr_cpuset_t *part)
{
    return pwr_cpuset_first_missing(set, part) < 0;
}

static pwr_status_t read_process(const scan_t *scan, unsigned pid, pwr_proc_status_t *process)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%u/status", pid);
    return pwr_proc_status_read(scan->proc, name, process);
}

/* ---- 1. ourselves ---- */

static void note_topology(scan_t *scan, const pwr_topo_t *topo)
{
    for (unsigned package = 0; package < pwr_topo_num_packages(topo); package++) {
        int cpu = -1;
        while ((cpu = pwr_topo_next_in_package(topo, package, cpu)) >= 0) {
            pwr_cpuset_add(&scan->known, (unsigned)cpu);
            if (pwr_topo_is_allowed(topo, (unsigned)cpu)) {
                pwr_cpuset_add(&scan->allowed, (unsigned)cpu);
            }
        }
    }
    for (unsigned i = 0; i < pwr_topo_num_reached_cpus(topo); i++) {
        pwr_cpuset_add(&scan->reached, pwr_topo_reached_cpu(topo, i));
    }
}

/* False when the kernel sees us bound otherwise than the topology does. */
static bool bindings_agree(const scan_t *scan, const pwr_topo_t *topo)
{
    unsigned count = pwr_topo_num_my_cpus(topo);
    for (unsigned i = 0; i < count; i++) {
        if (!pwr_cpuset_has(&scan->mine, pwr_topo_my_cpu(topo, i))) {
            return false;
        }
    }
    for (int cpu = pwr_cpuset_next(&scan->mine, -1); cpu >= 0;
         cpu = pwr_cpuset_next(&scan->mine, cpu)) {
        if (!pwr_topo_is_mine(topo, (unsigned)cpu)) {
            return false;
        }
    }
    return true;
}

/* ---- 2. ancestors ---- */

/* A batch system's daemon is our ancestor and may run everywhere; the job's shell and launcher may
   not be, and are confined to the cpuset of the job: nothing wider than that can be asked of them.
 */
static void note_width(scan_t *scan, const pwr_proc_status_t *ancestor)
{
    pwr_cpuset_t width = ancestor->allowed;
    pwr_cpuset_intersect(&width, &scan->allowed);
    if (includes(&width, &scan->mine)) {
        scan->unbound = width;
    }
}

/* An ancestor that cannot be read ends the line: it is hidden, or older than a container. */
static pwr_status_t note_ancestors(scan_t *scan, unsigned parent)
{
    scan->unbound = scan->mine;
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
        if (includes(&scan->mine, &scan->unbound)) {
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
    int cpu = pwr_cpuset_first_common(&process->allowed, &scan->reached);
    result->judged++;
    if (cpu < 0 || includes(&process->allowed, &scan->unbound) ||
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

/* The number that the whole name is; 0 for other names. */
static unsigned pid_of(const char *name)
{
    unsigned pid = 0;
    for (; *name >= '0' && *name <= '9' && pid < 100000000; name++) {
        pid = pid * 10 + (unsigned)(*name - '0');
    }
    return *name == '\0' ? pid : 0;
}

static pwr_status_t look_at_all(scan_t *scan, DIR *processes)
{
    pwr_status_t status = PWR_OK;
    struct dirent *entry;
    errno = 0;
    while (status == PWR_OK && !scan->result.found && (entry = readdir(processes)) != NULL) {
        unsigned pid = pid_of(entry->d_name);
        if (pid != 0) {
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
    note_topology(scan, topo);
    scan->mine = self.allowed;
    pwr_cpuset_intersect(&scan->mine, &scan->known);
    note_what_is_hidden(scan);
    if (!bindings_agree(scan, topo)) {
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
