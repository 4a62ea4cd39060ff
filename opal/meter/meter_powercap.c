/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy through the kernel's powercap files: zones /sys/class/powercap/intel-rapl:N (AMD's too)
 * and their parts intel-rapl:N:M, each with name, energy_uj and max_energy_range_uj.
 *
 * Source: Linux, Documentation/power/powercap/powercap.rst.
 */
#include "config.h"

#include "meter/meter_backend.h"
#include "number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_ZONES = 64, /* packages and the platform; numbers may have gaps */
    MAX_PARTS = 8,
    ZONE_BYTES = 64,
    PATH_BYTES = 128,
    NAME_BYTES = 32,
};

static const char zone_directory[] = "/sys/class/powercap/";
/* The kernel multiplies a 32-bit counter by its unit. */
static const double counts_per_range = 4294967295.0;

static void file_path(const char *zone, const char *file, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s%s/%s", zone_directory, zone, file);
}

static pwr_status_t read_energy(pwr_meter_counter_t *counter, uint64_t *count)
{
    char text[32];
    ssize_t got = pread(counter->fd, text, sizeof text, (off_t)counter->offset);
    if (got < 0) {
        return pwr_status_from_errno(errno);
    }
    /* Without its newline a number may have lost digits too. */
    return got > 0 && text[got - 1] == '\n' ? pwr_number_parse(text, (size_t)got, count)
                                            : PWR_ERR_PARSE;
}

/* Adds one zone's counter; domain has name, kind and package filled in. */
static pwr_status_t add_zone(const pwr_meter_request_t *request, const char *zone,
                             const pwr_meter_domain_t *domain, pwr_meter_counters_t *counters)
{
    char path[PATH_BYTES];
    pwr_meter_counter_t counter = {.domain = *domain, .unit_uj = 1.0};
    file_path(zone, "max_energy_range_uj", path);
    pwr_status_t status = pwr_env_read_u64(request->env, path, &counter.domain.range_uj);
    if (status == PWR_OK && counter.domain.range_uj < 2) {
        status = PWR_ERR_PARSE;
    }
    if (status != PWR_OK) {
        pwr_why_add_file(request->why, path, status, "needs read permission");
        return status;
    }
    double resolution = (double)counter.domain.range_uj / counts_per_range;
    counter.domain.resolution_uj = resolution > 1.0 ? resolution : 1.0;
    /* The largest value itself still occurs. */
    counter.modulus = counter.domain.range_uj + 1;

    file_path(zone, "energy_uj", path);
    status = pwr_env_open(request->env, path, O_RDONLY, &counter.fd);
    if (status != PWR_OK) {
        pwr_why_add_file(request->why, path, status,
                         "since Linux 5.10 for root only: needs root, or read permission for you "
                         "by a udev rule or chmod");
        return status;
    }
    status = pwr_meter_counters_add(counters, &counter);
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: %s", path, pwr_status_text(status));
    }
    return status;
}

static bool read_name(const pwr_env_t *env, const char *zone, char name[NAME_BYTES])
{
    char path[PATH_BYTES];
    file_path(zone, "name", path);
    return pwr_env_read_text(env, path, name, NAME_BYTES) == PWR_OK;
}

/* The parts of a package that are reported; "uncore" (client graphics) is not. */
static bool part_kind(const char *name, pwr_meter_domain_kind_t *kind)
{
    *kind = strcmp(name, "dram") == 0 ? PWR_DOMAIN_DRAM : PWR_DOMAIN_CORE;
    return strcmp(name, pwr_meter_kind_text(*kind)) == 0;
}

/* suffix is what follows "package" in the zone's name: "-0", or "-0-die-1". */
static void add_parts(const pwr_meter_request_t *request, unsigned zone_number, const char *suffix,
                      unsigned package, pwr_meter_counters_t *counters)
{
    for (unsigned part = 0; part < MAX_PARTS; part++) {
        char zone[ZONE_BYTES];
        char name[NAME_BYTES];
        pwr_meter_domain_t domain = {.package = package};
        snprintf(zone, sizeof zone, "intel-rapl:%u:%u", zone_number, part);
        if (!read_name(request->env, zone, name) || !part_kind(name, &domain.kind)) {
            continue;
        }
        snprintf(domain.name, sizeof domain.name, "%.8s%.20s", name, suffix);
        pwr_status_t status = add_zone(request, zone, &domain, counters);
        if (status != PWR_OK) {
            pwr_env_log(request->env, PWR_LOG_INFO, "energy of %s is left out: %s", domain.name,
                        pwr_status_text(status));
        }
    }
}

static pwr_status_t add_package(const pwr_meter_request_t *request, unsigned zone_number,
                                const char *zone, const char *name, pwr_meter_counters_t *counters)
{
    pwr_meter_domain_t domain = {.kind = PWR_DOMAIN_PACKAGE};
    const char *suffix = name + strlen("package");
    if (sscanf(suffix, "-%u", &domain.package) != 1) {
        pwr_why_add(request->why, "%s%s/name: not in the expected form", zone_directory, zone);
        return PWR_ERR_PARSE;
    }
    snprintf(domain.name, sizeof domain.name, "%s", name);
    pwr_status_t status = add_zone(request, zone, &domain, counters);
    if (status == PWR_OK) {
        add_parts(request, zone_number, suffix, domain.package, counters);
    }
    return status;
}

static pwr_status_t powercap_open(const pwr_meter_request_t *request,
                                  pwr_meter_counters_t *counters)
{
    bool any = false;
    for (unsigned number = 0; number < MAX_ZONES; number++) {
        char zone[ZONE_BYTES];
        char name[NAME_BYTES];
        pwr_status_t status = PWR_OK;
        snprintf(zone, sizeof zone, "intel-rapl:%u", number);
        if (!read_name(request->env, zone, name)) {
            continue;
        }
        any = true;
        if (strncmp(name, "package", strlen("package")) == 0) {
            status = add_package(request, number, zone, name, counters);
        } else if (strcmp(name, "psys") == 0) {
            pwr_meter_domain_t platform = {.name = "platform", .kind = PWR_DOMAIN_PLATFORM};
            status = add_zone(request, zone, &platform, counters);
        }
        if (status != PWR_OK) {
            return status; /* half of the packages would be taken for all of them */
        }
    }
    if (counters->count == 0) {
        pwr_why_add(request->why, "%s: %s", zone_directory,
                    any ? "no zone of a package" : "no intel-rapl zones");
        return PWR_ERR_UNSUPPORTED;
    }
    return PWR_OK;
}

const pwr_meter_backend_t pwr_meter_powercap = {.name = "powercap",
                                                .open = powercap_open,
                                                .read = read_energy,
                                                .close = pwr_meter_counters_close_files};
