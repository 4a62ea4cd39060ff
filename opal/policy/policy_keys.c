/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The names of rows and keys in calibration.json, for reading and writing.
 */
#include "config.h"

#include "policy/policy_private.h"

#include <stddef.h>

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

#define TEXT(type, member) #member, offsetof(type, member), sizeof(((type *)0)->member)

const pwr_policy_text_key_t pwr_policy_table_texts[] = {
    {TEXT(pwr_policy_table_t, tool), false}, {TEXT(pwr_policy_table_t, date), false},
    {TEXT(pwr_policy_table_t, host), false}, {TEXT(pwr_policy_table_t, kernel), false},
    {TEXT(pwr_policy_table_t, meter), true}, {NULL, 0, 0, false},
};

const pwr_policy_text_key_t pwr_policy_cpu_texts[] = {
    {TEXT(pwr_cpu_model_t, vendor), false},
    {TEXT(pwr_cpu_model_t, name), true},
    {NULL, 0, 0, false},
};

const pwr_policy_text_key_t pwr_policy_citation = {TEXT(pwr_policy_row_t, citation), false};

const pwr_policy_time_key_t pwr_policy_row_times[PWR_POLICY_NUM_TIMES] = {
    {"entry_ns", offsetof(pwr_policy_row_t, entry_ns), false},
    {"exit_ns", offsetof(pwr_policy_row_t, exit_ns), false},
    {"entry_spread_ns", offsetof(pwr_policy_row_t, entry_spread_ns), false},
    {"exit_spread_ns", offsetof(pwr_policy_row_t, exit_spread_ns), false},
    {"entry_settle_ns", offsetof(pwr_policy_row_t, entry_settle_ns), true},
    {"exit_settle_ns", offsetof(pwr_policy_row_t, exit_settle_ns), true},
};
