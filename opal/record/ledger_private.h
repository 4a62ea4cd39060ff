/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a ledger is made of.
 */
#ifndef PWR_LEDGER_PRIVATE_H
#define PWR_LEDGER_PRIVATE_H

#include "pwr/ledger.h"

struct pwr_ledger {
    pwr_account_t account;
    pwr_series_t power;
    size_t num_nodes;
    size_t room;
    pwr_ledger_node_t *nodes;
    pwr_series_t *series; /* [num_nodes], or NULL when there are too many */
    bool too_many;
};

#endif
