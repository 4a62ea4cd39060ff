/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Whose the energy of nodes is: that of their calls, and that of containers on one machine
 * (pwr/ledger.h).
 */
#include "config.h"

#include "pwr/ledger.h"

#include <stdlib.h>
#include <string.h>

static uint64_t gpus_uj(const pwr_ledger_node_t *node)
{
    uint64_t uj = node->domains[PWR_DOMAIN_GPU].uj;
    return uj < node->uj ? uj : node->uj;
}

/* ---- energy of calls ---- */

pwr_ledger_weights_t pwr_ledger_weights(void)
{
    pwr_ledger_weights_t weights = {.asleep = 0.3};
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        weights.left[i] = pwr_lever_type((pwr_lever_id_t)i)->power_left;
    }
    return weights;
}

/* What is left of full speed's power in calls that took ns. */
static double slowness(const pwr_account_sums_t *sums, const pwr_ledger_weights_t *weights)
{
    double ns = sums->ns > 0 ? (double)sums->ns : 1.0;
    double left = 1.0;
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        double held = (double)sums->held_ns[i] / ns;
        left *= 1.0 - (1.0 - weights->left[i]) * (held < 1.0 ? held : 1.0);
    }
    return left;
}

static double weight_of(double ns, double cpu_ns, double slowness, double asleep)
{
    double busy = cpu_ns < 0.0 ? 0.0 : cpu_ns > ns ? ns : cpu_ns;
    return asleep * ns + (1.0 - asleep) * busy * slowness;
}

/* w of calls, nanoseconds. */
static double weight_of_calls(const pwr_account_sums_t *calls, const pwr_ledger_weights_t *weights)
{
    return weight_of((double)calls->ns, pwr_account_cpu_ns(calls), slowness(calls, weights),
                     weights->asleep);
}

/* A process whose threads compute on many CPUs has more CPU time than time. */
static double node_weight(const pwr_account_t *account, const pwr_ledger_node_t *node,
                          const pwr_ledger_weights_t *weights)
{
    double outside_ns = (double)node->wall_ns - (double)account->rest.sums.ns;
    double outside_cpu_ns = (double)node->cpu_ns - pwr_account_cpu_ns(&account->rest.sums);
    double weight = weight_of_calls(&account->rest.sums, weights);
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    while ((cell = pwr_account_next(account, &index)) != NULL) {
        weight += weight_of_calls(&cell->sums, weights);
        outside_ns -= (double)cell->sums.ns;
        outside_cpu_ns -= pwr_account_cpu_ns(&cell->sums);
    }
    outside_cpu_ns = outside_cpu_ns < 0.0 ? 0.0 : outside_cpu_ns;
    outside_ns = outside_ns < outside_cpu_ns ? outside_cpu_ns : outside_ns;
    return weight + weight_of(outside_ns, outside_cpu_ns, 1.0, weights->asleep);
}

/* Calls in it, and what the program did beside them. */
static double weight_of_region(const pwr_account_region_t *region,
                               const pwr_ledger_weights_t *weights)
{
    double cpu_ns = (double)region->cpu_ns - pwr_account_cpu_ns(&region->calls);
    double ns = (double)region->ns - (double)region->calls.ns;
    cpu_ns = cpu_ns < 0.0 ? 0.0 : cpu_ns;
    ns = ns < cpu_ns ? cpu_ns : ns;
    return weight_of_calls(&region->calls, weights) + weight_of(ns, cpu_ns, 1.0, weights->asleep);
}

static void charge(pwr_account_sums_t *sums, double uj_per_weight,
                   const pwr_ledger_weights_t *weights, uint64_t *left_uj)
{
    uint64_t uj = (uint64_t)(uj_per_weight * weight_of_calls(sums, weights));
    sums->uj = uj < *left_uj ? uj : *left_uj;
    *left_uj -= sums->uj;
}

void pwr_ledger_attribute(pwr_account_t *account, const pwr_ledger_node_t *node,
                          pwr_ledger_weights_t weights)
{
    double weight = node_weight(account, node, &weights);
    uint64_t left_uj = node->uj - gpus_uj(node);
    const uint64_t all_uj = left_uj;
    double uj_per_weight = weight > 0.0 ? (double)left_uj / weight : 0.0;
    for (unsigned i = 0; i < PWR_ACCOUNT_CELLS; i++) {
        if (atomic_load_explicit(&account->cells[i].key, memory_order_relaxed) != 0) {
            charge(&account->cells[i].sums, uj_per_weight, &weights, &left_uj);
        }
    }
    charge(&account->rest.sums, uj_per_weight, &weights, &left_uj);
    for (unsigned i = 0; i < PWR_ACCOUNT_REGIONS; i++) {
        pwr_account_region_t *region = &account->regions[i];
        uint64_t uj = (uint64_t)(uj_per_weight * weight_of_region(region, &weights));
        region->uj = uj < all_uj ? uj : all_uj;
    }
}

void pwr_ledger_attribute_gpus(pwr_ledger_t *ledger,
                               bool (*is_by_gpus)(const void *who, int algorithm), const void *who)
{
    double uj = 0.0, wall_ns = 0.0;
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        uj += (double)gpus_uj(&ledger->nodes[i]);
        wall_ns += (double)ledger->nodes[i].wall_ns;
    }
    for (unsigned i = 0; i < PWR_ACCOUNT_CELLS && wall_ns > 0.0; i++) {
        pwr_account_cell_t *cell = &ledger->account.cells[i];
        if (atomic_load_explicit(&cell->key, memory_order_relaxed) != 0 &&
            is_by_gpus(who, pwr_account_kind(cell).algorithm)) {
            double part = (double)cell->sums.ns / wall_ns;
            cell->sums.uj += (uint64_t)(uj * (part < 1.0 ? part : 1.0));
        }
    }
}

/* ---- one window ---- */

static void add_power(pwr_ledger_t *ledger, size_t i, uint64_t begin_ns, uint64_t end_ns,
                      uint64_t uj)
{
    if (end_ns > begin_ns && uj > 0) {
        pwr_series_add(&ledger->power, begin_ns, end_ns, uj);
        if (ledger->series) {
            pwr_series_add(&ledger->series[i], begin_ns, end_ns, uj);
        }
    }
}

static void extend(pwr_ledger_t *ledger, size_t i, uint64_t begin_ns, uint64_t end_ns)
{
    pwr_ledger_node_t *node = &ledger->nodes[i];
    double own_ns = (double)(node->end_ns - node->begin_ns);
    double before = (double)(node->begin_ns - begin_ns) / own_ns;
    double after = (double)(end_ns - node->end_ns) / own_ns;
    uint64_t before_uj = (uint64_t)(before * (double)node->uj);
    uint64_t after_uj = (uint64_t)(after * (double)node->uj);
    add_power(ledger, i, begin_ns, node->begin_ns, before_uj);
    add_power(ledger, i, node->end_ns, end_ns, after_uj);
    node->uj += before_uj + after_uj;
    node->uncertainty_uj += before_uj + after_uj;
    for (int kind = 0; kind < PWR_LEDGER_DOMAINS; kind++) {
        uint64_t more_uj = (uint64_t)((before + after) * (double)node->domains[kind].uj);
        node->domains[kind].uj += more_uj;
        node->domains[kind].uncertainty_uj += more_uj;
    }
    node->begin_ns = begin_ns;
    node->end_ns = end_ns;
}

void pwr_ledger_align_windows(pwr_ledger_t *ledger)
{
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        const pwr_ledger_node_t *node = &ledger->nodes[i];
        begin_ns = node->begin_ns < begin_ns ? node->begin_ns : begin_ns;
        end_ns = node->end_ns > end_ns ? node->end_ns : end_ns;
    }
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        const pwr_ledger_node_t *node = &ledger->nodes[i];
        if (node->end_ns > node->begin_ns &&
            end_ns - begin_ns <= 2 * (node->end_ns - node->begin_ns)) {
            extend(ledger, i, begin_ns, end_ns);
        }
    }
}

/* ---- machines of several nodes ---- */

/* Of all nodes, without GPUs. */
static uint64_t cpus_uj(const pwr_ledger_t *ledger)
{
    uint64_t uj = 0;
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        uj += ledger->nodes[i].uj - gpus_uj(&ledger->nodes[i]);
    }
    return uj;
}

static bool may_share(const pwr_ledger_node_t *node)
{
    return node->machine[0] != '\0' && node->source[0] != '\0' &&
           node->provenance != PWR_METER_EMULATED && node->shared_by <= 1;
}

static int by_machine(const void *left, const void *right)
{
    const pwr_ledger_node_t *const *a = left, *const *b = right;
    return strcmp((*a)->machine, (*b)->machine);
}

static void share(pwr_ledger_node_t *node, uint32_t among)
{
    const pwr_ledger_domain_t gpu = node->domains[PWR_DOMAIN_GPU];
    uint64_t own_uj = gpus_uj(node);
    uint64_t own_uncertainty_uj =
        gpu.uncertainty_uj < node->uncertainty_uj ? gpu.uncertainty_uj : node->uncertainty_uj;
    node->shared_by = among;
    node->uj = own_uj + (node->uj - own_uj) / among;
    node->uncertainty_uj = own_uncertainty_uj + (node->uncertainty_uj - own_uncertainty_uj) / among;
    for (int kind = 0; kind < PWR_LEDGER_DOMAINS; kind++) {
        if (kind != PWR_DOMAIN_GPU) {
            node->domains[kind].uj /= among;
            node->domains[kind].uncertainty_uj /= among;
        }
    }
}

static bool share_all(pwr_ledger_node_t **nodes, size_t num)
{
    bool any = false;
    qsort(nodes, num, sizeof nodes[0], by_machine);
    for (size_t first = 0, end; first < num; first = end) {
        for (end = first + 1; end < num && by_machine(&nodes[first], &nodes[end]) == 0;) {
            end++;
        }
        for (size_t i = first; i < end && end - first > 1; i++) {
            share(nodes[i], (uint32_t)(end - first));
            any = true;
        }
    }
    return any;
}

/* Power over time has each node's energy. */
static void scale_power(pwr_ledger_t *ledger)
{
    if (!ledger->series) { /* what belongs to whom is not known any more */
        uint64_t all_uj = 0;
        for (size_t i = 0; i < ledger->num_nodes; i++) {
            all_uj += ledger->nodes[i].uj;
        }
        pwr_series_scale(&ledger->power, all_uj);
        return;
    }
    ledger->power = (pwr_series_t){0};
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        if (ledger->nodes[i].shared_by > 1) {
            pwr_series_scale(&ledger->series[i], ledger->nodes[i].uj);
        }
        pwr_series_merge(&ledger->power, &ledger->series[i]);
    }
}

static void scale_calls(pwr_account_t *account, double part)
{
    for (unsigned i = 0; i < PWR_ACCOUNT_CELLS; i++) {
        account->cells[i].sums.uj = (uint64_t)((double)account->cells[i].sums.uj * part);
    }
    account->rest.sums.uj = (uint64_t)((double)account->rest.sums.uj * part);
    for (unsigned i = 0; i < PWR_ACCOUNT_REGIONS; i++) {
        account->regions[i].uj = (uint64_t)((double)account->regions[i].uj * part);
    }
}

pwr_status_t pwr_ledger_share_machines(pwr_ledger_t *ledger)
{
    size_t num = 0;
    uint64_t before_uj = cpus_uj(ledger);
    pwr_ledger_node_t **nodes = malloc((ledger->num_nodes + 1) * sizeof(pwr_ledger_node_t *));
    if (!nodes) {
        return PWR_ERR_NOMEM;
    }
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        if (may_share(&ledger->nodes[i])) {
            nodes[num++] = &ledger->nodes[i];
        }
    }
    if (share_all(nodes, num)) {
        scale_power(ledger);
        scale_calls(&ledger->account,
                    before_uj > 0 ? (double)cpus_uj(ledger) / (double)before_uj : 0.0);
    }
    free(nodes);
    return PWR_OK;
}
