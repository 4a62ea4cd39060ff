/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * knowledge.json: reading is as strict as of calibration.json (knowledge.schema.json says the same
 * as a schema), and a text is taken as a whole or not at all.
 */
#include "config.h"

#include "pwr/knowledge.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/knowledge_private.h"
#include "why.h"

enum {
    MODEL_MOST = 65535, /* family and model, as in calibration.json */
    REAL_DIGITS = 15    /* a ratio that is rounded (knowledge.c) is read back as the same number */
};

/* ---- machines ---- */

static bool is_same(const pwr_knowledge_machine_t *left, const pwr_knowledge_machine_t *right)
{
    return strcmp(left->cpu.vendor, right->cpu.vendor) == 0 &&
           strcmp(left->cpu.name, right->cpu.name) == 0 && left->cpu.family == right->cpu.family &&
           left->cpu.model == right->cpu.model && left->cpus == right->cpus &&
           strcmp(left->mpi, right->mpi) == 0;
}

static unsigned find_machine(const pwr_knowledge_file_t *file,
                             const pwr_knowledge_machine_t *machine)
{
    unsigned number = 0;
    while (number < file->count && !is_same(&file->of[number].machine, machine)) {
        number++;
    }
    return number;
}

static void free_machine(struct pwr_knowledge_of *of)
{
    pwr_knowledge_free(of->knowledge);
    free(of->text);
}

void pwr_knowledge_file_free(pwr_knowledge_file_t *file)
{
    while (file->count > 0) {
        free_machine(&file->of[--file->count]);
    }
}

/* That which was used longest ago; of number from and behind. */
static void drop_machine(pwr_knowledge_file_t *file, unsigned from)
{
    unsigned oldest = from;
    for (unsigned i = from + 1; i < file->count; i++) {
        if (pwr_knowledge_last_day(file->of[i].knowledge) <
            pwr_knowledge_last_day(file->of[oldest].knowledge)) {
            oldest = i;
        }
    }
    free_machine(&file->of[oldest]);
    file->of[oldest] = file->of[--file->count];
}

static bool is_allowed(const pwr_knowledge_machine_t *machine)
{
    return machine->cpu.family <= MODEL_MOST && machine->cpu.model <= MODEL_MOST &&
           machine->cpus <= PWR_KNOWLEDGE_COUNT_MOST;
}

static pwr_status_t add_machine(pwr_knowledge_file_t *file, const pwr_knowledge_machine_t *machine)
{
    pwr_knowledge_t *made = pwr_knowledge_new();
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    if (file->count == PWR_KNOWLEDGE_MACHINES_MOST) {
        drop_machine(file, 0);
    }
    file->of[file->count++] = (struct pwr_knowledge_of){.machine = *machine, .knowledge = made};
    return PWR_OK;
}

pwr_status_t pwr_knowledge_file_first(pwr_knowledge_file_t *file,
                                      const pwr_knowledge_machine_t *machine)
{
    unsigned number = find_machine(file, machine);
    if (!is_allowed(machine)) {
        return PWR_ERR_RANGE;
    }
    if (number == file->count) {
        pwr_status_t status = add_machine(file, machine);
        if (status != PWR_OK) {
            return status;
        }
        number = file->count - 1;
    }
    struct pwr_knowledge_of first = file->of[number];
    file->of[number] = file->of[0];
    file->of[0] = first;
    return PWR_OK;
}

/* ---- reading ---- */

typedef struct reader {
    pwr_why_t why;
    char where[48]; /* "machines[1].entries[3]: " */
    pwr_status_t status;
} reader_t;

/* Always false: "return refuse(...)". */
static bool refuse(reader_t *reader, pwr_status_t status, const char *what, const char *rule)
{
    pwr_why_add(&reader->why, "%s%s: %s", reader->where, what, rule);
    reader->status = status;
    return false;
}

/* The library names the key. */
static bool refuse_form(reader_t *reader, const json_error_t *error)
{
    return refuse(reader, PWR_ERR_PARSE, "wrong form", error->text);
}

static bool read_number(reader_t *reader, const char *name, json_int_t number, json_int_t most,
                        unsigned *target)
{
    if (number < 0 || number > most) {
        return refuse(reader, PWR_ERR_RANGE, name, "a number that is not allowed");
    }
    *target = (unsigned)number;
    return true;
}

static bool read_text(reader_t *reader, const char *name, const char *text, char *target,
                      size_t size)
{
    if (strlen(text) >= size) {
        return refuse(reader, PWR_ERR_RANGE, name, "too long");
    }
    memcpy(target, text, strlen(text) + 1);
    return true;
}

static bool read_depth(reader_t *reader, const char *name, uint8_t *depth)
{
    for (unsigned i = PWR_AUDIT_LEVERS; i <= PWR_AUDIT_REFERENCE; i++) {
        if (strcmp(name, pwr_audit_depth_name((pwr_audit_depth_t)i)) == 0) {
            *depth = (uint8_t)i;
            return true;
        }
    }
    return refuse(reader, PWR_ERR_PARSE, "depth", "none of this version");
}

static bool read_calls(reader_t *reader, json_int_t calls, uint64_t *target)
{
    *target = (uint64_t)calls; /* negative: beyond what is allowed */
    return calls >= 0 || refuse(reader, PWR_ERR_RANGE, "calls", "a number that is not allowed");
}

static bool read_entry(reader_t *reader, json_t *object, pwr_knowledge_entry_t *entry)
{
    enum { NODES, RANKS, CLASS, PAIRS, TRIALS, CALLS, DAY, NUMBERS };
    const char *operation, *transport, *algorithm, *depth;
    json_int_t number[NUMBERS];
    json_error_t error;
    pwr_knowledge_key_t *key = &entry->key;
    if (json_unpack_ex(object, &error, JSON_STRICT,
                       "{s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:F, s:F, s:I, s:I}",
                       "operation", &operation, "transport", &transport, "nodes", &number[NODES],
                       "ranks_per_node", &number[RANKS], "size_class", &number[CLASS], "algorithm",
                       &algorithm, "depth", &depth, "pairs", &number[PAIRS], "trials",
                       &number[TRIALS], "slowdown", &entry->slowdown, "gain", &entry->gain, "calls",
                       &number[CALLS], "day", &number[DAY]) != 0) {
        return refuse_form(reader, &error);
    }
    const json_int_t most = PWR_KNOWLEDGE_COUNT_MOST; /* the closer look is pwr_knowledge_flaw's */
    return read_text(reader, "operation", operation, key->operation, sizeof key->operation) &&
           read_text(reader, "transport", transport, key->transport, sizeof key->transport) &&
           read_text(reader, "algorithm", algorithm, entry->algorithm, sizeof entry->algorithm) &&
           read_depth(reader, depth, &entry->depth) &&
           read_number(reader, "nodes", number[NODES], most, &key->nodes) &&
           read_number(reader, "ranks_per_node", number[RANKS], most, &key->ranks_per_node) &&
           read_number(reader, "size_class", number[CLASS], most, &key->size_class) &&
           read_number(reader, "pairs", number[PAIRS], most, &entry->pairs) &&
           read_number(reader, "trials", number[TRIALS], most, &entry->trials) &&
           read_number(reader, "day", number[DAY], most, &entry->day) &&
           read_calls(reader, number[CALLS], &entry->calls);
}

static bool note_entry(reader_t *reader, const pwr_knowledge_entry_t *entry,
                       pwr_knowledge_t *knowledge)
{
    const char *flaw = pwr_knowledge_flaw(entry);
    if (flaw) {
        return refuse(reader, PWR_ERR_RANGE, flaw, "a value that is not allowed");
    }
    if (pwr_knowledge_find(knowledge, &entry->key)) {
        return refuse(reader, PWR_ERR_PARSE, "entry", "there twice");
    }
    reader->status = pwr_knowledge_note(knowledge, entry);
    return reader->status == PWR_OK;
}

static bool read_entries(reader_t *reader, const json_t *entries, unsigned machine,
                         pwr_knowledge_t *knowledge)
{
    size_t count = json_array_size(entries);
    if (!json_is_array(entries) || count > PWR_KNOWLEDGE_MOST) {
        return refuse(reader, json_is_array(entries) ? PWR_ERR_RANGE : PWR_ERR_PARSE, "entries",
                      "not an array of at most 2048");
    }
    for (unsigned i = 0; i < count; i++) {
        pwr_knowledge_entry_t entry = {0};
        snprintf(reader->where, sizeof reader->where, "machines[%u].entries[%u]: ", machine, i);
        if (!read_entry(reader, json_array_get(entries, i), &entry) ||
            !note_entry(reader, &entry, knowledge)) {
            return false;
        }
    }
    return true;
}

static bool read_machine(reader_t *reader, json_t *object, pwr_knowledge_machine_t *machine,
                         json_t **entries)
{
    enum { FAMILY, MODEL, CPUS, NUMBERS };
    const char *vendor, *name, *mpi;
    json_int_t number[NUMBERS];
    json_error_t error;
    pwr_cpu_model_t *cpu = &machine->cpu;
    if (json_unpack_ex(object, &error, JSON_STRICT, "{s:{s:s, s:s, s:I, s:I}, s:I, s:s, s:o}",
                       "cpu", "vendor", &vendor, "name", &name, "family", &number[FAMILY], "model",
                       &number[MODEL], "cpus", &number[CPUS], "mpi", &mpi, "entries",
                       entries) != 0) {
        return refuse_form(reader, &error);
    }
    return read_text(reader, "vendor", vendor, cpu->vendor, sizeof cpu->vendor) &&
           read_text(reader, "name", name, cpu->name, sizeof cpu->name) &&
           read_text(reader, "mpi", mpi, machine->mpi, sizeof machine->mpi) &&
           read_number(reader, "family", number[FAMILY], MODEL_MOST, &cpu->family) &&
           read_number(reader, "model", number[MODEL], MODEL_MOST, &cpu->model) &&
           read_number(reader, "cpus", number[CPUS], PWR_KNOWLEDGE_COUNT_MOST, &machine->cpus);
}

static bool read_known(reader_t *reader, json_t *object, pwr_knowledge_file_t *file)
{
    json_t *entries;
    pwr_knowledge_machine_t machine = {0};
    unsigned number = file->count;
    snprintf(reader->where, sizeof reader->where, "machines[%u]: ", number);
    if (!read_machine(reader, object, &machine, &entries)) {
        return false;
    }
    if (find_machine(file, &machine) < number) {
        return refuse(reader, PWR_ERR_PARSE, "machine", "there twice");
    }
    reader->status = add_machine(file, &machine);
    return reader->status == PWR_OK &&
           read_entries(reader, entries, number, file->of[number].knowledge);
}

/* First: whatever else is strange may be right in another version. */
static bool check_version(reader_t *reader, const json_t *document)
{
    const json_t *version = json_object_get(document, "format_version");
    if (!json_is_integer(version)) {
        return refuse(reader, PWR_ERR_PARSE, "format_version", "not a whole number");
    }
    if (json_integer_value(version) == PWR_KNOWLEDGE_VERSION) {
        return true;
    }
    bool newer = json_integer_value(version) > PWR_KNOWLEDGE_VERSION;
    return refuse(reader, newer ? PWR_ERR_UNSUPPORTED : PWR_ERR_PARSE, "format_version",
                  newer ? "newer than this release, which reads version 1"
                        : "this release reads version 1");
}

static void read_document(reader_t *reader, json_t *document, pwr_knowledge_file_t *file)
{
    json_int_t version;
    json_t *machines;
    json_error_t error;
    if (!check_version(reader, document)) {
        return;
    }
    if (json_unpack_ex(document, &error, JSON_STRICT, "{s:I, s:o}", "format_version", &version,
                       "machines", &machines) != 0) {
        refuse_form(reader, &error);
        return;
    }
    size_t count = json_array_size(machines);
    if (!json_is_array(machines) || count > PWR_KNOWLEDGE_MACHINES_MOST) {
        refuse(reader, json_is_array(machines) ? PWR_ERR_RANGE : PWR_ERR_PARSE, "machines",
               "not an array of at most 16");
        return;
    }
    for (size_t i = 0; i < count && read_known(reader, json_array_get(machines, i), file); i++) {
    }
}

pwr_status_t pwr_knowledge_file_parse(const char *text, size_t size, char *why, unsigned why_size,
                                      pwr_knowledge_file_t *file)
{
    pwr_knowledge_file_t read = {0};
    reader_t reader = {.why = pwr_why_init(why, why_size), .status = PWR_OK};
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        pwr_why_add(&reader.why, "line %d: %s", error.line, error.text);
        return json_error_code(&error) == json_error_out_of_memory ? PWR_ERR_NOMEM : PWR_ERR_PARSE;
    }
    read_document(&reader, document, &read);
    json_decref(document);
    if (reader.status != PWR_OK) {
        pwr_knowledge_file_free(&read);
        return reader.status;
    }
    *file = read;
    return PWR_OK;
}

pwr_status_t pwr_knowledge_parse(const char *text, size_t size,
                                 const pwr_knowledge_machine_t *machine, char *why,
                                 unsigned why_size, pwr_knowledge_t **knowledge)
{
    pwr_knowledge_file_t file;
    pwr_status_t status = pwr_knowledge_file_parse(text, size, why, why_size, &file);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_knowledge_file_first(&file, machine);
    if (status == PWR_OK) {
        *knowledge = file.of[0].knowledge;
        file.of[0].knowledge = NULL;
    }
    pwr_knowledge_file_free(&file);
    return status;
}

/* ---- writing ---- */

/* A machine is a line. */
static const char head[] = "{\"format_version\":1,\"machines\":[\n";
static const char between[] = ",\n";
static const char tail[] = "\n]}\n";

static json_t *format_entry(const pwr_knowledge_entry_t *entry)
{
    const pwr_knowledge_key_t *key = &entry->key;
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:I}",
                     "operation", key->operation, "transport", key->transport, "nodes",
                     (json_int_t)key->nodes, "ranks_per_node", (json_int_t)key->ranks_per_node,
                     "size_class", (json_int_t)key->size_class, "algorithm", entry->algorithm,
                     "depth", pwr_audit_depth_name((pwr_audit_depth_t)entry->depth), "pairs",
                     (json_int_t)entry->pairs, "trials", (json_int_t)entry->trials, "slowdown",
                     entry->slowdown, "gain", entry->gain, "calls", (json_int_t)entry->calls, "day",
                     (json_int_t)entry->day);
}

static json_t *format_entries(const pwr_knowledge_t *knowledge)
{
    json_t *entries = json_array();
    for (unsigned i = 0; i < knowledge->count; i++) {
        if (json_array_append_new(entries, format_entry(&knowledge->entries[i])) != 0) {
            json_decref(entries);
            return NULL;
        }
    }
    return entries;
}

/* NULL: out of memory, or a text of the machine is not UTF-8. */
static char *format_machine(const struct pwr_knowledge_of *of)
{
    const pwr_knowledge_machine_t *machine = &of->machine;
    json_t *object =
        json_pack("{s:{s:s, s:s, s:I, s:I}, s:I, s:s, s:o}", "cpu", "vendor", machine->cpu.vendor,
                  "name", machine->cpu.name, "family", (json_int_t)machine->cpu.family, "model",
                  (json_int_t)machine->cpu.model, "cpus", (json_int_t)machine->cpus, "mpi",
                  machine->mpi, "entries", format_entries(of->knowledge));
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(object);
    return text;
}

static size_t size_of(const pwr_knowledge_file_t *file)
{
    size_t size = sizeof head + sizeof tail;
    for (unsigned i = 0; i < file->count; i++) {
        size += strlen(file->of[i].text) + sizeof between;
    }
    return size;
}

static pwr_status_t join(const pwr_knowledge_file_t *file, char **text)
{
    char *made = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&made, &size);
    if (!stream) {
        return PWR_ERR_NOMEM;
    }
    fputs(head, stream);
    for (unsigned i = 0; i < file->count; i++) {
        fprintf(stream, "%s%s", i > 0 ? between : "", file->of[i].text);
    }
    fputs(tail, stream);
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(made);
        return PWR_ERR_NOMEM;
    }
    *text = made;
    return PWR_OK;
}

pwr_status_t pwr_knowledge_file_format(pwr_knowledge_file_t *file, char **text)
{
    for (unsigned i = 0; i < file->count; i++) {
        struct pwr_knowledge_of *of = &file->of[i];
        free(of->text);
        of->text = format_machine(of);
        if (!of->text) {
            return PWR_ERR_RANGE;
        }
    }
    while (file->count > 1 && size_of(file) > PWR_KNOWLEDGE_BYTES_MOST) {
        drop_machine(file, 1);
    }
    return join(file, text);
}

pwr_status_t pwr_knowledge_format(const pwr_knowledge_t *knowledge,
                                  const pwr_knowledge_machine_t *machine, char **text)
{
    pwr_knowledge_file_t file = {0};
    pwr_status_t status = pwr_knowledge_file_first(&file, machine);
    if (status == PWR_OK) {
        status = pwr_knowledge_merge(file.of[0].knowledge, knowledge);
    }
    if (status == PWR_OK) {
        status = pwr_knowledge_file_format(&file, text);
    }
    pwr_knowledge_file_free(&file);
    return status;
}
