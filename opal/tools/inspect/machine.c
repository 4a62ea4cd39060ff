/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What machine this is, and which poweraware.
 */
#include "config.h"

#include "pwr/json.h"
#include "tools/inspect/inspect.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pwr/cpu_model.h"
#include "pwr/monitor.h"

static json_t *processor(const pwr_env_t *env)
{
    pwr_cpu_model_t cpu;
    if (pwr_cpu_model_read(env, &cpu) != PWR_OK) {
        return json_null();
    }
    return json_pack("{s:o, s:i, s:i, s:i, s:o}", "vendor",
                     pwr_json_text_or_null(cpu.vendor, sizeof cpu.vendor), "family",
                     (int)cpu.family, "model", (int)cpu.model, "stepping", (int)cpu.stepping,
                     "name", pwr_json_text_or_null(cpu.name, sizeof cpu.name));
}

/* Of NVIDIA, by the names of their devices. */
static int gpus(const pwr_env_t *env)
{
    char path[PATH_MAX];
    int found = 0;
    DIR *devices = pwr_env_path(env, "/dev", path, sizeof path) == PWR_OK ? opendir(path) : NULL;
    if (!devices) {
        return 0;
    }
    const struct dirent *entry;
    while ((entry = readdir(devices)) != NULL) {
        unsigned number;
        char more;
        found += sscanf(entry->d_name, "nvidia%u%c", &number, &more) == 1;
    }
    closedir(devices);
    return found;
}

json_t *inspect_machine(const pwr_env_t *env, const pwr_topo_t *topo)
{
    struct utsname system = {0};
    char kernel[128] = "";
    if (uname(&system) == 0) {
        snprintf(kernel, sizeof kernel, "%s %.60s", system.sysname, system.release);
    }
    const pwr_monitor_t *monitor = pwr_monitor_find();
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:s?, s:o}", "host",
                     pwr_json_text_or_null(system.nodename, sizeof system.nodename), "kernel",
                     pwr_json_text_or_null(kernel, sizeof kernel), "processor", processor(env),
                     "packages", (int)pwr_topo_num_packages(topo), "cores",
                     (int)pwr_topo_num_cores(topo), "cpus", (int)pwr_topo_num_cpus(topo),
                     "gpus", gpus(env), "wait_monitor", monitor ? pwr_monitor_name(monitor) : NULL, "cpufreq",
                     inspect_cpufreq(env, pwr_topo_my_cpu(topo, 0)));
}

json_t *inspect_software(void)
{
    return json_pack("{s:s, s:s, s:o, s:b}", "poweraware", PACKAGE_VERSION, "open_mpi",
                     PWR_BUILT_FOR, "plugin", pwr_json_text_or_null(PWR_PLUGIN, sizeof PWR_PLUGIN),
                     "plugin_installed", access(PWR_PLUGIN, R_OK) == 0);
}
