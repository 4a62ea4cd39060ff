/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The running emulator: setting up, taking down, and its account of energy.
 */
#include "config.h"

#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "msr.h"
#include "process.h"
#include "rapl.h"

/* The value of every lever before anybody wrote it. */
static void trace_start(struct emu_server *server, uint64_t now_ns)
{
    struct emu_access access = {.machine = &server->machine, .now_ns = now_ns};
    emu_msr_trace_all(&access, &server->trace);
    for (int i = 0; i < server->tree.count; i++) {
        const struct emu_node *node = &server->tree.nodes[i];
        char value[64] = "";
        if (node->kind != EMU_NODE_ATTRIBUTE || node->attribute->lever == NULL) {
            continue;
        }
        FILE *out = fmemopen(value, sizeof value, "w");
        if (out == NULL) {
            continue;
        }
        access.index = node->index;
        emu_attribute_show(node->attribute, access, out);
        fclose(out);
        value[strcspn(value, "\n")] = '\0';
        if (value[0] != '<') { /* "<unsupported>": not writable now */
            emu_csv_line(&server->trace, "%" PRIu64 ",%d,%s,%s,0", now_ns, node->index,
                         node->attribute->lever, value);
        }
    }
}

static bool activity_open(struct emu_server *server)
{
    struct emu_machine *machine = &server->machine;
    server->activity = emu_activity_create(machine->cpu_count, "/proc");
    int error = server->activity == NULL ? ENOMEM : emu_proc_check("/proc");
    if (error == 0) {
        machine->active = emu_activity_take;
        machine->active_arg = server->activity;
    } else if (server->activity == NULL || machine->config.fixed_activity < 0) {
        emu_log("cannot measure activity: %s%s", strerror(error),
                error == ENOMEM ? ""
                                : ": this kernel keeps no /proc/PID/schedstat (CONFIG_SCHED_INFO); "
                                  "say 'activity = fixed:1' in the machine file");
        return false;
    }
    return true;
}

bool emu_server_open(struct emu_server *server, const struct emu_config *config,
                     const char *state_dir)
{
    uint64_t now_ns = emu_now_ns();
    memset(server, 0, sizeof *server);
    pthread_mutex_init(&server->lock, NULL);
    emu_machine_init(&server->machine, config, now_ns);
    if (!activity_open(server)) {
        return false;
    }
    emu_tree_init(&server->tree);
    emu_topology_install(&server->tree, &server->machine);
    emu_cpufreq_install(&server->tree, &server->machine);
    emu_uncore_install(&server->tree, &server->machine);
    emu_powercap_install(&server->tree, &server->machine);
    emu_msr_install(&server->tree, &server->machine);
    emu_procfs_install(&server->tree, &server->machine);
    emu_ctl_install(&server->tree);
    int error = emu_csv_open(&server->trace, state_dir, "trace.csv", "t_ns,cpu,control,value,pid");
    if (error == 0) {
        error = emu_csv_open(&server->ledger, state_dir, "ledger.csv",
                             "t_ns,package,package_j,core_j,dram_j,platform_j");
    }
    if (error != 0) {
        emu_log("cannot create records in %s: %s", state_dir, strerror(error));
        return false;
    }
    trace_start(server, now_ns);
    return true;
}

void emu_server_close(struct emu_server *server)
{
    emu_csv_close(&server->trace);
    emu_csv_close(&server->ledger);
    emu_tree_free(&server->tree);
    emu_activity_destroy(server->activity);
    pthread_mutex_destroy(&server->lock);
}

/* --- the thread that samples activity and keeps the ledger --- */

static const uint64_t interval_ns = 10000000;

/* The exact account, where RAPL's counters are coarse.  The node's is on package 0's line. */
static void ledger_write(struct emu_server *server, uint64_t now_ns)
{
    const struct emu_machine *machine = &server->machine;
    for (int i = 0; i < machine->config.packages; i++) {
        char platform[32] = "";
        if (i == 0) {
            snprintf(platform, sizeof platform, "%.6f",
                     emu_rapl_exact_j(machine, EMU_PLATFORM, 0, now_ns));
        }
        emu_csv_line(&server->ledger, "%" PRIu64 ",%d,%.6f,%.6f,%.6f,%s", now_ns, i,
                     emu_rapl_exact_j(machine, EMU_PACKAGE, i, now_ns),
                     emu_rapl_exact_j(machine, EMU_CORE, i, now_ns),
                     emu_rapl_exact_j(machine, EMU_DRAM, i, now_ns), platform);
    }
    uint64_t every_ns = (uint64_t)machine->config.ledger_interval_ms * 1000000;
    server->next_ledger_ns = now_ns - (now_ns - machine->start_ns) % every_ns + every_ns;
}

/* Looks for processes, charges all cores and, if it is time, writes the ledger. */
static void sample(struct emu_server *server, bool last)
{
    pthread_mutex_lock(&server->lock);
    uint64_t now_ns = emu_now_ns(); /* after waiting for the lock: the clock must not run back */
    emu_activity_refresh(server->activity, now_ns);
    emu_machine_charge_all(&server->machine, now_ns);
    if (last || now_ns >= server->next_ledger_ns) {
        ledger_write(server, now_ns);
    }
    pthread_mutex_unlock(&server->lock);
}

static void *run(void *arg)
{
    struct emu_server *server = arg;
    uint64_t next_ns = emu_now_ns();
    while (!atomic_load_explicit(&server->stop, memory_order_acquire)) { /* emu_sampler_stop */
        sample(server, false);
        next_ns += interval_ns;
        if (next_ns < emu_now_ns()) { /* starved: do not catch up in a burst */
            next_ns = emu_now_ns() + interval_ns;
        }
        struct timespec wake = {.tv_sec = (time_t)(next_ns / 1000000000),
                                .tv_nsec = (long)(next_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
    }
    sample(server, true);
    return NULL;
}

int emu_thread_start(pthread_t *thread, void *(*start)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, start, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int emu_sampler_start(struct emu_server *server)
{
    return emu_thread_start(&server->sampler, run, server);
}

void emu_sampler_stop(struct emu_server *server)
{
    atomic_store_explicit(&server->stop, true, memory_order_release); /* run */
    pthread_join(server->sampler, NULL);
}
