/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: calibration.json.  What is read can be written, and is then read as the same.
 * Sources: policy/policy_json.c status.c why.c
 * Libraries: -ljansson
 */
#include "config.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "pwr/policy.h"

/* Watts are written with six digits. */
static void forget_power(pwr_policy_table_t *table)
{
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        table->rows[id].power_w = 0.0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[100];
    char *text;
    pwr_policy_table_t table, again;
    memset(&table, 0, sizeof table); /* padding is compared too */
    memset(&again, 0, sizeof again);
    if (pwr_policy_parse((const char *)data, size, why, sizeof why, &table) != PWR_OK) {
        demand(why[0] != '\0' && memchr(why, '\0', sizeof why));
        return 0;
    }
    demand(pwr_policy_format(&table, &text) == PWR_OK);
    demand(pwr_policy_parse(text, strlen(text), why, sizeof why, &again) == PWR_OK);
    free(text);
    forget_power(&table);
    forget_power(&again);
    demand(memcmp(&table, &again, sizeof table) == 0);
    return 0;
}
