/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * CPUs that share one frequency: all of them must be ours, and one of them drives it.
 */
#include "config.h"

#include "lever/lever_backend.h"
#include "topo/cpulist.h"

#include <stdio.h>
#include <string.h>

enum { LIST_BYTES = 4096, PATH_BYTES = 128, NO_CPU = -1 };

/* The lowest CPU of the policy, through which it is driven, and the first one that is not ours
   (NO_CPU: none). */
static pwr_status_t parse_cpus(const char *text, const pwr_topo_t *topo, int *lowest, int *foreign)
{
    pwr_cpuset_t policy;
    pwr_status_t status = pwr_cpulist_parse(text, strlen(text), &policy);
    if (status != PWR_OK) {
        return status;
    }
    int first = pwr_cpuset_next(&policy, -1);
    if (first == NO_CPU) {
        return PWR_ERR_PARSE;
    }
    int other = first;
    while (other != NO_CPU && pwr_topo_is_mine(topo, (unsigned)other)) {
        other = pwr_cpuset_next(&policy, other);
    }
    *lowest = first;
    *foreign = other;
    return PWR_OK;
}

pwr_status_t pwr_freq_domain_drives(const pwr_lever_request_t *request, unsigned cpu, bool *drives)
{
    char list_path[PATH_BYTES];
    char list[LIST_BYTES];
    int lowest, foreign;
    snprintf(list_path, sizeof list_path, "/sys/devices/system/cpu/cpu%u/cpufreq/related_cpus",
             cpu);
    pwr_status_t status = pwr_env_read_text(request->held.env, list_path, list, sizeof list);
    if (status == PWR_OK) {
        status = parse_cpus(list, request->topo, &lowest, &foreign);
    }
    if (status != PWR_OK) {
        pwr_why_add_file(request->held.why, list_path, status, "needs read permission");
        return status;
    }
    if (foreign != NO_CPU) {
        pwr_why_add(request->held.why,
                    "%s: one frequency for CPU %u and CPU %d, which is not in this process's "
                    "binding (bind each process to whole frequency domains)",
                    list_path, cpu, foreign);
        return PWR_ERR_SHARED;
    }
    *drives = (unsigned)lowest == cpu;
    return PWR_OK;
}
