/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What documents have in common (pwr/json.h).
 */
#include "config.h"

#include "pwr/json.h"

#include <stdlib.h>
#include <string.h>

json_t *pwr_json_text(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    json_t *string = json_stringn(text, length);
    if (string) {
        return string;
    }
    char *ascii = malloc(length + 1);
    if (!ascii) {
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    }
    string = json_stringn(ascii, length);
    free(ascii);
    return string;
}

json_t *pwr_json_text_or_null(const char *text, size_t most)
{
    return text && text[0] != '\0' ? pwr_json_text(text, most) : json_null();
}

json_t *pwr_json_seconds(uint64_t ns)
{
    return json_real(1e-9 * (double)ns);
}

void pwr_json_take(json_t *into, json_t *members)
{
    json_object_update(into, members);
    json_decref(members);
}

/* ---- levers ---- */

static json_t *lever(const pwr_lever_type_t *type, const pwr_lever_use_t *use)
{
    const pwr_lever_counts_t *counts = &use->counts;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:I}", "name", type->name,
                     "title", type->title, "scope", pwr_scope_text(type->scope), "backend",
                     pwr_json_text_or_null(use->backend, sizeof use->backend), "why_off",
                     pwr_json_text_or_null(use->why_off, sizeof use->why_off), "writes",
                     (json_int_t)counts->writes, "held_s", pwr_json_seconds(counts->held_ns),
                     "skipped", (json_int_t)counts->skipped, "errors", (json_int_t)counts->errors,
                     "adopted", (json_int_t)counts->adopted, "yielded",
                     (json_int_t)counts->yielded);
}

json_t *pwr_json_levers(const pwr_lever_use_t uses[PWR_NUM_LEVERS])
{
    json_t *levers = json_array();
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        json_array_append_new(levers, lever(pwr_lever_type((pwr_lever_id_t)i), &uses[i]));
    }
    return levers;
}

/* ---- calls ---- */

/* Seconds by the levers' names. */
static json_t *held(const uint64_t held_ns[PWR_NUM_LEVERS])
{
    json_t *held = json_object();
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        json_object_set_new(held, pwr_lever_type((pwr_lever_id_t)i)->name,
                            pwr_json_seconds(held_ns[i]));
    }
    return held;
}

json_t *pwr_json_sums(const pwr_account_sums_t *sums)
{
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:I}", "calls",
                     (json_int_t)sums->calls, "bytes", (json_int_t)sums->bytes, "seconds",
                     pwr_json_seconds(sums->ns), "longest_s", pwr_json_seconds(sums->longest_ns),
                     "spin_s", pwr_json_seconds(sums->spin_ns), "monitor_s",
                     pwr_json_seconds(sums->monitor_ns), "sleep_s",
                     pwr_json_seconds(sums->sleep_ns), "cpu_s", 1e-9 * pwr_account_cpu_ns(sums),
                     "held_s", held(sums->held_ns), "transitions", (json_int_t)sums->transitions);
}
