/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads decision tables strictly (decision.schema.json says the same as a schema): every key is
 * known, there once, of its type; whoever edits a table by hand wants to hear about typing errors.
 */
#include "config.h"

#include "choose/decision.h"

#include "pwr/env.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };

typedef struct reader {
    const coll_poweraware_decision_words_t *words;
    size_t row; /* from 1; 0: not in a row */
    char *why;
    size_t why_size;
} reader_t;

/* Always false: "return refuse(...)". */
static bool __attribute__((format(printf, 2, 3)))
refuse(const reader_t *reader, const char *format, ...)
{
    va_list args;
    int length = 0;
    if (reader->row > 0) {
        length = snprintf(reader->why, reader->why_size, "row %zu: ", reader->row);
    }
    va_start(args, format);
    vsnprintf(reader->why + length, reader->why_size - (size_t)length, format, args);
    va_end(args);
    return false;
}

static bool only_known_keys(const reader_t *reader, json_t *object, const char *const *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *const *known = keys;
        while (*known && strcmp(*known, key) != 0) {
            known++;
        }
        if (!*known) {
            return refuse(reader, "\"%s\" is not a key", key);
        }
    }
    return true;
}

static bool read_text(const reader_t *reader, const json_t *object, const char *key,
                      const char **text)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) {
        return refuse(reader, "\"%s\" is %s", key, value ? "not a text" : "missing");
    }
    *text = json_string_value(value);
    return true;
}

/* [from, to]; null in place of to: no limit. */
static bool read_range(const reader_t *reader, const json_t *row, const char *key, json_int_t least,
                       uint64_t range[2])
{
    const json_t *value = json_object_get(row, key);
    if (!value) {
        return refuse(reader, "\"%s\" is missing", key);
    }
    const json_t *from = json_array_get(value, 0);
    const json_t *to = json_array_get(value, 1);
    if (json_array_size(value) != 2 || !json_is_integer(from) ||
        (!json_is_integer(to) && !json_is_null(to))) {
        return refuse(reader, "\"%s\" is not [FROM, TO] or [FROM, null] in whole numbers", key);
    }
    if (json_integer_value(from) < least) {
        return refuse(reader, "\"%s\" begins at %" JSON_INTEGER_FORMAT ", below %" PRId64, key,
                      json_integer_value(from), (int64_t)least);
    }
    if (json_is_integer(to) && json_integer_value(to) < json_integer_value(from)) {
        return refuse(reader, "\"%s\" ends below its begin", key);
    }
    range[0] = (uint64_t)json_integer_value(from);
    range[1] = json_is_null(to) ? UINT64_MAX : (uint64_t)json_integer_value(to);
    return true;
}

static bool read_time(const reader_t *reader, const json_t *row, int64_t *time_ppm)
{
    const double most = 1000.0;
    const json_t *value = json_object_get(row, "time");
    double time = json_number_value(value);
    if (value && !(time * COLL_POWERAWARE_DECISION_PPM >= 1.0 && time <= most)) {
        return refuse(reader, "\"time\" is not a number above 0, at most %g", most);
    }
    *time_ppm = (int64_t)(time * COLL_POWERAWARE_DECISION_PPM + 0.5);
    return true;
}

static bool find_collective(const reader_t *reader, const char *name, int *collective)
{
    for (int i = 0; i < reader->words->num_collectives; i++) {
        if (strcmp(name, reader->words->collectives[i]) == 0) {
            *collective = i;
            return true;
        }
    }
    return refuse(reader, "collective \"%s\" is not known", name);
}

static bool find_algorithm(const reader_t *reader, const char *name, const char *collective_name,
                           coll_poweraware_decision_row_t *row)
{
    row->algorithm = COLL_POWERAWARE_DECISION_STOCK;
    if (strcmp(name, "stock") != 0) {
        row->algorithm = reader->words->algorithm(row->collective, name);
    }
    return row->algorithm != COLL_POWERAWARE_DECISION_UNKNOWN ||
           refuse(reader, "there is no algorithm \"%s\" of %s", name, collective_name);
}

static bool read_row(const reader_t *reader, json_t *object, coll_poweraware_decision_row_t *row)
{
    static const char *const keys[] = {"collective", "nodes", "ranks_per_node", "bytes",
                                       "algorithm",  "time",  "comment",        NULL};
    const char *collective = NULL;
    const char *algorithm = NULL;
    const char *comment = NULL;
    if (!json_is_object(object)) {
        return refuse(reader, "not an object");
    }
    return only_known_keys(reader, object, keys) &&
           read_text(reader, object, "collective", &collective) &&
           find_collective(reader, collective, &row->collective) &&
           read_text(reader, object, "algorithm", &algorithm) &&
           find_algorithm(reader, algorithm, collective, row) &&
           read_range(reader, object, "nodes", 1, row->nodes) &&
           read_range(reader, object, "ranks_per_node", 1, row->ranks_per_node) &&
           read_range(reader, object, "bytes", 0, row->bytes) &&
           read_time(reader, object, &row->time_ppm) &&
           (!json_object_get(object, "comment") || read_text(reader, object, "comment", &comment));
}

static bool read_head(const reader_t *reader, json_t *document)
{
    static const char *const keys[] = {"format_version", "source", "rows", NULL};
    const char *source = NULL;
    if (!json_is_object(document)) {
        return refuse(reader, "not an object");
    }
    const json_t *version = json_object_get(document, "format_version");
    if (!json_is_integer(version) || json_integer_value(version) != FORMAT_VERSION) {
        return refuse(reader, "\"format_version\" is not %d", FORMAT_VERSION);
    }
    if (!json_is_array(json_object_get(document, "rows"))) {
        return refuse(reader, "\"rows\" is not an array");
    }
    return only_known_keys(reader, document, keys) &&
           read_text(reader, document, "source", &source);
}

static coll_poweraware_decision_t *read_document(reader_t *reader, json_t *document)
{
    if (!read_head(reader, document)) {
        return NULL;
    }
    json_t *rows = json_object_get(document, "rows");
    coll_poweraware_decision_t *decision = calloc(1, sizeof *decision);
    if (decision) {
        decision->rows = calloc(json_array_size(rows) + 1, sizeof *decision->rows);
    }
    if (!decision || !decision->rows) {
        coll_poweraware_decision_free(decision);
        refuse(reader, "out of memory");
        return NULL;
    }
    decision->num_collectives = reader->words->num_collectives;
    decision->num_rows = json_array_size(rows);
    for (size_t i = 0; i < decision->num_rows; i++) {
        reader->row = i + 1;
        if (!read_row(reader, json_array_get(rows, i), &decision->rows[i])) {
            coll_poweraware_decision_free(decision);
            return NULL;
        }
    }
    return decision;
}

static coll_poweraware_decision_t *parse(const char *text, size_t size,
                                         const coll_poweraware_decision_words_t *words, char *why,
                                         size_t why_size)
{
    reader_t reader = {.words = words, .why = why, .why_size = why_size};
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        refuse(&reader, "line %d: %s", error.line, error.text);
        return NULL;
    }
    coll_poweraware_decision_t *decision = read_document(&reader, document);
    json_decref(document);
    return decision;
}

coll_poweraware_decision_t *
coll_poweraware_decision_parse(const char *text, const coll_poweraware_decision_words_t *words,
                               char *why, size_t why_size)
{
    return parse(text, strlen(text), words, why, why_size);
}

coll_poweraware_decision_t *
coll_poweraware_decision_load(const char *path, const coll_poweraware_decision_words_t *words,
                              char *why, size_t why_size)
{
    char *text;
    size_t size;
    pwr_status_t status =
        pwr_env_read_file(&pwr_env_real, path, COLL_POWERAWARE_DECISION_FILE_MAX, &text, &size);
    if (status != PWR_OK) {
        snprintf(why, why_size, "%s", pwr_env_why_unread(status));
        return NULL;
    }
    coll_poweraware_decision_t *decision = parse(text, size, words, why, why_size);
    free(text);
    return decision;
}
