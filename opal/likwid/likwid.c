/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Client of poweraware-likwid.
 */
#include "config.h"

#include "likwid/likwid.h"

#include <string.h>

#include "control/control.h"
#include "helper/helper.h"
#include "likwid/accessd.h"

/* Starting likwid takes up to a third of a second, and it waits ten for a daemon of its own. */
static const uint64_t ready_timeout_ns = 20u * 1000000000ull;

static pwr_status_t hear_ready(const pwr_env_t *env, int fd, const pwr_why_t *why)
{
    pwr_likwid_record_t ready;
    pwr_status_t status = pwr_helper_receive(env, fd, ready_timeout_ns, &ready, sizeof ready);
    if (status != PWR_OK || ready.magic != PWR_LIKWID_MAGIC || ready.kind != PWR_LIKWID_READY) {
        status = status == PWR_OK ? PWR_ERR_IO : status;
        pwr_why_add(why, "poweraware-likwid: no answer: %s", pwr_status_text(status));
        return status;
    }
    ready.text[sizeof ready.text - 1] = '\0';
    if (ready.status != PWR_OK) {
        pwr_why_add(why, "likwid: %s%s%s", pwr_status_text((pwr_status_t)ready.status),
                    ready.text[0] != '\0' ? ": " : "", ready.text);
    }
    return (pwr_status_t)ready.status;
}

static pwr_status_t start(const pwr_env_t *env, const char *purpose, const pwr_why_t *why, int *fd)
{
    int made;
    if (env->root[0] != '\0') {
        pwr_why_add(why, "likwid: acts on the real machine only");
        return PWR_ERR_UNSUPPORTED;
    }
    pwr_status_t status = pwr_helper_start(env, "poweraware-likwid", purpose, &made);
    if (status != PWR_OK) {
        pwr_why_add(why, "poweraware-likwid: %s",
                    status == PWR_ERR_UNSUPPORTED ? "not installed (built without likwid)"
                                                  : pwr_status_text(status));
        return status;
    }
    return pwr_env_opened(hear_ready(env, made, why), made, fd);
}

static pwr_status_t start_frequency(const pwr_env_t *env, const pwr_why_t *why, int *fd)
{
    if (env->root[0] == '\0' && pwr_setfreq_is_powerless(env)) {
        pwr_why_add(why, "likwid: no right to set frequencies (needs 'chown root: "
                         "/usr/sbin/likwid-setFreq && chmod u+s /usr/sbin/likwid-setFreq')");
        return PWR_ERR_PERM;
    }
    return start(env, "frequency", why, fd);
}

/* Registers are all that likwid reads energy from: without rights to them it need not be started.
 */
static pwr_status_t start_energy(const pwr_env_t *env, const pwr_why_t *why, int *fd)
{
    char program[PATH_MAX];
    bool found = pwr_accessd_find(env, program, sizeof program);
    if (env->root[0] == '\0' && !pwr_accessd_has_rights(env, found ? program : "")) {
        pwr_why_add(why, "likwid: no right to read registers (needs likwid-accessD set-uid root)");
        return PWR_ERR_PERM;
    }
    return start(env, "energy", why, fd);
}

pwr_link_t pwr_likwid_frequency = {.start = start_frequency, .mutex = PTHREAD_MUTEX_INITIALIZER};
pwr_link_t pwr_likwid_energy = {.start = start_energy, .mutex = PTHREAD_MUTEX_INITIALIZER};

static pwr_status_t ask(pwr_link_t *link, pwr_likwid_record_t *record)
{
    const pwr_likwid_kind_t kind = (pwr_likwid_kind_t)record->kind;
    record->magic = PWR_LIKWID_MAGIC;
    pwr_status_t status = pwr_link_exchange(link, record, sizeof *record);
    if (status != PWR_OK) {
        return status;
    }
    if (record->magic != PWR_LIKWID_MAGIC || record->kind != kind) {
        pwr_link_distrust(link);
        return PWR_ERR_IO;
    }
    return (pwr_status_t)record->status;
}

/* ---- frequencies ---- */

pwr_status_t pwr_likwid_freq_set(bool ceiling, unsigned cpu, uint64_t khz)
{
    pwr_likwid_record_t record = {.kind = PWR_LIKWID_SET,
                                  .control = ceiling ? PWR_CONTROL_CEILING : PWR_CONTROL_FLOOR,
                                  .cpu = cpu,
                                  .value = khz};
    return ask(&pwr_likwid_frequency, &record);
}

/* ---- energy ---- */

pwr_status_t pwr_likwid_energy_domain(unsigned index, pwr_likwid_domain_t *domain)
{
    pwr_likwid_record_t record = {.kind = PWR_LIKWID_DOMAIN, .index = index};
    pwr_status_t status = ask(&pwr_likwid_energy, &record);
    if (status == PWR_OK) {
        *domain = (pwr_likwid_domain_t){.unit_j = record.unit_j, .bits = record.bits};
        memcpy(domain->name, record.name, sizeof domain->name);
        domain->name[sizeof domain->name - 1] = '\0';
    }
    return status;
}

pwr_status_t pwr_likwid_energy_count(unsigned index, unsigned cpu, uint64_t *count)
{
    pwr_likwid_record_t record = {.kind = PWR_LIKWID_COUNT, .index = index, .cpu = cpu};
    pwr_status_t status = ask(&pwr_likwid_energy, &record);
    if (status == PWR_OK) {
        *count = record.value;
    }
    return status;
}

/* ---- both, and the access daemon ---- */

void pwr_likwid_probe_begin(void)
{
    pwr_link_probe_begin();
}

void pwr_likwid_probe_end(void)
{
    pwr_link_t *const links[] = {&pwr_likwid_frequency, &pwr_likwid_energy, &pwr_accessd_link};
    pwr_link_probe_end(links, sizeof links / sizeof links[0]);
}
