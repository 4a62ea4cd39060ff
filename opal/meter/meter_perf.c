/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy through the kernel's "power" PMU: one perf_event counter per domain on one CPU per package
 * (or die).  Which, and in which unit, is in /sys/bus/event_source/devices/power:
 *   type, cpumask, format/event and events/energy-{pkg,cores,ram,psys}, each with .scale and .unit.
 * energy-gpu (client graphics) is left out, as with powercap.
 *
 * Sources: Linux, arch/x86/events/rapl.c, Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-events and Documentation/admin-guide/perf-security.rst.
 */
#include "config.h"

#include "meter/meter_backend.h"
#include "topo/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 128, TEXT_BYTES = 256, NAME_BYTES = 32 };

static const char pmu_directory[] = "/sys/bus/event_source/devices/power";
static const char paranoid_file[] = "/proc/sys/kernel/perf_event_paranoid";

/* The kernel scales every counter to 2^-32 J and does not tell how coarse the hardware's count is:
   the coarsest that is documented is 2^-14 J (Intel servers), for the platform 1 J (Sapphire
   Rapids; Linux, rapl_defaults_spr_server). */
static const struct event_name {
    const char *event;
    pwr_meter_domain_kind_t kind;
    double hardware_uj;
} event_names[] = {
    {"energy-pkg", PWR_DOMAIN_PACKAGE, 1e6 / 16384},
    {"energy-cores", PWR_DOMAIN_CORE, 1e6 / 16384},
    {"energy-ram", PWR_DOMAIN_DRAM, 1e6 / 16384},
    {"energy-psys", PWR_DOMAIN_PLATFORM, 1e6},
};

/* ---- what the kernel writes into the event files ---- */

bool pwr_perf_parse_config(const char *text, uint64_t *config)
{
    static const char before[] = "event=0x";
    const char *digits = text + strlen(before);
    if (strncmp(text, before, strlen(before)) != 0) {
        return false;
    }
    size_t length = strspn(digits, "0123456789abcdefABCDEF");
    if (length < 1 || length > 2 || digits[length] != '\0') {
        return false;
    }
    *config = strtoul(digits, NULL, 16);
    return true;
}

bool pwr_perf_parse_scale(const char *text, double *scale)
{
    char *end;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return false;
    }
    double value = strtod_l(text, &end, plain);
    freelocale(plain);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(value > 0 && value <= 1)) {
        return false;
    }
    *scale = value;
    return true;
}

/* ---- counters ---- */

typedef struct event {
    uint64_t config;
    double unit_uj;
} event_t;

typedef struct pmu {
    uint32_t type;
    pwr_cpuset_t cpus;
} pmu_t;

static pwr_status_t read_count(pwr_meter_counter_t *counter, uint64_t *count)
{
    uint64_t value;
    ssize_t got = read(counter->fd, &value, sizeof value);
    if (got != (ssize_t)sizeof value) {
        return got < 0 ? pwr_status_from_errno(errno) : PWR_ERR_IO;
    }
    *count = value;
    return PWR_OK;
}

/* ---- what the PMU says of itself ---- */

/* Reads a file of the PMU; a missing one is left to the caller, anything else is a reason. */
static pwr_status_t read_file(const pwr_meter_request_t *request, const char *file,
                              char text[TEXT_BYTES])
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", pmu_directory, file);
    return pwr_env_read_text(request->env, path, text, TEXT_BYTES);
}

static pwr_status_t garbled(const pwr_meter_request_t *request, const char *file)
{
    pwr_why_add(request->why, "%s/%s: not in the documented form", pmu_directory, file);
    return PWR_ERR_PARSE;
}

/* UNSUPPORTED, without a reason, when there is no such event. */
static pwr_status_t read_event(const pwr_meter_request_t *request, const char *name, event_t *event)
{
    char text[TEXT_BYTES];
    char file[64];
    uint64_t config;
    double scale;
    snprintf(file, sizeof file, "events/%s", name);
    pwr_status_t status = read_file(request, file, text);
    if (status != PWR_OK) {
        return status;
    }
    if (!pwr_perf_parse_config(text, &config)) {
        return garbled(request, file);
    }
    snprintf(file, sizeof file, "events/%s.unit", name);
    if (read_file(request, file, text) != PWR_OK || strcmp(text, "Joules") != 0) {
        return garbled(request, file);
    }
    snprintf(file, sizeof file, "events/%s.scale", name);
    if (read_file(request, file, text) != PWR_OK || !pwr_perf_parse_scale(text, &scale)) {
        return garbled(request, file);
    }
    *event = (event_t){.config = config, .unit_uj = 1e6 * scale};
    return PWR_OK;
}

static pwr_status_t read_pmu(const pwr_meter_request_t *request, pmu_t *pmu)
{
    char text[TEXT_BYTES];
    char path[PATH_BYTES];
    uint64_t type;
    snprintf(path, sizeof path, "%s/type", pmu_directory);
    pwr_status_t status = pwr_env_read_u64(request->env, path, &type);
    if (status == PWR_ERR_PARSE || (status == PWR_OK && type > UINT32_MAX)) {
        return garbled(request, "type");
    }
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: the kernel has no energy events", pmu_directory);
        return status;
    }
    if (read_file(request, "format/event", text) != PWR_OK || strcmp(text, "config:0-7") != 0) {
        return garbled(request, "format/event");
    }
    if (read_file(request, "cpumask", text) != PWR_OK ||
        pwr_cpulist_parse(text, strlen(text), &pmu->cpus) != PWR_OK ||
        pwr_cpuset_next(&pmu->cpus, -1) < 0) {
        return garbled(request, "cpumask");
    }
    pmu->type = (uint32_t)type;
    return PWR_OK;
}

/* ---- counters ---- */

static void add_refusal(const pwr_meter_request_t *request, const char *event, unsigned cpu,
                        pwr_status_t status)
{
    char text[TEXT_BYTES];
    if (status != PWR_ERR_PERM) {
        pwr_why_add(request->why, "%s/events/%s on cpu %u: %s", pmu_directory, event, cpu,
                    pwr_status_text(status));
        return;
    }
    if (pwr_env_read_text(request->env, paranoid_file, text, sizeof text) != PWR_OK) {
        snprintf(text, sizeof text, "not readable");
    }
    if (strtol(text, NULL, 10) > 0) {
        pwr_why_add(request->why,
                    "%s: no permission (%s is %s: needs 0 or less, by \"sysctl "
                    "kernel.perf_event_paranoid=0\", or CAP_PERFMON, by \"setcap cap_perfmon+ep "
                    "PROGRAM\")",
                    pmu_directory, paranoid_file, text);
    } else {
        pwr_why_add(request->why,
                    "%s: no permission (%s is %s: a seccomp filter, as containers have, or a "
                    "security module forbids perf_event_open)",
                    pmu_directory, paranoid_file, text);
    }
}

/* Where a package has several CPUs in the mask, one per die, "dram-1-die-0". */
static void place_domain(const pwr_meter_request_t *request, const pmu_t *pmu, unsigned cpu,
                         pwr_meter_domain_t *domain)
{
    unsigned dies = 0;
    unsigned die = 0;
    int package = pwr_topo_package_of(request->topo, cpu);
    for (int other = -1; (other = pwr_cpuset_next(&pmu->cpus, other)) >= 0;) {
        if (pwr_topo_package_of(request->topo, (unsigned)other) == package) {
            die += (unsigned)other < cpu;
            dies++;
        }
    }
    domain->package = package < 0 ? 0 : (unsigned)package;
    if (dies > 1 && domain->kind != PWR_DOMAIN_PLATFORM) {
        snprintf(domain->name, sizeof domain->name, "%s-%u-die-%u",
                 pwr_meter_kind_text(domain->kind), domain->package, die);
    }
}

static pwr_status_t add_counter(const pwr_meter_request_t *request, const pmu_t *pmu,
                                const struct event_name *name, const event_t *event, unsigned cpu,
                                pwr_meter_counters_t *counters)
{
    struct perf_event_attr attr = {.type = pmu->type, .size = sizeof attr, .config = event->config};
    pwr_meter_counter_t counter = {
        .domain = {.kind = name->kind, .resolution_uj = name->hardware_uj},
        .unit_uj = event->unit_uj,
    };
    counter.fd = request->outside->perf_event_open(&attr, cpu);
    if (counter.fd < 0) {
        pwr_status_t status = pwr_status_from_errno(errno);
        add_refusal(request, name->event, cpu, status);
        return status;
    }
    place_domain(request, pmu, cpu, &counter.domain);
    pwr_status_t status = pwr_meter_counters_add(counters, &counter);
    if (status != PWR_OK) {
        add_refusal(request, name->event, cpu, status);
    }
    return status;
}

/* On every CPU of the mask, or on none: half of the packages would be taken for all. */
static pwr_status_t add_event(const pwr_meter_request_t *request, const pmu_t *pmu,
                              const struct event_name *name, pwr_meter_counters_t *counters)
{
    event_t event;
    unsigned before = counters->count;
    pwr_status_t status = read_event(request, name->event, &event);
    if (status == PWR_ERR_UNSUPPORTED && name->kind == PWR_DOMAIN_PACKAGE) {
        pwr_why_add(request->why, "%s: no energy-pkg event", pmu_directory);
    }
    int first = pwr_cpuset_next(&pmu->cpus, -1);
    for (int cpu = first; cpu >= 0 && status == PWR_OK; cpu = pwr_cpuset_next(&pmu->cpus, cpu)) {
        if (cpu == first || name->kind != PWR_DOMAIN_PLATFORM) {
            status = add_counter(request, pmu, name, &event, (unsigned)cpu, counters);
        }
    }
    while (status != PWR_OK && counters->count > before) {
        counters->count--;
        close(counters->items[counters->count].fd);
    }
    return status;
}

static pwr_status_t add_events(const pwr_meter_request_t *request, const pmu_t *pmu,
                               pwr_meter_counters_t *counters)
{
    for (size_t i = 0; i < sizeof event_names / sizeof event_names[0]; i++) {
        pwr_status_t status = add_event(request, pmu, &event_names[i], counters);
        if (status != PWR_OK && event_names[i].kind == PWR_DOMAIN_PACKAGE) {
            return status;
        }
        if (status != PWR_OK && status != PWR_ERR_UNSUPPORTED) {
            pwr_env_log(request->env, PWR_LOG_INFO, "%s is left out: %s", event_names[i].event,
                        pwr_status_text(status));
        }
    }
    return PWR_OK;
}

static pwr_status_t perf_open(const pwr_meter_request_t *request, pwr_meter_counters_t *counters)
{
    if (!request->outside->perf_event_open) {
        pwr_why_add(request->why, "perf_event: counts on this machine, not on the one below %s",
                    request->env->root);
        return PWR_ERR_UNSUPPORTED;
    }
    pmu_t pmu;
    pwr_status_t status = read_pmu(request, &pmu);
    return status == PWR_OK ? add_events(request, &pmu, counters) : status;
}

const pwr_meter_backend_t pwr_meter_perf = {.name = "perf_event",
                                            .open = perf_open,
                                            .read = read_count,
                                            .close = pwr_meter_counters_close_files};
