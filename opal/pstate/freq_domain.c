/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * CPUs that share one frequency: all of them must be ours, and one of them drives it.
 */
#include "config.h"

#include "pstate/freq_domain.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIST_BYTES = 4096, PATH_BYTES = 128, NO_CPU = -1 };

static bool is_mine(const pwr_topo_t *topo, unsigned long cpu)
{
    for (unsigned i = 0; i < pwr_topo_num_my_cpus(topo); i++) {
        if (pwr_topo_my_cpu(topo, i) == cpu) {
            return true;
        }
    }
    return false;
}

/* The lowest CPU of the policy, through which it is driven, and the first one that is not ours
   (NO_CPU: none).  The kernel writes "0 1 2"; "0-2" and commas are understood too. */
static pwr_status_t parse_cpus(const char *text, const pwr_topo_t *topo, long *lowest,
                               long *foreign)
{
    *lowest = NO_CPU;
    *foreign = NO_CPU;
    while (*text != '\0') {
        char *end;
        if (!isdigit((unsigned char)*text)) {
            return PWR_ERR_PARSE;
        }
        unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;
        if (*end == '-' && isdigit((unsigned char)end[1])) {
            last = strtoul(end + 1, &end, 10);
        }
        if (last < first || last > INT_MAX || (*end != '\0' && *end != ' ' && *end != ',')) {
            return PWR_ERR_PARSE;
        }
        if (*lowest == NO_CPU || (long)first < *lowest) {
            *lowest = (long)first;
        }
        for (unsigned long cpu = first; cpu <= last && *foreign == NO_CPU; cpu++) {
            *foreign = is_mine(topo, cpu) ? NO_CPU : (long)cpu;
        }
        text = end + (*end != '\0');
    }
    return *lowest == NO_CPU ? PWR_ERR_PARSE : PWR_OK;
}

pwr_status_t pwr_freq_domain_check(const pwr_pstate_request_t *request, unsigned cpu, bool *driven)
{
    char list_path[PATH_BYTES];
    char list[LIST_BYTES];
    long lowest, foreign;
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
                    "%s: one frequency for CPU %u and CPU %ld, which is not in this process's "
                    "binding (bind each process to whole frequency domains)",
                    list_path, cpu, foreign);
        return PWR_ERR_SHARED;
    }
    *driven = (unsigned long)lowest == cpu;
    return PWR_OK;
}
