/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy through liblikwid, for CPUs whose energy registers likwid knows and we do not.
 *
 * Left out: PLATFORM, which likwid takes to count in the common unit (from Sapphire Rapids on it
 * does not), and AMD's CORE, which is one core and not all of a package.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <string.h>

#include "likwid/likwid.h"

enum { CPU_BITS = 32 };

static const struct {
    const char *likwid; /* its word for the domain */
    pwr_meter_domain_kind_t kind;
} known[] = {
    {"PKG", PWR_DOMAIN_PACKAGE},
    {"PP0", PWR_DOMAIN_CORE},
    {"DRAM", PWR_DOMAIN_DRAM},
};

/* counter->offset: the domain's index above the CPU's number. */
static pwr_status_t likwid_read(pwr_meter_counter_t *counter, uint64_t *count)
{
    return pwr_likwid_energy_count((unsigned)(counter->offset >> CPU_BITS),
                                   (unsigned)counter->offset, count);
}

/* 0 stands for 2^64, which no counter reaches. */
static uint64_t modulus_of(unsigned bits)
{
    return bits < 64 ? 1ull << bits : 0;
}

static pwr_status_t add_counter(const pwr_meter_request_t *request, pwr_meter_domain_kind_t kind,
                                unsigned index, const pwr_likwid_domain_t *domain, unsigned package,
                                pwr_meter_counters_t *counters)
{
    uint64_t cpu = (uint64_t)pwr_topo_next_in_package(request->topo, package, -1);
    pwr_meter_counter_t counter = {.domain = {.kind = kind, .package = package},
                                   .fd = -1,
                                   .offset = (uint64_t)index << CPU_BITS | cpu,
                                   .unit_uj = domain->unit_j * 1e6,
                                   .modulus = modulus_of(domain->bits)};
    return pwr_meter_counters_add_register(counters, &counter);
}

static pwr_status_t add_domain(const pwr_meter_request_t *request, unsigned index,
                               const pwr_likwid_domain_t *domain, pwr_meter_counters_t *counters)
{
    pwr_status_t status = PWR_OK;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (domain->bits == 0 || domain->unit_j <= 0 ||
            strcmp(known[i].likwid, domain->name) != 0) {
            continue;
        }
        unsigned packages = pwr_topo_num_packages(request->topo);
        for (unsigned package = 0; package < packages && status == PWR_OK; package++) {
            status = add_counter(request, known[i].kind, index, domain, package, counters);
        }
    }
    return status;
}

static pwr_status_t likwid_open(const pwr_meter_request_t *request, pwr_meter_counters_t *counters)
{
    pwr_likwid_domain_t domain;
    pwr_status_t status = pwr_link_acquire(&pwr_likwid_energy, request->env, request->why);
    if (status != PWR_OK) {
        return status;
    }
    counters->state = counters; /* open: to be closed */
    for (unsigned index = 0; status == PWR_OK; index++) {
        status = pwr_likwid_energy_domain(index, &domain);
        if (status == PWR_OK) {
            status = add_domain(request, index, &domain, counters);
        }
    }
    if (status == PWR_ERR_RANGE) { /* all listed */
        status = counters->count > 0 ? PWR_OK : PWR_ERR_UNSUPPORTED;
    }
    if (status != PWR_OK) {
        pwr_why_add(request->why, "likwid: reading energy: %s", pwr_status_text(status));
    }
    return status;
}

static void likwid_close(pwr_meter_counters_t *counters)
{
    if (counters->state) {
        pwr_link_release(&pwr_likwid_energy);
    }
}

const pwr_meter_backend_t pwr_meter_likwid = {
    .name = "likwid", .open = likwid_open, .read = likwid_read, .close = likwid_close};
