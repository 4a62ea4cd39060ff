/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The running emulator: setting up and taking down.
 */
#include "config.h"

#include "server.h"

#include <errno.h>
#include <string.h>

#include "log.h"
#include "msr.h"
#include "trace.h"

/* The value of every lever before anybody wrote it. */
static void trace_start(struct emu_server *server, uint64_t now_ns)
{
    struct emu_access access = {
        .machine = &server->machine, .activity = server->activity, .now_ns = now_ns};
    emu_msr_trace_start(&access, &server->trace);
    for (int i = 0; i < server->tree.count; i++) {
        const struct emu_node *node = &server->tree.nodes[i];
        if (node->kind != EMU_NODE_ATTRIBUTE || node->attribute->lever == NULL) {
            continue;
        }
        char value[64] = "";
        FILE *out = fmemopen(value, sizeof value, "w");
        if (out == NULL) {
            continue;
        }
        access.index = node->index;
        node->attribute->show(&access, out);
        fclose(out);
        value[strcspn(value, "\n")] = '\0';
        if (value[0] != '<') { /* "<unsupported>": not writable now */
            emu_trace_text(&server->trace, now_ns, node->index, node->attribute->lever, value, 0);
        }
    }
}

static bool activity_open(struct emu_server *server, const char *state_dir)
{
    char path[4096];
    const struct emu_machine *machine = &server->machine;
    snprintf(path, sizeof path, "%s/affinity", state_dir);
    server->affinity = emu_affinity_create(path, machine->cpu_count);
    if (server->affinity == NULL) {
        emu_log("cannot create %s: %s", path, strerror(errno));
        return false;
    }
    int error = emu_activity_create(&machine->config, "/proc", server->affinity, &server->activity);
    if (error != 0 && machine->config.fixed_activity < 0) {
        emu_log(error == ENOTSUP || error == ENOENT
                    ? "this kernel keeps no /proc/PID/schedstat (CONFIG_SCHED_INFO), so activity "
                      "cannot be measured; say 'activity = fixed:1' in the machine file"
                    : "cannot measure activity: %s",
                strerror(error));
        emu_affinity_detach(server->affinity);
        return false;
    }
    if (error == 0) {
        server->machine.active = emu_activity_take;
        server->machine.active_arg = server->activity;
    }
    return true;
}

bool emu_server_open(struct emu_server *server, const struct emu_config *config,
                     const char *state_dir)
{
    uint64_t now_ns = emu_now_ns();
    memset(server, 0, sizeof *server);
    pthread_mutex_init(&server->lock, NULL);
    emu_late_init(&server->late, &server->lock);
    emu_machine_init(&server->machine, config, now_ns);
    if (!activity_open(server, state_dir)) {
        return false;
    }
    emu_tree_init(&server->tree);
    emu_topology_install(&server->tree, &server->machine);
    emu_hotplug_install(&server->tree, &server->machine);
    emu_cpufreq_install(&server->tree, &server->machine);
    emu_uncore_install(&server->tree, &server->machine);
    emu_powercap_install(&server->tree, &server->machine);
    emu_msr_install(&server->tree, &server->machine);
    emu_procfs_install(&server->tree, &server->machine);
    emu_ctl_install(&server->tree, &server->machine);
    int error = emu_trace_open(&server->trace, state_dir);
    if (error == 0) {
        error = emu_ledger_open(&server->ledger, state_dir, config->ledger_interval_ms, now_ns);
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
    emu_csv_close(&server->ledger.csv);
    emu_tree_free(&server->tree);
    if (server->activity != NULL) {
        emu_activity_destroy(server->activity);
    }
    emu_affinity_detach(server->affinity);
    emu_late_destroy(&server->late);
    pthread_mutex_destroy(&server->lock);
}
