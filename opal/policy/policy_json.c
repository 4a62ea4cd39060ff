/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * calibration.json: one table of its keys, by which it is read and written.
 *
 * Reading is strict (calibration.schema.json says the same as a schema), because whoever edits the
 * file by hand wants to hear about the typing error: every key is known, there once, of its type
 * and within what machines can have.
 */
#include "config.h"

#include "pwr/policy.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

/* ---- rows ---- */

static const char *const rung_names[PWR_POLICY_LEVERS] = {
    [PWR_POLICY_SPIN] = "spin",
    [PWR_POLICY_PAUSE] = "pause",
    [PWR_POLICY_MONITOR] = "monitor",
    [PWR_POLICY_YIELD] = "yield",
    [PWR_POLICY_FUTEX] = "futex",
    [PWR_POLICY_FUTEX_SAME_CPU] = "futex_same_cpu",
    [PWR_POLICY_FUTEX_CROWDED] = "futex_crowded",
    [PWR_POLICY_EPOLL] = "epoll",
};

const char *pwr_policy_row_name(pwr_policy_row_id_t id)
{
    return pwr_policy_row_is_lever(id)
               ? pwr_lever_type((pwr_lever_id_t)(id - PWR_POLICY_LEVERS))->name
               : rung_names[id];
}

bool pwr_policy_row_is_lever(pwr_policy_row_id_t id)
{
    return id >= PWR_POLICY_LEVERS;
}

static const char *kind_of(pwr_policy_row_id_t id)
{
    return pwr_policy_row_is_lever(id) ? "lever" : "rung";
}

/* ---- fields ---- */

typedef enum type { TEXT, DATE, UNSIGNED, TIME, WATTS, ORIGIN } type_t;
typedef enum whose { EACH, LEVERS, MEASURED, BUILTIN } whose_t;

/* A key of an object, and the member of a struct that has its value. */
typedef struct field {
    const char *key;
    type_t type;
    whose_t whose; /* the rows that have it */
    bool nullable;
    size_t offset;
    size_t size;
    double most; /* of numbers */
} field_t;

#define FIELD(of_type, name, ...)                                                                  \
    {                                                                                              \
        .key = #name, .offset = offsetof(of_type, name), .size = sizeof(((of_type *)0)->name),     \
        __VA_ARGS__                                                                                \
    }
#define TABLE(name, ...) FIELD(pwr_policy_table_t, name, __VA_ARGS__)
#define CPU(name, ...) FIELD(pwr_cpu_model_t, name, __VA_ARGS__)
#define ROW(name, ...) FIELD(pwr_policy_row_t, name, __VA_ARGS__)
#define ROW_TIME(name, ...) ROW(name, .type = TIME, .most = (double)PWR_POLICY_NS_MAX, __VA_ARGS__)

/* Each list ends with key NULL. */
static const field_t table_fields[] = {
    TABLE(tool, .type = TEXT),
    TABLE(date, .type = DATE),
    TABLE(host, .type = TEXT),
    TABLE(kernel, .type = TEXT),
    TABLE(meter, .type = TEXT, .nullable = true),
    {.key = NULL},
};

static const field_t cpu_fields[] = {
    CPU(family, .type = UNSIGNED, .most = 65535),
    CPU(model, .type = UNSIGNED, .most = 65535),
    CPU(vendor, .type = TEXT),
    CPU(name, .type = TEXT, .nullable = true),
    {.key = NULL},
};

/* The source is ahead of those that depend on it. */
static const field_t row_fields[] = {
    ROW_TIME(entry_ns, .whose = EACH),
    ROW_TIME(exit_ns, .whose = EACH),
    ROW_TIME(entry_spread_ns, .whose = EACH),
    ROW_TIME(exit_spread_ns, .whose = EACH),
    ROW_TIME(entry_settle_ns, .whose = LEVERS, .nullable = true),
    ROW_TIME(exit_settle_ns, .whose = LEVERS, .nullable = true),
    ROW(power_w, .type = WATTS, .most = 100000, .nullable = true), /* far more than any draws */
    {.key = "source", .type = ORIGIN, .offset = offsetof(pwr_policy_row_t, origin)},
    ROW(samples, .type = UNSIGNED, .most = 1000000000, .whose = MEASURED),
    ROW(citation, .type = TEXT, .whose = BUILTIN),
    {.key = NULL},
};

/* base: the struct that has the field; is_lever: it is a row, and a lever's. */
static bool has(const field_t *field, bool is_lever, const void *base)
{
    const pwr_policy_row_t *row = base;
    switch (field->whose) {
    case LEVERS:
        return is_lever;
    case MEASURED:
        return row->origin == PWR_POLICY_MEASURED;
    case BUILTIN:
        return row->origin == PWR_POLICY_BUILTIN;
    default:
        return true;
    }
}

/* ---- reading ---- */

enum { SHOWN_BYTES = 48 };

typedef struct reader {
    pwr_why_t why;
    char where[24]; /* "", "cpu." or "rows[3]." */
    pwr_status_t status;
} reader_t;

/* Always false: "return refuse(...)". */
static bool refuse(reader_t *reader, const char *key, const json_t *value, pwr_status_t status,
                   const char *rule)
{
    char *shown = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (shown) {
        pwr_why_add(&reader->why, "%s%s is %.*s%s: %s", reader->where, key, SHOWN_BYTES, shown,
                    strlen(shown) > SHOWN_BYTES ? "..." : "", rule);
    } else {
        pwr_why_add(&reader->why, "%s%s: %s", reader->where, key, rule);
    }
    free(shown);
    reader->status = status;
    return false;
}

/* That the value of key is there, and good. */
static bool expect(reader_t *reader, const char *key, const json_t *value, bool good,
                   const char *rule)
{
    if (!value) {
        return refuse(reader, key, NULL, PWR_ERR_PARSE, "missing");
    }
    return good || refuse(reader, key, value, PWR_ERR_PARSE, rule);
}

/* "2026-01-31T12:00:00Z": a form that sorts and that no locale changes. */
static bool is_date(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    for (size_t i = 0; i < sizeof form; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == '0' ? !is_digit : text[i] != form[i]) {
            return false;
        }
    }
    return true;
}

static bool read_text(reader_t *reader, const field_t *field, const json_t *value, char *text)
{
    if (!expect(reader, field->key, value, json_string_length(value) > 0, "not a text")) {
        return false;
    }
    if (json_string_length(value) >= field->size) {
        return refuse(reader, field->key, value, PWR_ERR_RANGE, "too long");
    }
    memcpy(text, json_string_value(value), json_string_length(value) + 1);
    return field->type != DATE ||
           expect(reader, field->key, value, is_date(text), "not of the form 2026-01-31T12:00:00Z");
}

static bool read_number(reader_t *reader, const field_t *field, const json_t *value, void *target)
{
    bool whole = field->type != WATTS;
    double number = json_number_value(value);
    if (!expect(reader, field->key, value, whole ? json_is_integer(value) : json_is_number(value),
                whole ? "not a whole number" : "not a number")) {
        return false;
    }
    if (!(number >= 0.0 && number <= field->most)) {
        return refuse(reader, field->key, value, PWR_ERR_RANGE,
                      number < 0.0 ? "negative" : "more than any machine has");
    }
    if (field->type == UNSIGNED) {
        *(unsigned *)target = (unsigned)json_integer_value(value);
    } else if (field->type == TIME) {
        *(uint64_t *)target = (uint64_t)json_integer_value(value);
    } else {
        *(double *)target = number;
    }
    return true;
}

static bool read_origin(reader_t *reader, const field_t *field, const json_t *value,
                        pwr_policy_origin_t *origin)
{
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    bool measured = strcmp(word, "measured") == 0;
    *origin = measured ? PWR_POLICY_MEASURED : PWR_POLICY_BUILTIN;
    return expect(reader, field->key, value, measured || strcmp(word, "builtin") == 0,
                  "neither \"measured\" nor \"builtin\"");
}

static bool read_null(type_t type, void *target)
{
    if (type == TEXT) {
        *(char *)target = '\0';
    } else if (type == TIME) {
        *(uint64_t *)target = PWR_POLICY_NS_UNKNOWN;
    } else {
        *(double *)target = PWR_POLICY_W_UNKNOWN;
    }
    return true;
}

static bool read_field(reader_t *reader, const field_t *field, const json_t *value, void *target)
{
    if (field->nullable && json_is_null(value)) {
        return read_null(field->type, target);
    }
    switch (field->type) {
    case TEXT:
    case DATE:
        return read_text(reader, field, value, target);
    case ORIGIN:
        return read_origin(reader, field, value, target);
    default:
        return read_number(reader, field, value, target);
    }
}

/* What has been read is taken out of an object, last of all its fields: what then is left is
   unknown. */
static bool read_fields(reader_t *reader, json_t *object, const field_t *field, bool is_lever,
                        void *base)
{
    for (; field->key; field++) {
        if (has(field, is_lever, base)) {
            if (!read_field(reader, field, json_object_get(object, field->key),
                            (char *)base + field->offset)) {
                return false;
            }
            json_object_del(object, field->key);
        }
    }
    void *left = json_object_iter(object);
    return !left || refuse(reader, json_object_iter_key(left), json_object_iter_value(left),
                           PWR_ERR_PARSE, "unknown key");
}

static bool read_id(reader_t *reader, json_t *object, pwr_policy_row_id_t *id)
{
    const json_t *name = json_object_get(object, "name");
    const json_t *kind = json_object_get(object, "kind");
    const char *word = json_is_string(name) ? json_string_value(name) : "";
    unsigned found = 0;
    while (found < PWR_POLICY_NUM_ROWS &&
           strcmp(word, pwr_policy_row_name((pwr_policy_row_id_t)found)) != 0) {
        found++;
    }
    *id = (pwr_policy_row_id_t)found;
    return expect(reader, "name", name, found < PWR_POLICY_NUM_ROWS,
                  "no rung or lever of this version") &&
           expect(reader, "kind", kind,
                  json_is_string(kind) && strcmp(json_string_value(kind), kind_of(*id)) == 0,
                  "does not go with the name");
}

static bool read_row(reader_t *reader, json_t *object, pwr_policy_table_t *table)
{
    pwr_policy_row_id_t id;
    if (!json_is_object(object)) {
        reader->where[strlen(reader->where) - 1] = '\0'; /* the row itself: no dot */
        return refuse(reader, "", NULL, PWR_ERR_PARSE, "not an object");
    }
    if (!read_id(reader, object, &id)) {
        return false;
    }
    if (table->rows[id].origin != PWR_POLICY_ABSENT) {
        return refuse(reader, "name", json_object_get(object, "name"), PWR_ERR_PARSE,
                      "there twice");
    }
    json_object_del(object, "name");
    json_object_del(object, "kind");
    return read_fields(reader, object, row_fields, pwr_policy_row_is_lever(id), &table->rows[id]);
}

static bool read_rows(reader_t *reader, const json_t *rows, pwr_policy_table_t *table)
{
    if (!expect(reader, "rows", rows, json_is_array(rows), "not an array")) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        /* Names are there once, so more rows than names end in a refusal. */
        snprintf(reader->where, sizeof reader->where, "rows[%u].", (unsigned)(i % 1000));
        if (!read_row(reader, json_array_get(rows, i), table)) {
            return false;
        }
    }
    reader->where[0] = '\0';
    return true;
}

static bool read_cpu(reader_t *reader, json_t *object, pwr_cpu_model_t *cpu)
{
    if (!expect(reader, "cpu", object, json_is_object(object), "not an object")) {
        return false;
    }
    snprintf(reader->where, sizeof reader->where, "cpu.");
    if (!read_fields(reader, object, cpu_fields, false, cpu)) {
        return false;
    }
    reader->where[0] = '\0';
    return true;
}

static bool read_document(reader_t *reader, json_t *document, pwr_policy_table_t *table)
{
    /* First: whatever else is strange may be right in another version. */
    const json_t *version = json_object_get(document, "format_version");
    if (!expect(reader, "document", document, json_is_object(document), "not an object") ||
        !expect(reader, "format_version", version,
                json_is_integer(version) && json_integer_value(version) == PWR_POLICY_VERSION,
                "this release reads version 1") ||
        !read_cpu(reader, json_object_get(document, "cpu"), &table->cpu) ||
        !read_rows(reader, json_object_get(document, "rows"), table)) {
        return false;
    }
    json_object_del(document, "format_version");
    json_object_del(document, "cpu");
    json_object_del(document, "rows");
    return read_fields(reader, document, table_fields, false, table);
}

pwr_status_t pwr_policy_parse(const char *text, size_t size, char *why, unsigned why_size,
                              pwr_policy_table_t *table)
{
    pwr_policy_table_t read = {0};
    reader_t reader = {.why = pwr_why_init(why, why_size), .status = PWR_OK};
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        pwr_why_add(&reader.why, "line %d: %s", error.line, error.text);
        return json_error_code(&error) == json_error_out_of_memory ? PWR_ERR_NOMEM : PWR_ERR_PARSE;
    }
    if (read_document(&reader, document, &read)) {
        *table = read;
    }
    json_decref(document);
    return reader.status;
}

/* ---- writing ---- */

static json_t *format_field(const field_t *field, const void *value)
{
    const char *text = value;
    const uint64_t *ns = value;
    const double *watts = value;
    const pwr_policy_origin_t *origin = value;
    switch (field->type) {
    case TEXT:
    case DATE:
        return field->nullable && text[0] == '\0' ? json_null() : json_string(text);
    case UNSIGNED:
        return json_integer(*(const unsigned *)value);
    case TIME:
        return *ns == PWR_POLICY_NS_UNKNOWN ? json_null() : json_integer((json_int_t)*ns);
    case WATTS:
        return *watts < 0.0 ? json_null() : json_real(*watts);
    case ORIGIN:
        return json_string(*origin == PWR_POLICY_MEASURED ? "measured" : "builtin");
    }
    return NULL;
}

/* object, which is taken over, with its fields; NULL where one of them cannot be written. */
static json_t *format_fields(json_t *object, const field_t *field, bool is_lever, const void *base)
{
    int failed = 0;
    for (; field->key; field++) {
        if (has(field, is_lever, base)) {
            failed |= json_object_set_new(object, field->key,
                                          format_field(field, (const char *)base + field->offset));
        }
    }
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *format_row(pwr_policy_row_id_t id, const pwr_policy_row_t *row)
{
    json_t *object = json_pack("{s:s, s:s}", "kind", kind_of(id), "name", pwr_policy_row_name(id));
    return format_fields(object, row_fields, pwr_policy_row_is_lever(id), row);
}

static json_t *format_rows(const pwr_policy_table_t *table)
{
    json_t *rows = json_array();
    int failed = 0;
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        if (table->rows[id].origin != PWR_POLICY_ABSENT) {
            failed |=
                json_array_append_new(rows, format_row((pwr_policy_row_id_t)id, &table->rows[id]));
        }
    }
    if (failed != 0) {
        json_decref(rows);
        return NULL;
    }
    return rows;
}

pwr_status_t pwr_policy_format(const pwr_policy_table_t *table, char **text)
{
    char *made;
    json_t *document = format_fields(json_pack("{s:i}", "format_version", (int)PWR_POLICY_VERSION),
                                     table_fields, false, table);
    json_t *cpu = format_fields(json_object(), cpu_fields, false, &table->cpu);
    if (json_object_set_new(document, "cpu", cpu) != 0 ||
        json_object_set_new(document, "rows", format_rows(table)) != 0) {
        json_decref(document);
        return PWR_ERR_ARG;
    }
    char *dumped = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    int length = dumped ? asprintf(&made, "%s\n", dumped) : -1;
    json_decref(document);
    free(dumped);
    if (length < 0) {
        return PWR_ERR_NOMEM;
    }
    *text = made;
    return PWR_OK;
}
