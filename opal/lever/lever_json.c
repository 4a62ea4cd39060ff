/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Levers in documents (pwr/lever_json.h).
 */
#include "config.h"

#include "pwr/lever_json.h"
#include "record/about_text.h"

static json_t *seconds(uint64_t ns)
{
    return json_real(1e-9 * (double)ns);
}

static json_t *one(const pwr_lever_type_t *type, const pwr_lever_use_t *use)
{
    const pwr_lever_counts_t *counts = &use->counts;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:I}", "name", type->name,
                     "title", type->title, "scope", pwr_scope_text(type->scope), "backend",
                     pwr_json_text_or_null(use->backend, sizeof use->backend), "why_off",
                     pwr_json_text_or_null(use->why_off, sizeof use->why_off), "writes",
                     (json_int_t)counts->writes, "held_s", seconds(counts->held_ns), "skipped",
                     (json_int_t)counts->skipped, "errors", (json_int_t)counts->errors, "adopted",
                     (json_int_t)counts->adopted, "yielded", (json_int_t)counts->yielded);
}

json_t *pwr_levers_json(const pwr_lever_use_t uses[PWR_NUM_LEVERS])
{
    json_t *levers = json_array();
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        json_array_append_new(levers, one(pwr_lever_type((pwr_lever_id_t)i), &uses[i]));
    }
    return levers;
}

json_t *pwr_levers_held_json(const uint64_t held_ns[PWR_NUM_LEVERS])
{
    json_t *held = json_object();
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        json_object_set_new(held, pwr_lever_type((pwr_lever_id_t)i)->name, seconds(held_ns[i]));
    }
    return held;
}
