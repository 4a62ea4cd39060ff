/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The running emulator: setting up, taking down, and its account of energy.
 */
#include "config.h"

#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "msr.h"
#include "process.h"
#include "rapl.h"

static const uint64_t sample_interval_ns = 10000000;

/* The value of every lever before anybody wrote it. */
static void trace_start(struct emu_server *server, uint64_t now_ns)
{
    struct emu_access access = {
        .machine = &server->machine, .trace = &server->trace, .now_ns = now_ns};
    emu_msr_trace_all(&access);
    for (int i = 0; i < server->tree.count; i++) {
        char value[64] = "";
        access.index = server->tree.nodes[i].index;
        access.file = server->tree.nodes[i].file;
        if (access.file == NULL || access.file->lever == NULL) {
            continue;
        }
        FILE *out = fmemopen(value, sizeof value, "w");
        if (out == NULL) {
            continue;
        }
        emu_file_show(&access, out);
        fclose(out);
        value[strcspn(value, "\n")] = '\0';
        if (value[0] != '<') { /* "<unsupported>": not writable now */
            emu_access_trace(&access, access.file->lever, value);
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
    static void (*const install[])(struct emu_tree * tree, const struct emu_machine *machine) = {
        emu_topology_install, emu_cpufreq_install, emu_uncore_install, emu_powercap_install,
        emu_msr_install,      emu_procfs_install,  emu_ctl_install,
    };
    uint64_t now_ns = pwr_now_ns();
    pthread_condattr_t monotonic;
    memset(server, 0, sizeof *server);
    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    emu_machine_init(&server->machine, config, now_ns);
    if (!activity_open(server)) {
        return false;
    }
    emu_tree_init(&server->tree);
    for (size_t i = 0; i < sizeof install / sizeof install[0]; i++) {
        install[i](&server->tree, &server->machine);
    }
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
    pthread_cond_destroy(&server->wake);
    pthread_mutex_destroy(&server->lock);
}

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

uint64_t emu_server_sample(struct emu_server *server, bool last)
{
    uint64_t now_ns = pwr_now_ns();
    if (!last && now_ns < server->next_sample_ns) {
        return server->next_sample_ns;
    }
    emu_activity_refresh(server->activity, now_ns);
    emu_machine_charge_all(&server->machine, now_ns);
    if (last || now_ns >= server->next_ledger_ns) {
        ledger_write(server, now_ns);
    }
    server->next_sample_ns += sample_interval_ns;
    if (server->next_sample_ns < now_ns) { /* starved: do not catch up in a burst */
        server->next_sample_ns = now_ns + sample_interval_ns;
    }
    return server->next_sample_ns;
}
