/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: packed ledgers, which other nodes send.
 * Sources: record/ledger.c record/series.c account/account.c status.c
 */
#include "config.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "pwr/ledger.h"

/* What was taken can be packed, and taken again. */
static void check_sum(pwr_ledger_t *ledger)
{
    size_t bytes;
    pwr_ledger_t *again = pwr_ledger_new();
    void *packed = pwr_ledger_pack(ledger, &bytes);
    demand(again != NULL && packed != NULL);
    demand(pwr_ledger_add_packed(again, packed, bytes) == PWR_OK);
    demand(again->num_nodes == ledger->num_nodes);
    for (size_t i = 0; i < ledger->num_nodes; i++) {
        pwr_ledger_attribute(&ledger->account, &ledger->nodes[i], pwr_ledger_weights());
    }
    free(packed);
    pwr_ledger_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pwr_ledger_t *ledger = pwr_ledger_new();
    void *aligned = malloc(size + 1);
    demand(ledger != NULL && aligned != NULL);
    memcpy(aligned, data, size);
    if (pwr_ledger_add_packed(ledger, aligned, size) == PWR_OK &&
        pwr_ledger_add_packed(ledger, aligned, size) == PWR_OK) {
        check_sum(ledger);
    } else {
        demand(ledger->num_nodes == 0);
    }
    free(aligned);
    pwr_ledger_free(ledger);
    return 0;
}
