/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads calibration.json strictly (calibration.schema.json says the same as a schema).
 *
 * Strict, because whoever edits the file by hand wants to hear about the typing error: every key is
 * known, there once, of its type and within what machines can have.
 */
#include "config.h"

#include "policy/policy_private.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

enum { SHOWN_BYTES = 48, MODEL_MAX = 65535, SAMPLES_MAX = 1000000000 };

/* Far more than any package draws. */
static const double watts_max = 100000.0;

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

static json_t *need(reader_t *reader, const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value) {
        refuse(reader, key, NULL, PWR_ERR_PARSE, "missing");
    }
    return value;
}

static bool read_text(reader_t *reader, const json_t *object, const pwr_policy_text_key_t *key,
                      void *base)
{
    char *target = (char *)base + key->offset;
    const json_t *value = need(reader, object, key->key);
    if (!value) {
        return false;
    }
    if (key->nullable && json_is_null(value)) {
        target[0] = '\0';
        return true;
    }
    if (!json_is_string(value) || json_string_length(value) == 0) {
        return refuse(reader, key->key, value, PWR_ERR_PARSE, "not a text");
    }
    if (json_string_length(value) >= key->size) {
        return refuse(reader, key->key, value, PWR_ERR_RANGE, "too long");
    }
    memcpy(target, json_string_value(value), json_string_length(value) + 1);
    return true;
}

/* "2026-01-31T12:00:00Z": a form that sorts and that no locale changes. */
static bool read_date(reader_t *reader, const json_t *document, const char *date)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    for (size_t i = 0; i < sizeof form; i++) {
        bool is_digit = date[i] >= '0' && date[i] <= '9';
        if (form[i] == '0' ? !is_digit : date[i] != form[i]) {
            return refuse(reader, "date", json_object_get(document, "date"), PWR_ERR_PARSE,
                          "not of the form 2026-01-31T12:00:00Z");
        }
    }
    return true;
}

static bool read_texts(reader_t *reader, const json_t *object, const pwr_policy_text_key_t *keys,
                       void *base)
{
    for (; keys->key; keys++) {
        if (!read_text(reader, object, keys, base)) {
            return false;
        }
    }
    return true;
}

static bool read_whole(reader_t *reader, const json_t *object, const char *key, json_int_t highest,
                       uint64_t *number)
{
    const json_t *value = need(reader, object, key);
    if (!value) {
        return false;
    }
    if (!json_is_integer(value)) {
        return refuse(reader, key, value, PWR_ERR_PARSE, "not a whole number");
    }
    if (json_integer_value(value) < 0) {
        return refuse(reader, key, value, PWR_ERR_RANGE, "negative");
    }
    if (json_integer_value(value) > highest) {
        return refuse(reader, key, value, PWR_ERR_RANGE, "more than any machine has");
    }
    *number = (uint64_t)json_integer_value(value);
    return true;
}

static bool read_unsigned(reader_t *reader, const json_t *object, const char *key,
                          json_int_t highest, unsigned *number)
{
    uint64_t whole = 0;
    if (!read_whole(reader, object, key, highest, &whole)) {
        return false;
    }
    *number = (unsigned)whole;
    return true;
}

static bool read_time(reader_t *reader, const json_t *object, const pwr_policy_time_key_t *key,
                      pwr_policy_row_t *row)
{
    uint64_t *target = (uint64_t *)((char *)row + key->offset);
    if (key->settles && json_is_null(json_object_get(object, key->key))) {
        *target = PWR_POLICY_NS_UNKNOWN;
        return true;
    }
    return read_whole(reader, object, key->key, (json_int_t)PWR_POLICY_NS_MAX, target);
}

static bool read_power(reader_t *reader, const json_t *object, pwr_policy_row_t *row)
{
    static const char key[] = "power_w";
    const json_t *value = need(reader, object, key);
    if (!value) {
        return false;
    }
    if (json_is_null(value)) {
        row->power_w = PWR_POLICY_W_UNKNOWN;
        return true;
    }
    double watts = json_number_value(value);
    if (!json_is_number(value)) {
        return refuse(reader, key, value, PWR_ERR_PARSE, "not a number");
    }
    if (!(watts >= 0.0)) {
        return refuse(reader, key, value, PWR_ERR_RANGE, "negative");
    }
    if (!(watts <= watts_max)) {
        return refuse(reader, key, value, PWR_ERR_RANGE, "more than any machine has");
    }
    row->power_w = watts;
    return true;
}

static bool read_origin(reader_t *reader, const json_t *object, pwr_policy_row_t *row)
{
    const json_t *value = need(reader, object, "source");
    if (!value) {
        return false;
    }
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    if (strcmp(word, "measured") == 0) {
        row->origin = PWR_POLICY_MEASURED;
        return read_unsigned(reader, object, "samples", SAMPLES_MAX, &row->samples);
    }
    if (strcmp(word, "builtin") == 0) {
        row->origin = PWR_POLICY_BUILTIN;
        return read_text(reader, object, &pwr_policy_citation, row);
    }
    return refuse(reader, "source", value, PWR_ERR_PARSE, "neither \"measured\" nor \"builtin\"");
}

/* All keys of object are in the lists, which end with NULL. */
static bool know_keys(reader_t *reader, json_t *object, const char *const *words,
                      const pwr_policy_text_key_t *texts)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *const *word = words;
        const pwr_policy_text_key_t *text = texts;
        while (*word && strcmp(*word, key) != 0) {
            word++;
        }
        while (text && text->key && strcmp(text->key, key) != 0) {
            text++;
        }
        if (!*word && !(text && text->key)) {
            return refuse(reader, key, value, PWR_ERR_PARSE, "unknown key");
        }
    }
    return true;
}

static bool know_row_keys(reader_t *reader, json_t *object, pwr_policy_row_id_t id,
                          pwr_policy_origin_t origin)
{
    const char *words[PWR_POLICY_NUM_TIMES + 6];
    size_t count = 0;
    words[count++] = "kind";
    words[count++] = "name";
    words[count++] = "power_w";
    words[count++] = "source";
    words[count++] = origin == PWR_POLICY_MEASURED ? "samples" : "citation";
    for (size_t i = 0; i < PWR_POLICY_NUM_TIMES; i++) {
        if (!pwr_policy_row_times[i].settles || pwr_policy_row_is_lever(id)) {
            words[count++] = pwr_policy_row_times[i].key;
        }
    }
    words[count] = NULL;
    return know_keys(reader, object, words, NULL);
}

static bool read_id(reader_t *reader, const json_t *object, pwr_policy_row_id_t *id)
{
    const json_t *name = need(reader, object, "name");
    const json_t *kind = name ? need(reader, object, "kind") : NULL;
    if (!kind) {
        return false;
    }
    const char *word = json_is_string(name) ? json_string_value(name) : "";
    unsigned found = 0;
    while (found < PWR_POLICY_NUM_ROWS &&
           strcmp(word, pwr_policy_row_name((pwr_policy_row_id_t)found)) != 0) {
        found++;
    }
    if (found == PWR_POLICY_NUM_ROWS) {
        return refuse(reader, "name", name, PWR_ERR_PARSE, "no rung or lever of this version");
    }
    const char *expected = pwr_policy_row_is_lever((pwr_policy_row_id_t)found) ? "lever" : "rung";
    if (!json_is_string(kind) || strcmp(json_string_value(kind), expected) != 0) {
        return refuse(reader, "kind", kind, PWR_ERR_PARSE, "does not go with the name");
    }
    *id = (pwr_policy_row_id_t)found;
    return true;
}

static bool read_row(reader_t *reader, json_t *object, pwr_policy_table_t *table)
{
    pwr_policy_row_id_t id = PWR_POLICY_SPIN;
    pwr_policy_row_t row = {0};
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
    for (size_t i = 0; i < PWR_POLICY_NUM_TIMES; i++) {
        if ((!pwr_policy_row_times[i].settles || pwr_policy_row_is_lever(id)) &&
            !read_time(reader, object, &pwr_policy_row_times[i], &row)) {
            return false;
        }
    }
    if (!read_power(reader, object, &row) || !read_origin(reader, object, &row) ||
        !know_row_keys(reader, object, id, row.origin)) {
        return false;
    }
    table->rows[id] = row;
    return true;
}

static bool read_rows(reader_t *reader, const json_t *document, pwr_policy_table_t *table)
{
    const json_t *rows = need(reader, document, "rows");
    if (!rows) {
        return false;
    }
    if (!json_is_array(rows)) {
        return refuse(reader, "rows", rows, PWR_ERR_PARSE, "not an array");
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

static bool read_cpu(reader_t *reader, const json_t *document, pwr_cpu_model_t *cpu)
{
    static const char *const words[] = {"family", "model", NULL};
    json_t *object = need(reader, document, "cpu");
    if (!object) {
        return false;
    }
    if (!json_is_object(object)) {
        return refuse(reader, "cpu", object, PWR_ERR_PARSE, "not an object");
    }
    snprintf(reader->where, sizeof reader->where, "cpu.");
    bool good = read_texts(reader, object, pwr_policy_cpu_texts, cpu) &&
                read_unsigned(reader, object, "family", MODEL_MAX, &cpu->family) &&
                read_unsigned(reader, object, "model", MODEL_MAX, &cpu->model) &&
                know_keys(reader, object, words, pwr_policy_cpu_texts);
    if (good) {
        reader->where[0] = '\0';
    }
    return good;
}

static bool read_document(reader_t *reader, json_t *document, pwr_policy_table_t *table)
{
    static const char *const words[] = {"format_version", "cpu", "rows", NULL};
    if (!json_is_object(document)) {
        return refuse(reader, "document", document, PWR_ERR_PARSE, "not an object");
    }
    /* First: whatever else is strange may be right in another version. */
    const json_t *version = need(reader, document, "format_version");
    if (!version) {
        return false;
    }
    if (!json_is_integer(version) || json_integer_value(version) != PWR_POLICY_VERSION) {
        return refuse(reader, "format_version", version, PWR_ERR_PARSE,
                      "this release reads version 1");
    }
    return read_texts(reader, document, pwr_policy_table_texts, table) &&
           read_date(reader, document, table->date) && read_cpu(reader, document, &table->cpu) &&
           read_rows(reader, document, table) &&
           know_keys(reader, document, words, pwr_policy_table_texts);
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
