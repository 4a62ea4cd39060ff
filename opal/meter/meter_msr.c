/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy through the RAPL registers, read on one CPU per package by any access to them (opal/msr):
 * 32-bit counters in units of 2^-n joule.
 *
 * Sources: Intel SDM volume 3, "Platform Specific Power Management Support"; AMD PPR for family
 * 17h, MSRC001_0299 and _029B; Linux, drivers/powercap/intel_rapl_msr.c.
 */
#include "config.h"

#include "meter/meter_backend.h"
#include "pwr/cpu_model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_KINDS = PWR_DOMAIN_PLATFORM + 1 };

static const uint64_t counter_modulus = 1ull << 32;

typedef struct rapl_registers {
    const char *vendor;
    unsigned first_family;
    uint32_t unit;
    uint32_t energy[NUM_KINDS]; /* 0: none */
} rapl_registers_t;

static const rapl_registers_t registers_table[] = {
    {"GenuineIntel",
     6,
     0x606,
     {[PWR_DOMAIN_PACKAGE] = 0x611,
      [PWR_DOMAIN_CORE] = 0x639,
      [PWR_DOMAIN_DRAM] = 0x619,
      [PWR_DOMAIN_PLATFORM] = 0x64d}},
    {"AuthenticAMD", 0x17, 0xc0010299, {[PWR_DOMAIN_PACKAGE] = 0xc001029b}},
    {"HygonGenuine", 0x18, 0xc0010299, {[PWR_DOMAIN_PACKAGE] = 0xc001029b}},
};

/* Models on which a domain does not count in the unit of register 0x606 (Intel, family 6).
   Source: Linux rapl_defaults_hsw_server and rapl_defaults_spr_server with the models that use
   them; from Sapphire Rapids on DRAM has the common unit again and the platform counts joules. */
static const struct {
    unsigned model;
    pwr_meter_domain_kind_t kind;
    double unit_uj;
} special_units[] = {
    {63, PWR_DOMAIN_DRAM, 15.3},     /* Haswell-X */
    {79, PWR_DOMAIN_DRAM, 15.3},     /* Broadwell-X */
    {85, PWR_DOMAIN_DRAM, 15.3},     /* Skylake-X, Cascade Lake, Cooper Lake */
    {87, PWR_DOMAIN_DRAM, 15.3},     /* Knights Landing */
    {106, PWR_DOMAIN_DRAM, 15.3},    /* Ice Lake-X */
    {108, PWR_DOMAIN_DRAM, 15.3},    /* Ice Lake-D */
    {133, PWR_DOMAIN_DRAM, 15.3},    /* Knights Mill */
    {143, PWR_DOMAIN_PLATFORM, 1e6}, /* Sapphire Rapids-X */
    {207, PWR_DOMAIN_PLATFORM, 1e6}, /* Emerald Rapids-X */
};

static const rapl_registers_t *find_registers(const pwr_cpu_model_t *model)
{
    for (size_t i = 0; i < sizeof registers_table / sizeof registers_table[0]; i++) {
        if (strcmp(model->vendor, registers_table[i].vendor) == 0 &&
            model->family >= registers_table[i].first_family) {
            return &registers_table[i];
        }
    }
    return NULL;
}

static double unit_of(const pwr_cpu_model_t *model, pwr_meter_domain_kind_t kind, double common_uj)
{
    bool intel6 = model->family == 6 && strcmp(model->vendor, "GenuineIntel") == 0;
    for (size_t i = 0; intel6 && i < sizeof special_units / sizeof special_units[0]; i++) {
        if (special_units[i].model == model->model && special_units[i].kind == kind) {
            return special_units[i].unit_uj;
        }
    }
    return common_uj;
}

static pwr_status_t read_counter(pwr_meter_counter_t *counter, uint64_t *count)
{
    const pwr_msr_t *msr = counter->state;
    uint64_t value;
    pwr_status_t status = msr->access->read(msr, (uint32_t)counter->offset, &value);
    if (status == PWR_OK) {
        *count = value & (counter_modulus - 1);
    }
    return status;
}

static pwr_status_t add_domains(pwr_msr_t *msr, const pwr_cpu_model_t *model,
                                const rapl_registers_t *registers, unsigned package,
                                pwr_meter_counters_t *counters)
{
    uint64_t units;
    pwr_status_t status = msr->access->read(msr, registers->unit, &units);
    if (status != PWR_OK) {
        return status;
    }
    double common_uj = 1e6 / (double)(1ull << ((units >> 8) & 0x1f));
    for (unsigned kind = 0; kind < NUM_KINDS && status == PWR_OK; kind++) {
        bool once = kind == PWR_DOMAIN_PLATFORM && package != 0;
        if (registers->energy[kind] != 0 && !once) {
            pwr_meter_counter_t counter = {.domain = {.kind = kind, .package = package},
                                           .offset = registers->energy[kind],
                                           .unit_uj = unit_of(model, kind, common_uj),
                                           .modulus = counter_modulus,
                                           .fd = -1,
                                           .state = msr};
            status = pwr_meter_counters_add_register(counters, &counter);
        }
    }
    return status;
}

/* One CPU per package, open as long as the meter. */
typedef struct msr_packages {
    unsigned count;
    pwr_msr_t msrs[];
} msr_packages_t;

static pwr_status_t open_package(const pwr_meter_request_t *request, const pwr_cpu_model_t *model,
                                 pwr_meter_counters_t *counters)
{
    const pwr_msr_access_t *access = counters->backend->access;
    msr_packages_t *packages = counters->state;
    unsigned package = packages->count;
    unsigned cpu = (unsigned)pwr_topo_next_in_package(request->topo, package, -1);
    pwr_msr_t *msr = &packages->msrs[package];
    pwr_status_t status = access->open(access, request->env, cpu, false, request->why, msr);
    if (status != PWR_OK) {
        return status;
    }
    packages->count++;
    status = add_domains(msr, model, find_registers(model), package, counters);
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: CPU %u: reading RAPL registers: %s", access->name, cpu,
                    pwr_status_text(status));
    }
    return status;
}

static void msr_close(pwr_meter_counters_t *counters)
{
    msr_packages_t *packages = counters->state;
    for (unsigned i = 0; packages && i < packages->count; i++) {
        packages->msrs[i].access->close(&packages->msrs[i]);
    }
    free(packages);
}

static pwr_status_t msr_open(const pwr_meter_request_t *request, pwr_meter_counters_t *counters)
{
    unsigned num_packages = pwr_topo_num_packages(request->topo);
    pwr_cpu_model_t model;
    pwr_status_t status = pwr_cpu_model_read(request->env, &model);
    if (status == PWR_OK && !find_registers(&model)) {
        status = PWR_ERR_UNSUPPORTED;
    }
    if (status != PWR_OK) {
        pwr_why_add(request->why, "%s: no RAPL registers known for the CPU of /proc/cpuinfo",
                    counters->backend->name);
        return status;
    }
    msr_packages_t *packages = malloc(sizeof *packages + num_packages * sizeof packages->msrs[0]);
    if (!packages) {
        return PWR_ERR_NOMEM;
    }
    packages->count = 0;
    counters->state = packages;
    while (packages->count < num_packages && status == PWR_OK) {
        status = open_package(request, &model, counters);
    }
    return status;
}

#define MSR_METER .open = msr_open, .read = read_counter, .close = msr_close
const pwr_meter_backend_t pwr_meter_msr_safe = {
    .name = "msr_safe", .access = &pwr_msr_access_safe, MSR_METER};
const pwr_meter_backend_t pwr_meter_msr = {
    .name = "msr", .access = &pwr_msr_access_device, MSR_METER};
const pwr_meter_backend_t pwr_meter_accessd = {
    .name = "likwid-accessD", .access = &pwr_msr_access_accessd, MSR_METER};
