/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Writes calibration.json.
 */
#include "config.h"

#include "policy/policy_private.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *time_value(uint64_t ns)
{
    return ns == PWR_POLICY_NS_UNKNOWN ? json_null() : json_integer((json_int_t)ns);
}

static int put_times(json_t *object, bool is_lever, const pwr_policy_row_t *row)
{
    int failed = 0;
    for (size_t i = 0; i < PWR_POLICY_NUM_TIMES; i++) {
        if (!pwr_policy_row_times[i].settles || is_lever) {
            const uint64_t *ns =
                (const uint64_t *)((const char *)row + pwr_policy_row_times[i].offset);
            failed |= json_object_set_new(object, pwr_policy_row_times[i].key, time_value(*ns));
        }
    }
    return failed;
}

static json_t *format_row(pwr_policy_row_id_t id, const pwr_policy_row_t *row)
{
    bool is_lever = pwr_policy_row_is_lever(id);
    bool measured = row->origin == PWR_POLICY_MEASURED;
    json_t *object = json_pack("{s:s, s:s}", "kind", is_lever ? "lever" : "rung", "name",
                               pwr_policy_row_name(id));
    int failed = put_times(object, is_lever, row);
    failed |= json_object_set_new(object, "power_w",
                                  row->power_w < 0.0 ? json_null() : json_real(row->power_w));
    failed |= json_object_set_new(object, "source", json_string(measured ? "measured" : "builtin"));
    failed |= measured ? json_object_set_new(object, "samples", json_integer(row->samples))
                       : json_object_set_new(object, "citation", json_string(row->citation));
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int put_texts(json_t *object, const pwr_policy_text_key_t *keys, const void *base)
{
    int failed = 0;
    for (; keys->key; keys++) {
        const char *text = (const char *)base + keys->offset;
        failed |= json_object_set_new(
            object, keys->key, keys->nullable && text[0] == '\0' ? json_null() : json_string(text));
    }
    return failed;
}

static json_t *format_cpu(const pwr_cpu_model_t *cpu)
{
    json_t *object = json_pack("{s:i, s:i}", "family", (int)cpu->family, "model", (int)cpu->model);
    if (put_texts(object, pwr_policy_cpu_texts, cpu) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
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
    json_t *document = json_pack("{s:i}", "format_version", (int)PWR_POLICY_VERSION);
    if (!document) {
        return PWR_ERR_NOMEM;
    }
    int failed = put_texts(document, pwr_policy_table_texts, table);
    failed |= json_object_set_new(document, "cpu", format_cpu(&table->cpu));
    failed |= json_object_set_new(document, "rows", format_rows(table));
    if (failed != 0) {
        json_decref(document);
        return PWR_ERR_ARG;
    }
    char *dumped = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(document);
    if (!dumped) {
        return PWR_ERR_NOMEM;
    }
    size_t length = strlen(dumped);
    char *made = realloc(dumped, length + 2);
    if (!made) {
        free(dumped);
        return PWR_ERR_NOMEM;
    }
    memcpy(made + length, "\n", 2);
    *text = made;
    return PWR_OK;
}
