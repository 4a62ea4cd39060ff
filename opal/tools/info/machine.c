/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What machine this is, and which poweraware.
 */
#include "config.h"

#include "tools/info/info.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pwr/monitor.h"

const char info_version[] = PACKAGE_VERSION;
const char info_mpi_version[] = PWR_BUILT_FOR;
const char info_plugin_path[] = PWR_PLUGIN;

void info_gather_machine(const pwr_env_t *env, const pwr_topo_t *topo, info_machine_t *machine)
{
    struct utsname system;
    memset(machine, 0, sizeof *machine);
    if (uname(&system) == 0) {
        snprintf(machine->host, sizeof machine->host, "%s", system.nodename);
        snprintf(machine->kernel, sizeof machine->kernel, "%s %.60s", system.sysname,
                 system.release);
    }
    machine->has_cpu = pwr_cpu_model_read(env, &machine->cpu) == PWR_OK;
    machine->packages = pwr_topo_num_packages(topo);
    machine->cores = pwr_topo_num_cores(topo);
    machine->cpus = pwr_topo_num_cpus(topo);
    const pwr_monitor_t *monitor = pwr_monitor_find();
    machine->monitor = monitor ? pwr_monitor_name(monitor) : NULL;
    machine->plugin_installed = access(info_plugin_path, R_OK) == 0;
    info_discover_cpufreq(env, pwr_topo_my_cpu(topo, 0), &machine->cpufreq);
}
