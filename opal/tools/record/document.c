/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Puts a job's document together.
 */
#define _GNU_SOURCE /* renameat2 */
#include "config.h"

#include "tools/record/document.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "pwr/file.h"
#include "pwr/json.h"

enum { FORMAT_VERSION = 6 };

/* ---- totals ---- */

static bool is_shared(const pwr_ledger_node_t *node)
{
    return node->shared_by > 1;
}

static void add_node(document_totals_t *totals, const pwr_ledger_node_t *node)
{
    totals->reported += node->reported;
    totals->finished += node->finished;
    totals->sharing += is_shared(node);
    totals->wall_s += 1e-9 * (double)node->wall_ns;
    totals->cpu_s += 1e-9 * (double)node->cpu_ns;
    totals->setup_s += 1e-9 * (double)node->setup_ns;
    if (totals->begin_ns == 0 || node->begin_ns < totals->begin_ns) {
        totals->begin_ns = node->begin_ns;
    }
    totals->end_ns = node->end_ns > totals->end_ns ? node->end_ns : totals->end_ns;
    if (node->source[0] != '\0') {
        totals->metered++;
        totals->joules += 1e-6 * (double)node->uj;
        totals->uncertainty_j += 1e-6 * (double)node->uncertainty_uj;
        totals->gpus_j += 1e-6 * (double)node->domains[PWR_DOMAIN_GPU].uj;
        totals->gpus_uncertainty_j += 1e-6 * (double)node->domains[PWR_DOMAIN_GPU].uncertainty_uj;
        if (node->provenance > (uint32_t)totals->provenance) {
            totals->provenance = (pwr_meter_provenance_t)node->provenance;
        }
    }
}

document_totals_t document_totals(const pwr_ledger_t *ledger)
{
    document_totals_t totals = {0};
    const pwr_account_t *account = &ledger->account;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        add_node(&totals, &ledger->nodes[i]);
    }
    /* CPU time is known of samples, so it is worked out before it is added up. */
    uint64_t cpu_ns = (uint64_t)pwr_account_cpu_ns(&account->rest.sums);
    pwr_account_add_plainly(&totals.calls, &account->rest.sums);
    while ((cell = pwr_account_next(account, &index)) != NULL) {
        cpu_ns += (uint64_t)pwr_account_cpu_ns(&cell->sums);
        pwr_account_add_plainly(&totals.calls, &cell->sums);
    }
    totals.calls.cpu_ns = cpu_ns;
    totals.calls.cpu_of_ns = totals.calls.ns;
    return totals;
}

double document_spread(const document_totals_t *totals)
{
    return totals->end_ns > totals->begin_ns ? 1e-9 * (double)(totals->end_ns - totals->begin_ns)
                                             : 0.0;
}

static int by_seconds(const void *left, const void *right)
{
    const pwr_account_cell_t *const *a = left, *const *b = right;
    uint64_t mine = (*a)->sums.ns, other = (*b)->sums.ns;
    return mine > other ? -1 : mine < other;
}

size_t document_classes(const pwr_account_t *account, const pwr_account_cell_t **cells)
{
    unsigned index = 0;
    size_t num = 0;
    const pwr_account_cell_t *cell;
    while ((cell = pwr_account_next(account, &index)) != NULL) {
        if (cell->sums.calls > 0) {
            cells[num++] = cell;
        }
    }
    qsort(cells, num, sizeof cells[0], by_seconds);
    return num;
}

/* ---- parts ---- */

static json_t *joules(uint64_t uj)
{
    return json_real(1e-6 * (double)uj);
}

static json_t *real_or_null(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *time_text(uint64_t realtime_ns)
{
    char text[64];
    time_t at = (time_t)(realtime_ns / 1000000000);
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

/* Times are in seconds since the job's begin. */
static json_t *power_of(const pwr_series_t *series, uint64_t begin_ns)
{
    if (!series || series->num == 0) {
        return json_null();
    }
    double width_s = 1e-9 * (double)series->width_ns;
    double first_s = 1e-9 * (double)(int64_t)(series->first * series->width_ns - begin_ns);
    json_t *watts = json_array();
    for (uint64_t i = 0; i < series->num; i++) {
        json_array_append_new(watts, json_real(1e-6 * (double)series->uj[i] / width_s));
    }
    return json_pack("{s:f, s:f, s:o}", "begin_s", first_s, "width_s", width_s, "watts", watts);
}

static json_t *domains_of(const pwr_ledger_node_t *node)
{
    json_t *domains = json_object();
    for (int kind = 0; kind < PWR_LEDGER_DOMAINS; kind++) {
        const pwr_ledger_domain_t *domain = &node->domains[kind];
        if (domain->counters > 0) {
            json_object_set_new(
                domains, pwr_meter_kind_text((pwr_meter_domain_kind_t)kind),
                json_pack("{s:I, s:o, s:o}", "counters", (json_int_t)domain->counters, "joules",
                          joules(domain->uj), "uncertainty_j", joules(domain->uncertainty_uj)));
        }
    }
    return domains;
}

static json_t *energy_of(const pwr_ledger_node_t *node)
{
    bool known = node->source[0] != '\0';
    const char *provenance = pwr_meter_provenance_text((pwr_meter_provenance_t)node->provenance);
    const char *remark = known || node->energy_remark[0] ? node->energy_remark : "unknown";
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "joules",
                     real_or_null(known, 1e-6 * (double)node->uj), "uncertainty_j",
                     real_or_null(known, 1e-6 * (double)node->uncertainty_uj), "source",
                     pwr_json_text_or_null(node->source, sizeof node->source), "provenance",
                     known ? json_string(provenance) : json_null(), "domains", domains_of(node),
                     "shared_by", is_shared(node) ? (int)node->shared_by : 1, "remark",
                     pwr_json_text_or_null(remark, sizeof node->energy_remark));
}

static json_t *node_of(const pwr_ledger_node_t *node, const pwr_series_t *power, uint64_t begin_ns)
{
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "host", pwr_json_text(node->host, sizeof node->host), "machine",
                     pwr_json_text_or_null(node->machine, sizeof node->machine), "processes",
                     (int)node->processes, "reported", (int)node->reported, "finished",
                     (int)node->finished, "cpus", (int)node->cpus, "packages", (int)node->packages,
                     "begin_s", json_real(1e-9 * (double)(int64_t)(node->begin_ns - begin_ns)),
                     "end_s", json_real(1e-9 * (double)(int64_t)(node->end_ns - begin_ns)),
                     "process_s", pwr_json_seconds(node->wall_ns), "cpu_s",
                     pwr_json_seconds(node->cpu_ns), "setup_s", pwr_json_seconds(node->setup_ns),
                     "energy", energy_of(node), "power", power_of(power, begin_ns), "levers",
                     pwr_json_levers(node->levers));
}

static json_t *nodes_of(const pwr_ledger_t *ledger, uint64_t begin_ns)
{
    json_t *nodes = json_array();
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        json_array_append_new(nodes, node_of(&ledger->nodes[i],
                                             ledger->series ? &ledger->series[i] : NULL, begin_ns));
    }
    return nodes;
}

/* Sums over calls; without energy there is none to attribute. */
static json_t *sums_of(const pwr_account_sums_t *sums, bool has_energy)
{
    json_t *json = pwr_json_sums(sums);
    json_object_set_new(json, "joules", real_or_null(has_energy, 1e-6 * (double)sums->uj));
    return json;
}

static json_t *class_of(const about_t *about, const pwr_account_t *account,
                        const pwr_account_cell_t *cell, bool has_energy)
{
    const pwr_account_kind_t kind = pwr_account_kind(cell);
    const pwr_account_comm_t *comm = &account->comms[kind.comm];
    bool named = kind.comm != PWR_ACCOUNT_OTHERS;
    json_t *class = json_pack("{s:o, s:o, s:s, s:s, s:o}", "communicator",
                              named ? pwr_json_text(comm->name, sizeof comm->name) : json_null(),
                              "size", named ? json_integer((json_int_t)comm->size) : json_null(),
                              "collective", about_collective(about, kind.operation), "algorithm",
                              about_algorithm(about, kind.algorithm), "up_to_bytes",
                              about_class_bytes(about, kind.size_class));
    pwr_json_take(class, json_pack("{s:I, s:o, s:I}", "processes", (json_int_t)cell->processes,
                                   "least_s", pwr_json_seconds(cell->least_ns), "least_process",
                                   (json_int_t)cell->least_process));
    pwr_json_take(class, sums_of(&cell->sums, has_energy));
    return class;
}

static json_t *classes_of(const about_t *about, const pwr_account_t *account, bool has_energy)
{
    static const pwr_account_cell_t *cells[PWR_ACCOUNT_CELLS];
    size_t num = document_classes(account, cells);
    json_t *classes = json_array();
    for (size_t i = 0; i < num; i++) {
        json_array_append_new(classes, class_of(about, account, cells[i], has_energy));
    }
    return classes;
}

static json_t *regions_of(const pwr_account_t *account, bool has_energy)
{
    json_t *regions = json_array();
    for (unsigned i = 0; i < PWR_ACCOUNT_REGIONS; i++) {
        const pwr_account_region_t *region = &account->regions[i];
        if (region->entered > 0) {
            json_array_append_new(
                regions,
                json_pack("{s:o, s:I, s:o, s:o, s:o, s:o}", "name",
                          pwr_json_text_or_null(region->name, sizeof region->name), "entered",
                          (json_int_t)region->entered, "process_s", pwr_json_seconds(region->ns),
                          "cpu_s", pwr_json_seconds(region->cpu_ns), "joules",
                          real_or_null(has_energy, 1e-6 * (double)region->uj), "calls",
                          sums_of(&region->calls, has_energy)));
        }
    }
    return regions;
}

/* What the program did outside of the calls that are accounted for. */
static json_t *outside_of(const document_totals_t *totals)
{
    double cpu_s = totals->cpu_s - 1e-9 * (double)totals->calls.cpu_ns;
    return json_pack(
        "{s:f, s:f, s:o}", "seconds", fmax(0.0, totals->wall_s - 1e-9 * (double)totals->calls.ns),
        "cpu_s", fmax(0.0, cpu_s), "joules",
        real_or_null(totals->metered > 0, totals->joules - 1e-6 * (double)totals->calls.uj));
}

static json_t *totals_of(const document_totals_t *totals)
{
    double spread = document_spread(totals);
    bool has_energy = totals->metered > 0;
    return json_pack("{s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "seconds", spread, "process_s",
                     totals->wall_s, "cpu_s", totals->cpu_s, "setup_s", totals->setup_s, "joules",
                     real_or_null(has_energy, totals->joules), "uncertainty_j",
                     real_or_null(has_energy, totals->uncertainty_j), "mean_watts",
                     real_or_null(has_energy && spread > 0.0, totals->joules / spread));
}

/* ---- provenance ---- */

static json_t *origin(const char *kind, const char *note)
{
    return json_pack("{s:s, s:s}", "kind", kind, "note", note);
}

static json_t *energy_origin(const document_totals_t *totals, const pwr_ledger_t *ledger)
{
    char note[4 * PWR_LEDGER_TEXT];
    char sharing[PWR_LEDGER_TEXT] = "", gpus[PWR_LEDGER_TEXT] = "";
    bool modelled = totals->provenance == PWR_METER_MODELLED;
    size_t nodes = ledger->num_nodes;
    const pwr_ledger_node_t *first = NULL; /* that has energy, or else: that has none */
    for (size_t i = 0; i < nodes; i++) {
        const pwr_ledger_node_t *node = &ledger->nodes[i];
        if (!first || (first->source[0] == '\0' && node->source[0] != '\0')) {
            first = node;
        }
    }
    if (totals->metered == 0) {
        snprintf(note, sizeof note, "No energy: %s",
                 first && first->energy_remark[0] ? first->energy_remark : "unknown");
        return origin("absent", note);
    }
    if (totals->sharing > 0) {
        snprintf(sharing, sizeof sharing,
                 "  %zu nodes are containers that share machines: each has its part of the "
                 "machine's energy.",
                 totals->sharing);
    }
    if (totals->gpus_j > 0) {
        snprintf(gpus, sizeof gpus, "  %.0f J of it, of GPUs, are measured (NVML).",
                 totals->gpus_j);
    }
    snprintf(
        note, sizeof note,
        "Energy of whole nodes, while the job ran there, by %s; %zu of %zu nodes have it.%s%s%s%s",
        first->source, totals->metered, nodes, sharing, gpus, modelled ? "  No counter: " : "",
        modelled ? first->energy_remark : "");
    return origin(pwr_meter_provenance_text(totals->provenance), note);
}

/* What a second of CPU time counts. */
static json_t *provenance_of(const document_totals_t *totals, const pwr_ledger_t *ledger)
{
    char attribution[512];
    const pwr_ledger_weights_t weights = pwr_ledger_weights();
    int used = snprintf(attribution, sizeof attribution,
                        "Joules of calls are a share of their nodes' energy by time and state: a "
                        "second of CPU time counts 1, a second asleep %g",
                        weights.asleep);
    for (int i = 0; i < PWR_NUM_LEVERS && (size_t)used < sizeof attribution; i++) {
        used += snprintf(attribution + used, sizeof attribution - (size_t)used,
                         ", one with %s lowered %g", pwr_lever_type((pwr_lever_id_t)i)->title,
                         weights.asleep + (1.0 - weights.asleep) * weights.left[i]);
    }
    if (totals->gpus_j > 0 && (size_t)used < sizeof attribution) {
        snprintf(attribution + used, sizeof attribution - (size_t)used,
                 "; of GPUs, by time, to the calls that they make");
    }
    return json_pack(
        "{s:o, s:o, s:o}", "time",
        origin("measured", "Clocks of the processes; CPU time of short calls is sampled."),
        "energy", energy_origin(totals, ledger), "attribution",
        totals->metered > 0 ? origin("modelled", attribution)
                            : origin("absent", "There is no energy to attribute."));
}

/* ---- the whole ---- */

json_t *document_make(const about_t *about, const pwr_ledger_t *ledger, const char *why_incomplete)
{
    const document_totals_t totals = document_totals(ledger);
    const pwr_account_t *account = &ledger->account;
    bool has_energy = totals.metered > 0;
    json_t *document = json_pack(
        "{s:s, s:i, s:o, s:I, s:b, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:n}",
        "format", "poweraware-job", "version", FORMAT_VERSION, "begin", time_text(totals.begin_ns),
        "begin_ns", (json_int_t)totals.begin_ns, "complete", why_incomplete == NULL,
        "why_incomplete", why_incomplete ? json_string(why_incomplete) : json_null(), "processes",
        (int)about->processes, "reported", (int)totals.reported, "finished", (int)totals.finished,
        "provenance", provenance_of(&totals, ledger), "totals", totals_of(&totals), "power",
        power_of(&ledger->power, totals.begin_ns), "calls", classes_of(about, account, has_energy),
        "other_calls", sums_of(&account->rest.sums, has_energy), "outside", outside_of(&totals),
        "regions", regions_of(account, has_energy), "nodes", nodes_of(ledger, totals.begin_ns),
        "decisions");
    if (document) {
        json_object_update(document, about->facts);
    }
    return document;
}

static bool dump(FILE *file, const void *document)
{
    return json_dumpf(document, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 &&
           fputc('\n', file) != EOF;
}

int document_replace(const json_t *document, const char *path)
{
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) {
        return ENAMETOOLONG;
    }
    int err = pwr_file_write(beside, dump, document);
    if (err == 0 && rename(beside, path) != 0) {
        err = errno;
    }
    if (err != 0) {
        unlink(beside);
    }
    return err;
}

/* EEXIST: the name is taken.  Some file systems (NFS) have only links for that. */
static int move(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) {
        return errno;
    }
    if (link(from, to) != 0) {
        return errno;
    }
    unlink(from);
    return 0;
}

int document_keep(const json_t *document, const char *stem, const char *owner, char path[PATH_MAX])
{
    enum { MOST_NAMES = 1000 };
    char beside[PATH_MAX];
    char number[16] = "";
    snprintf(path, PATH_MAX, "%s.json", stem);
    if (snprintf(beside, sizeof beside, "%s-%s-%d.json", stem, owner, MOST_NAMES) >=
        (int)sizeof beside) {
        return ENAMETOOLONG;
    }
    int err = pwr_file_write(beside, dump, document);
    if (err == 0) {
        err = move(beside, path);
    }
    for (int i = 1; err == EEXIST && i < MOST_NAMES; i++) {
        snprintf(path, PATH_MAX, "%s-%s%s.json", stem, owner, number);
        err = move(beside, path);
        snprintf(number, sizeof number, "-%d", i + 1);
    }
    if (err != 0) {
        unlink(beside);
    }
    return err;
}
