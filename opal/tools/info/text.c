/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The report for people: what this process gets in the first line, then what to do about the rest.
 *
 * Prose is broken at the width of the terminal; commands never are, so that they can be copied.
 */
#include "config.h"

#include "tools/info/info.h"

#include <stdarg.h>
#include <string.h>

enum { LABEL = 2, VALUE = 17, ROW = 4, DEEPER = 8, NAME = 24, LINE_BYTES = 8192 };

typedef struct page {
    FILE *out;
    unsigned width;
} page_t;

static unsigned word_length(const char *text)
{
    return (unsigned)strcspn(text, " ");
}

void info_print_wrapped(FILE *out, const char *text, unsigned column, unsigned width)
{
    unsigned at = column;
    while (*text != '\0') {
        unsigned length = word_length(text);
        if (at > column && at + 1 + length > width) {
            fprintf(out, "\n%*s", (int)column, "");
            at = column;
        }
        fprintf(out, "%s%.*s", at > column ? " " : "", (int)length, text);
        at += length + (at > column ? 1 : 0);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* "  label          value", the value wrapped. */
__attribute__((format(printf, 3, 4))) static void print_row(const page_t *page, const char *label,
                                                            const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(page->out, "%*s%-*s", LABEL, "", VALUE - LABEL, label);
    info_print_wrapped(page->out, line, VALUE, page->width);
}

/* ---- machine and binding ---- */

static void print_cpu(const page_t *page, const info_machine_t *machine)
{
    if (!machine->has_cpu) {
        print_row(page, "processor", "unknown (/proc/cpuinfo tells no vendor, family and model)");
        return;
    }
    const pwr_cpu_model_t *cpu = &machine->cpu;
    print_row(page, "processor", "%s family %u model %u stepping %u%s%s", cpu->vendor, cpu->family,
              cpu->model, cpu->stepping, cpu->name[0] != '\0' ? ", " : "", cpu->name);
}

static void print_cpufreq(const page_t *page, const info_cpufreq_t *cpufreq)
{
    char more[256] = "";
    if (cpufreq->why_not) {
        print_row(page, "cpufreq", "%s", cpufreq->why_not);
        return;
    }
    size_t used = 0;
    if (cpufreq->num_frequencies > 0) {
        used = (size_t)snprintf(more, sizeof more, " in %u steps", cpufreq->num_frequencies);
    }
    if (cpufreq->boost_khz > 0) {
        used += (size_t)snprintf(more + used, sizeof more - used, ", boost to %.2f GHz",
                                 (double)cpufreq->boost_khz / 1e6);
    }
    if (cpufreq->latency_ns > 0) {
        snprintf(more + used, sizeof more - used, ", transition %.1f us (the driver's figure)",
                 (double)cpufreq->latency_ns / 1e3);
    }
    print_row(page, "cpufreq", "%s, governor %s (of: %s), %.2f to %.2f GHz%s", cpufreq->driver,
              cpufreq->governor, cpufreq->governors, (double)cpufreq->min_khz / 1e6,
              (double)cpufreq->max_khz / 1e6, more);
}

static void print_waits(const page_t *page, const char *monitor)
{
    if (monitor) {
        print_row(page, "waits", "pause, %s, futex", monitor);
    } else {
        print_row(page, "waits", "pause, futex (the processor offers no umwait, mwaitx or WFE)");
    }
}

static void print_machine(const page_t *page, const info_machine_t *machine)
{
    fputs("\nmachine\n", page->out);
    print_row(page, "host", "%s, %s", machine->host, machine->kernel);
    print_cpu(page, machine);
    print_row(page, "topology", "packages %u, cores %u, CPUs %u (SMT %s)", machine->packages,
              machine->cores, machine->cpus, machine->cpus > machine->cores ? "on" : "off");
    print_waits(page, machine->monitor);
    print_cpufreq(page, &machine->cpufreq);
    print_row(page, "poweraware", "%s for Open MPI %s, plug-in %s%s", info_version,
              info_mpi_version, info_plugin_path,
              machine->plugin_installed ? "" : " (not installed there)");
}

static void print_binding(const page_t *page, const info_binding_t *binding)
{
    fputs("\nbinding\n", page->out);
    print_row(page, "own CPUs", "%s (%s)", binding->own, binding->bound ? "bound" : "not bound");
    print_row(page, "reached", "%s (own CPUs and their SMT siblings)", binding->reached);
    if (binding->exclusive == INFO_NO) {
        print_row(page, "exclusive", "no: another process of this user claims CPU %u",
                  binding->shared_cpu);
    } else {
        print_row(page, "exclusive", "%s",
                  binding->exclusive == INFO_YES ? "yes" : "not asked (it would claim them)");
    }
    if (binding->neighbour[0] != '\0') {
        print_row(page, "neighbours", "%s", binding->neighbour);
    }
    if (!binding->levers_allowed) {
        print_row(page, "levers", "%s", binding->why_off);
    }
}

/* ---- parts ---- */

static void print_spread(const page_t *page, const char *label, const info_spread_t *spread,
                         const char *what)
{
    print_row(page, label, "%.2f us (quartiles %.2f and %.2f)%s", spread->median_us, spread->low_us,
              spread->high_us, what);
}

static void print_cost(const page_t *page, const info_part_t *part)
{
    char what[128];
    const info_cost_t *cost = &part->cost;
    if (part->best < 0) {
        return;
    }
    if (cost->rounds == 0) {
        print_row(page, "cost", "not measured: %s", cost->why_not);
        return;
    }
    if (part->subject == INFO_ENERGY) {
        snprintf(what, sizeof what, ", median of %u readings of all domains", cost->rounds);
        print_spread(page, "cost", &cost->down, what);
        return;
    }
    snprintf(what, sizeof what, ", software alone, median of %u on %u CPU%s", cost->rounds,
             cost->cpus, cost->cpus == 1 ? "" : "s");
    print_spread(page, "lowering", &cost->down, what);
    print_spread(page, "restoring", &cost->up, "");
}

static void print_range(const page_t *page, const info_part_t *part)
{
    if (part->best < 0 || part->subject == INFO_ENERGY) {
        return;
    }
    const info_backend_t *best = &part->backends[part->best];
    const pwr_lever_type_t *type = info_lever(part->subject);
    print_row(page, "range", "%.4g to %.4g %s", best->lowest * type->shown_per_unit,
              best->full * type->shown_per_unit, type->shown_unit);
}

static void print_domains(const page_t *page, const info_part_t *part)
{
    for (unsigned i = 0; i < part->num_domains; i++) {
        const pwr_meter_domain_t *domain = &part->domains[i];
        char wrap[64] = "never wraps";
        if (domain->range_uj > 0) {
            snprintf(wrap, sizeof wrap, "wraps after %.0f J", (double)domain->range_uj / 1e6);
        }
        print_row(page, i == 0 ? "domains" : "", "%s: %s by %s, steps of %.3g uJ every %u us, %s",
                  domain->name, pwr_meter_provenance_text(domain->provenance), domain->source,
                  domain->resolution_uj, domain->update_us, wrap);
    }
}

static void print_backends(const page_t *page, const info_part_t *part)
{
    fprintf(page->out, "%*sback ends, in the order in which they are tried\n", LABEL, "");
    for (unsigned i = 0; i < part->num_backends; i++) {
        const info_backend_t *backend = &part->backends[i];
        const char *reason = backend->reason;
        const char *word = info_state_word(backend->state);
        size_t column = ROW + NAME + strlen(word) + sizeof " : " - 1;
        fprintf(page->out, "%*s%-*s %s", ROW, "", NAME, backend->name, word);
        if (reason[0] == '\0') {
            fputc('\n', page->out);
        } else if (column + strlen(reason) <= page->width) {
            fprintf(page->out, ": %s\n", reason);
        } else {
            fprintf(page->out, ":\n%*s", DEEPER, "");
            info_print_wrapped(page->out, reason, DEEPER, page->width);
        }
    }
}

/* ---- what to do ---- */

static void print_remedy(const page_t *page, const char *name, const info_remedy_t *remedy)
{
    fprintf(page->out, "%*s%s: ", ROW, "", name);
    info_print_wrapped(page->out, remedy->text, ROW + (unsigned)strlen(name) + 2, page->width);
    for (unsigned i = 0; i < INFO_COMMANDS && remedy->commands[i]; i++) {
        fprintf(page->out, "%*s%s\n", DEEPER, "", remedy->commands[i]);
    }
    if (remedy->caution) {
        fprintf(page->out, "%*s(", DEEPER, "");
        char caution[INFO_REASON_BYTES];
        snprintf(caution, sizeof caution, "%s)", remedy->caution);
        info_print_wrapped(page->out, caution, DEEPER + 1, page->width);
    }
}

static bool was_printed(const info_part_t *part, unsigned before, const info_remedy_t *remedy)
{
    for (unsigned i = 0; i < before; i++) {
        for (unsigned j = 0; j < part->backends[i].num_remedies; j++) {
            if (part->backends[i].remedies[j] == remedy) {
                return true;
            }
        }
    }
    return false;
}

static void print_remedies(const page_t *page, const info_part_t *part)
{
    bool any = false;
    for (unsigned i = 0; i < part->num_backends; i++) {
        const info_backend_t *backend = &part->backends[i];
        for (unsigned j = 0; j < backend->num_remedies; j++) {
            if (was_printed(part, i, backend->remedies[j])) {
                continue;
            }
            if (!any) {
                fprintf(page->out, "%*swhat grants it, as root (one way is enough)\n", LABEL, "");
                any = true;
            }
            print_remedy(page, backend->name, backend->remedies[j]);
        }
    }
}

static void print_part(const page_t *page, const info_part_t *part, bool all)
{
    const info_backend_t *best = part->best >= 0 ? &part->backends[part->best] : NULL;
    bool missing = info_part_is_missing(part);
    fprintf(page->out, "\n%s: %s", info_title(part->subject), best ? best->name : "none");
    fprintf(page->out, "%s%s%s\n", best ? " (" : "", best ? info_state_word(best->state) : "",
            best ? ")" : "");
    if (missing) {
        const info_loss_t *loss = info_loss(part->subject);
        print_row(page, "it is worth", "%s", loss->text);
        print_row(page, "", "(%s)", loss->source);
    }
    print_range(page, part);
    print_cost(page, part);
    print_domains(page, part);
    print_backends(page, part);
    if (missing || all) {
        print_remedies(page, part);
    }
}

static void print_summary(const page_t *page, const info_report_t *report)
{
    static const char lead[] = "this process would save by: ";
    char text[INFO_REASON_BYTES];
    info_summary(report, text, sizeof text);
    fputs(lead, page->out);
    info_print_wrapped(page->out, text, sizeof lead - 1, page->width);
    info_prospect(report, text, sizeof text);
    if (text[0] == '\0') {
        return;
    }
    fputs("and also by:                ", page->out);
    info_print_wrapped(page->out, text, sizeof lead - 1, page->width);
    if (!report->binding.bound) {
        static const char how[] =
            "once it is bound to CPUs of its own: mpirun --bind-to core; to try it here: "
            "poweraware-info --cpus 0";
        fprintf(page->out, "%*s", (int)sizeof lead - 1, "");
        info_print_wrapped(page->out, how, sizeof lead - 1, page->width);
    } else {
        char how[INFO_REASON_BYTES + 64];
        snprintf(how, sizeof how, "if it were not for this: %s", report->binding.why_off);
        fprintf(page->out, "%*s", (int)sizeof lead - 1, "");
        info_print_wrapped(page->out, how, sizeof lead - 1, page->width);
    }
}

bool info_print_text(FILE *out, const info_report_t *report, unsigned width, bool all)
{
    const page_t page = {.out = out, .width = width};
    print_summary(&page, report);
    print_machine(&page, &report->machine);
    print_binding(&page, &report->binding);
    for (info_subject_t subject = 0; subject < INFO_SUBJECTS; subject++) {
        print_part(&page, &report->parts[subject], all);
    }
    return fflush(out) == 0 && !ferror(out);
}
