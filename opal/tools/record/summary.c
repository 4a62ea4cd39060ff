/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A short table per job, in the manner of likwid-perfctr.
 */
#include "config.h"

#include "tools/record/document.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_ROWS = 5, PERCENT = 100, JOULES = 24 };

static const char *or_unknown(const json_t *text)
{
    const char *value = json_string_value(text);
    return value ? value : "unknown";
}

static double share(double part, double whole)
{
    return whole > 0.0 ? PERCENT * part / whole : 0.0;
}

static void row(FILE *out, const char *name, const char *value, const char *note)
{
    fprintf(out, "| %-22s | %14s | %s\n", name, value, note);
}

static void number_row(FILE *out, const char *name, double value, const char *note)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", value);
    row(out, name, text, note);
}

static void print_energy(FILE *out, const document_totals_t *totals, const pwr_ledger_t *ledger)
{
    char note[2 * PWR_LEDGER_TEXT];
    if (totals->metered == 0) {
        const char *why = ledger->num_nodes > 0 ? ledger->nodes[0].energy_remark : "unknown";
        row(out, "Energy", "-", why);
        return;
    }
    snprintf(note, sizeof note, "+- %.3f, %s%s, whole nodes%s", totals->uncertainty_j,
             pwr_meter_provenance_text(totals->provenance),
             totals->metered < ledger->num_nodes ? ", not all nodes" : "",
             totals->sharing > 0 ? ", containers share their machine's" : "");
    number_row(out, "Energy [J]", totals->joules, note);
    if (totals->gpus_j > 0) {
        snprintf(note, sizeof note, "+- %.3f, measured (NVML)", totals->gpus_uncertainty_j);
        number_row(out, "  of it of GPUs [J]", totals->gpus_j, note);
    }
    if (document_spread(totals) > 0.0) {
        number_row(out, "Power [W]", totals->joules / document_spread(totals), "mean");
    }
}

static void print_totals(FILE *out, const document_totals_t *totals, const pwr_ledger_t *ledger)
{
    char note[128];
    double calls_s = 1e-9 * (double)totals->calls.ns;
    number_row(out, "Time [s]", document_spread(totals), "");
    print_energy(out, totals, ledger);
    snprintf(note, sizeof note, "all processes, %.1f %% of their time",
             share(totals->cpu_s, totals->wall_s));
    number_row(out, "CPU time [s]", totals->cpu_s, note);
    snprintf(note, sizeof note, "all processes, of poweraware, %.1f %% of their time",
             share(totals->setup_s, totals->wall_s));
    number_row(out, "Set-up [s]", totals->setup_s, note);
    snprintf(note, sizeof note, "all processes, %.1f %% of their time",
             share(calls_s, totals->wall_s));
    number_row(out, "In collectives [s]", calls_s, note);
    snprintf(note, sizeof note, "%.1f %% of the time in collectives",
             share((double)totals->calls.sleep_ns, (double)totals->calls.ns));
    number_row(out, "  of it asleep [s]", 1e-9 * (double)totals->calls.sleep_ns, note);
}

static void print_joules(char text[JOULES], bool known, uint64_t uj)
{
    strcpy(text, "-");
    if (known) {
        snprintf(text, JOULES, "%.3f", 1e-6 * (double)uj);
    }
}

static void print_region(FILE *out, const pwr_account_region_t *region,
                         const document_totals_t *totals)
{
    char joules[JOULES];
    double seconds = 1e-9 * (double)region->ns;
    print_joules(joules, totals->metered > 0, region->uj);
    fprintf(out, "| %-32.32s | %10" PRIu64 " | %10.3f | %6.1f | %6.1f | %6.1f | %10s |\n",
            region->name[0] == '\0' ? "(others)" : region->name, region->entered, seconds,
            share(seconds, totals->wall_s), share((double)region->cpu_ns, (double)region->ns),
            share((double)region->calls.ns, (double)region->ns), joules);
}

static void print_regions(FILE *out, const pwr_account_t *account, const document_totals_t *totals)
{
    bool has_head = false;
    for (unsigned i = 0; i < PWR_ACCOUNT_REGIONS; i++) {
        if (account->regions[i].entered > 0 && !has_head) {
            has_head = true;
            fprintf(out, "| %-32s | %10s | %10s | %6s | %6s | %6s | %10s |\n", "region", "entered",
                    "s", "of all", "CPU %", "coll.", totals->metered > 0 ? "J (model)" : "J");
        }
        if (account->regions[i].entered > 0) {
            print_region(out, &account->regions[i], totals);
        }
    }
}

static void print_class(FILE *out, const about_t *about, const pwr_account_t *account,
                        const pwr_account_cell_t *cell, bool has_energy)
{
    const pwr_account_kind_t kind = pwr_account_kind(cell);
    const pwr_account_sums_t *sums = &cell->sums;
    json_t *bytes = about_class_bytes(about, kind.size_class);
    char up_to[24] = "-";
    char joules[JOULES];
    if (json_is_integer(bytes)) {
        snprintf(up_to, sizeof up_to, "%" JSON_INTEGER_FORMAT, json_integer_value(bytes));
    }
    json_decref(bytes);
    print_joules(joules, has_energy, sums->uj);
    fprintf(out,
            "| %-16.16s | %-15s | %-16s | %10s | %10" PRIu64 " | %10.3f | %6.1f | %6.1f | %10s |\n",
            kind.comm == PWR_ACCOUNT_OTHERS ? "(others)" : account->comms[kind.comm].name,
            about_collective(about, kind.operation), about_algorithm(about, kind.algorithm), up_to,
            sums->calls, 1e-9 * (double)sums->ns, share(pwr_account_cpu_ns(sums), (double)sums->ns),
            share((double)sums->sleep_ns, (double)sums->ns), joules);
}

static void print_classes(FILE *out, const about_t *about, const pwr_account_t *account,
                          bool has_energy, bool all)
{
    static const pwr_account_cell_t *cells[PWR_ACCOUNT_CELLS];
    size_t num = document_classes(account, cells);
    if (num == 0) {
        return;
    }
    fprintf(out, "| %-16s | %-15s | %-16s | %10s | %10s | %10s | %6s | %6s | %10s |\n",
            "communicator", "collective", "algorithm", "up to B", "calls", "s", "CPU %", "asleep",
            has_energy ? "J (model)" : "J");
    size_t rows = all || num <= SHORT_ROWS ? num : SHORT_ROWS;
    for (size_t i = 0; i < rows; i++) {
        print_class(out, about, account, cells[i], has_energy);
    }
    if (rows < num) {
        fprintf(out, "| and %zu more (coll_poweraware_report full)\n", num - rows);
    }
}

static void print(FILE *out, const about_t *about, const pwr_ledger_t *ledger,
                  const char *why_incomplete)
{
    const document_totals_t totals = document_totals(ledger);
    const json_t *job = json_object_get(about->facts, "job");
    const json_t *settings = json_object_get(about->facts, "settings");
    fprintf(out, "poweraware: %s: %u process%s on %zu node%s, scheme %s\n",
            or_unknown(json_object_get(job, "program")), about->processes,
            about->processes == 1 ? "" : "es", ledger->num_nodes, ledger->num_nodes == 1 ? "" : "s",
            or_unknown(json_object_get(settings, "scheme")));
    if (why_incomplete) {
        row(out, "INCOMPLETE", "", why_incomplete);
    }
    print_totals(out, &totals, ledger);
    print_regions(out, &ledger->account, &totals);
    print_classes(out, about, &ledger->account, totals.metered > 0,
                  strcmp(about->summary, "full") == 0);
}

char *summary_make(const about_t *about, const pwr_ledger_t *ledger, const char *why_incomplete)
{
    char *text = NULL;
    size_t size;
    if (strcmp(about->summary, "off") == 0) {
        return strdup("");
    }
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    print(out, about, ledger, why_incomplete);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
