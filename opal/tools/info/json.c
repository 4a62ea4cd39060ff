/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The report for programs: one JSON object, as poweraware-info.schema.json describes it.
 *
 * json_pack fails as a whole when any value in it is missing or not UTF-8, so checking the last
 * object is enough.
 */
#include "config.h"

#include "tools/info/info.h"

#include <jansson.h>
#include <string.h>

enum { FORMAT_VERSION = 2 };

/* NULL and "" are null.  What is not UTF-8 (a host name, a processor's name) loses those bytes. */
static json_t *text_or_null(const char *text)
{
    char ascii[INFO_LIST_BYTES];
    if (!text || text[0] == '\0') {
        return json_null();
    }
    json_t *made = json_string(text);
    if (made) {
        return made;
    }
    size_t length = 0;
    for (; *text != '\0' && length < sizeof ascii - 1; text++) {
        if ((unsigned char)*text < 0x80) {
            ascii[length++] = *text;
        }
    }
    ascii[length] = '\0';
    return json_string(ascii);
}

static json_t *number_or_null(unsigned long long number)
{
    return number > 0 ? json_integer((json_int_t)number) : json_null();
}

/* ---- machine and binding ---- */

static json_t *pack_processor(const info_machine_t *machine)
{
    const pwr_cpu_model_t *cpu = &machine->cpu;
    if (!machine->has_cpu) {
        return json_null();
    }
    return json_pack("{s:o, s:i, s:i, s:i, s:o}", "vendor", text_or_null(cpu->vendor), "family",
                     (int)cpu->family, "model", (int)cpu->model, "stepping", (int)cpu->stepping,
                     "name", text_or_null(cpu->name));
}

static json_t *pack_cpufreq(const info_cpufreq_t *cpufreq)
{
    if (cpufreq->why_not) {
        return json_pack("{s:o}", "why_not", text_or_null(cpufreq->why_not));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "driver",
                     text_or_null(cpufreq->driver), "governor", text_or_null(cpufreq->governor),
                     "governors", text_or_null(cpufreq->governors), "min_khz",
                     number_or_null(cpufreq->min_khz), "max_khz", number_or_null(cpufreq->max_khz),
                     "listed_frequencies", (int)cpufreq->num_frequencies, "boost_khz",
                     number_or_null(cpufreq->boost_khz), "transition_latency_ns",
                     number_or_null(cpufreq->latency_ns));
}

static json_t *pack_machine(const info_machine_t *machine)
{
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:o}", "host",
                     text_or_null(machine->host), "kernel", text_or_null(machine->kernel),
                     "processor", pack_processor(machine), "packages", (int)machine->packages,
                     "cores", (int)machine->cores, "cpus", (int)machine->cpus, "wait_monitor",
                     text_or_null(machine->monitor), "cpufreq", pack_cpufreq(&machine->cpufreq));
}

static json_t *pack_software(const info_machine_t *machine)
{
    return json_pack("{s:s, s:s, s:o, s:b}", "poweraware", info_version, "open_mpi",
                     info_mpi_version, "plugin", text_or_null(info_plugin_path), "plugin_installed",
                     (int)machine->plugin_installed);
}

static json_t *pack_binding(const info_binding_t *binding)
{
    json_t *exclusive = binding->exclusive == INFO_NOT_ASKED
                            ? json_null()
                            : json_boolean(binding->exclusive == INFO_YES);
    json_t *shared =
        binding->exclusive == INFO_NO ? json_integer(binding->shared_cpu) : json_null();
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:b, s:o}", "own_cpus", binding->own,
                     "reached_cpus", binding->reached, "bound", (int)binding->bound, "exclusive",
                     exclusive, "shared_cpu", shared, "neighbours",
                     text_or_null(binding->neighbour), "levers_allowed",
                     (int)binding->levers_allowed, "why_off", text_or_null(binding->why_off));
}

/* ---- parts ---- */

static json_t *pack_remedies(const info_backend_t *backend)
{
    json_t *remedies = json_array();
    for (unsigned i = 0; i < backend->num_remedies; i++) {
        const info_remedy_t *remedy = backend->remedies[i];
        json_t *commands = json_array();
        for (unsigned j = 0; j < INFO_COMMANDS && remedy->commands[j]; j++) {
            json_array_append_new(commands, json_string(remedy->commands[j]));
        }
        json_array_append_new(remedies,
                              json_pack("{s:s, s:o, s:o}", "text", remedy->text, "commands",
                                        commands, "caution", text_or_null(remedy->caution)));
    }
    return remedies;
}

static json_t *pack_backend(info_subject_t subject, const info_backend_t *backend)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:o}", "name", backend->name, "state",
                               info_state_word(backend->state), "reason",
                               text_or_null(backend->reason), "remedies", pack_remedies(backend));
    if (info_lever(subject)) {
        json_object_set_new(object, "lowest", number_or_null(backend->lowest));
        json_object_set_new(object, "full", number_or_null(backend->full));
    }
    return object;
}

static json_t *pack_spread(const info_spread_t *spread)
{
    return json_pack("{s:f, s:f, s:f}", "low", spread->low_us, "median", spread->median_us, "high",
                     spread->high_us);
}

static json_t *pack_cost(const info_part_t *part)
{
    const info_cost_t *cost = &part->cost;
    if (part->best < 0) {
        return json_null();
    }
    if (cost->rounds == 0) {
        return json_pack("{s:o}", "why_not", text_or_null(cost->why_not));
    }
    if (part->subject == INFO_ENERGY) {
        return json_pack("{s:i, s:o}", "rounds", (int)cost->rounds, "read_us",
                         pack_spread(&cost->down));
    }
    return json_pack("{s:i, s:i, s:o, s:o}", "rounds", (int)cost->rounds, "cpus", (int)cost->cpus,
                     "lower_us", pack_spread(&cost->down), "restore_us", pack_spread(&cost->up));
}

static json_t *pack_domains(const info_part_t *part)
{
    json_t *domains = json_array();
    for (unsigned i = 0; i < part->num_domains; i++) {
        const pwr_meter_domain_t *domain = &part->domains[i];
        json_array_append_new(
            domains,
            json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:i}", "name", domain->name, "kind",
                      pwr_meter_kind_text(domain->kind), "provenance",
                      pwr_meter_provenance_text(domain->provenance), "source", domain->source,
                      "range_uj", number_or_null(domain->range_uj), "resolution_uj",
                      domain->resolution_uj, "update_us", (int)domain->update_us));
    }
    return domains;
}

static json_t *pack_part(const info_part_t *part)
{
    const info_loss_t *loss = info_loss(part->subject);
    const info_backend_t *best = part->best >= 0 ? &part->backends[part->best] : NULL;
    json_t *backends = json_array();
    for (unsigned i = 0; i < part->num_backends; i++) {
        json_array_append_new(backends, pack_backend(part->subject, &part->backends[i]));
    }
    json_t *object = json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:{s:s, s:s}}", "missing", (int)info_part_is_missing(part),
        "used", text_or_null(best && best->state == INFO_USED ? best->name : NULL), "best",
        text_or_null(best ? best->name : NULL), "cost", pack_cost(part), "backends", backends,
        "worth", "text", loss->text, "source", loss->source);
    const pwr_lever_type_t *type = info_lever(part->subject);
    if (!type) {
        json_object_set_new(object, "domains", pack_domains(part));
        return object;
    }
    json_t *kind = json_pack("{s:s, s:s, s:s, s:s}", "name", type->name, "title", type->title,
                             "scope", pwr_scope_text(type->scope), "unit", type->unit);
    json_object_update(object, kind);
    json_decref(kind);
    return object;
}

bool info_print_json(FILE *out, const info_report_t *report)
{
    char summary[INFO_REASON_BYTES];
    char prospect[INFO_REASON_BYTES];
    info_summary(report, summary, sizeof summary);
    info_prospect(report, prospect, sizeof prospect);
    json_t *levers = json_array();
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        json_array_append_new(levers, pack_part(&report->parts[id]));
    }
    json_t *document =
        json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "format", "poweraware-info",
                  "version", FORMAT_VERSION, "saves_by", summary, "would_save_by",
                  text_or_null(prospect), "machine", pack_machine(&report->machine), "software",
                  pack_software(&report->machine), "binding", pack_binding(&report->binding),
                  "levers", levers, "energy", pack_part(&report->parts[INFO_ENERGY]));
    bool written = document && json_dumpf(document, out, JSON_INDENT(2)) == 0;
    json_decref(document);
    return fputc('\n', out) != EOF && fflush(out) == 0 && written;
}
