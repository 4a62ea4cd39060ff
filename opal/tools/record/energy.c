/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads the node's energy counters over and over.
 *
 * Domains that are part of another one do not count for the node's total: it is the platform's
 * where there is a counter of that, else packages and DRAM; and GPUs.
 */
#include "config.h"

#include "tools/record/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr/clock.h"

enum { LONGEST_INTERVAL_S = 30, LONGEST_BEFORE_S = 600 };

static bool read_now(energy_t *energy, pwr_meter_reading_t *readings, uint64_t *at_ns)
{
    enum { LONGEST_PART = 50 }; /* of the time between two readings: 2 % */
    return pwr_meter_read_at(energy->meter, energy_interval_ns(energy) / LONGEST_PART, readings,
                             at_ns) == PWR_OK;
}

static void give_up(energy_t *energy, const char *why)
{
    snprintf(energy->why, sizeof energy->why, "%s", why);
    pwr_meter_close(energy->meter);
    energy->meter = NULL;
}

/* Of many reasons the first ones. */
static void shorten(char to[PWR_LEDGER_TEXT], const char *from)
{
    if (snprintf(to, PWR_LEDGER_TEXT, "%s", from) >= PWR_LEDGER_TEXT) {
        strcpy(to + PWR_LEDGER_TEXT - 4, "...");
    }
}

static void open_meter(energy_t *energy, const pwr_env_t *env)
{
    char why[1024];
    if (pwr_meter_open(env, energy->topo, why, sizeof why, &energy->meter) != PWR_OK) {
        energy->meter = NULL;
        shorten(energy->why, why);
        return;
    }
    if (pwr_meter_domain(energy->meter, 0)->provenance == PWR_METER_MODELLED) {
        shorten(energy->why, why);
    }
    unsigned num = pwr_meter_num_domains(energy->meter);
    energy->first = calloc(num, sizeof energy->first[0]);
    energy->last = calloc(num, sizeof energy->last[0]);
    energy->early_watts = calloc(num, sizeof energy->early_watts[0]);
    if (!energy->first || !energy->last || !energy->early_watts) {
        give_up(energy, "out of memory");
    } else if (!read_now(energy, energy->first, &energy->first_ns)) {
        give_up(energy, "the energy counters cannot be read");
    } else {
        for (unsigned i = 0; i < num; i++) {
            energy->last[i] = energy->first[i];
        }
        energy->last_ns = energy->first_ns;
    }
}

void energy_open(energy_t *energy, const pwr_env_t *env)
{
    *energy = (energy_t){.first_ns = pwr_clock_ns(CLOCK_REALTIME)};
    energy->last_ns = energy->first_ns;
    if (pwr_topo_open(env, &energy->topo) != PWR_OK) {
        energy->topo = NULL;
        snprintf(energy->why, sizeof energy->why, "the machine's topology is unknown");
        return;
    }
    open_meter(energy, env);
}

void energy_close(energy_t *energy)
{
    pwr_meter_close(energy->meter);
    pwr_topo_close(energy->topo);
    free(energy->first);
    free(energy->last);
    free(energy->early_watts);
}

static void note_early_watts(energy_t *energy)
{
    double uj_per_watt = 1e-3 * (double)(energy->last_ns - energy->first_ns);
    for (unsigned i = 0; i < pwr_meter_num_domains(energy->meter); i++) {
        const pwr_meter_reading_t used = pwr_meter_between(&energy->first[i], &energy->last[i]);
        energy->early_watts[i] = (double)used.energy_uj / uj_per_watt;
    }
}

static uint64_t sound_begin(const energy_t *energy, uint64_t begin_ns)
{
    const uint64_t longest_ns = (uint64_t)LONGEST_BEFORE_S * PWR_NS_PER_S;
    bool is_sound = begin_ns < energy->first_ns && energy->first_ns - begin_ns < longest_ns;
    return is_sound ? begin_ns : energy->first_ns;
}

static void add(pwr_ledger_domain_t *sum, const pwr_ledger_domain_t *more)
{
    sum->counters += more->counters;
    sum->uj += more->uj;
    sum->uncertainty_uj += more->uncertainty_uj;
}

/* Since begin_ns, by kind.  to_the_end: without domains that cannot be read now. */
static void add_up(const energy_t *energy, uint64_t begin_ns, bool to_the_end,
                   pwr_ledger_domain_t sums[PWR_LEDGER_DOMAINS])
{
    double before_ns = (double)(energy->first_ns - begin_ns);
    for (unsigned i = 0; i < pwr_meter_num_domains(energy->meter); i++) {
        pwr_meter_reading_t used = pwr_meter_between(&energy->first[i], &energy->last[i]);
        if (used.status == PWR_OK || !to_the_end) {
            uint64_t early_uj = (uint64_t)(1e-3 * before_ns * energy->early_watts[i]);
            const pwr_ledger_domain_t one = {1, used.energy_uj + early_uj,
                                             used.uncertainty_uj + early_uj};
            add(&sums[pwr_meter_domain(energy->meter, i)->kind], &one);
        }
    }
}

/* The node's total since begin_ns. */
static pwr_ledger_domain_t total(const energy_t *energy, uint64_t begin_ns)
{
    pwr_ledger_domain_t all[PWR_LEDGER_DOMAINS] = {{0}};
    pwr_ledger_domain_t readable[PWR_LEDGER_DOMAINS] = {{0}};
    add_up(energy, begin_ns, false, all);
    add_up(energy, begin_ns, true, readable);
    pwr_ledger_domain_t sum = all[PWR_DOMAIN_GPU];
    if (readable[PWR_DOMAIN_PLATFORM].counters > 0) {
        add(&sum, &all[PWR_DOMAIN_PLATFORM]);
    } else {
        add(&sum, &all[PWR_DOMAIN_PACKAGE]);
        add(&sum, &all[PWR_DOMAIN_DRAM]);
    }
    return sum;
}

void energy_sample(energy_t *energy)
{
    uint64_t before_ns = energy->last_ns;
    if (!energy->meter) {
        energy->last_ns = pwr_clock_ns(CLOCK_REALTIME);
        return;
    }
    if (!read_now(energy, energy->last, &energy->last_ns)) {
        return; /* said once by the library; the next sample has what this one lacks */
    }
    if (before_ns == energy->first_ns && before_ns < energy->last_ns) {
        note_early_watts(energy);
    }
    uint64_t uj = total(energy, energy->first_ns).uj;
    if (uj > energy->counted_uj) {
        pwr_series_add(&energy->power, before_ns, energy->last_ns, uj - energy->counted_uj);
        energy->counted_uj = uj;
    }
}

uint64_t energy_interval_ns(const energy_t *energy)
{
    const uint64_t longest_ns = (uint64_t)LONGEST_INTERVAL_S * PWR_NS_PER_S;
    uint64_t width_ns = energy->power.num > 0 ? energy->power.width_ns : PWR_SERIES_FINEST_NS;
    return width_ns < longest_ns ? width_ns : longest_ns;
}

pwr_meter_provenance_t energy_provenance(const energy_t *energy)
{
    pwr_meter_provenance_t worst = PWR_METER_MEASURED;
    for (unsigned i = 0; i < pwr_meter_num_domains(energy->meter); i++) {
        pwr_meter_provenance_t one = pwr_meter_domain(energy->meter, i)->provenance;
        worst = one > worst ? one : worst;
    }
    return worst;
}

void energy_describe(const energy_t *energy, pwr_ledger_node_t *node)
{
    node->begin_ns = sound_begin(energy, node->begin_ns);
    node->end_ns = energy->last_ns;
    if (energy->topo) {
        node->cpus = pwr_topo_num_cpus(energy->topo);
        node->packages = pwr_topo_num_packages(energy->topo);
    }
    snprintf(node->energy_remark, sizeof node->energy_remark, "%s", energy->why);
    if (energy->meter) {
        const pwr_ledger_domain_t sum = total(energy, node->begin_ns);
        node->uj = sum.uj;
        node->uncertainty_uj = sum.uncertainty_uj;
        snprintf(node->source, sizeof node->source, "%s", pwr_meter_backend(energy->meter));
        node->provenance = energy_provenance(energy);
        add_up(energy, node->begin_ns, true, node->domains);
    }
}

pwr_series_t energy_series(const energy_t *energy, uint64_t begin_ns)
{
    pwr_series_t series = energy->power;
    if (energy->meter && begin_ns < energy->first_ns) {
        uint64_t early_uj = total(energy, begin_ns).uj - total(energy, energy->first_ns).uj;
        pwr_series_add(&series, begin_ns, energy->first_ns, early_uj);
    }
    return series;
}
