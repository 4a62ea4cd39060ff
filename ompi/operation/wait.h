/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How an operation that a stock function does waits (private to ompi/operation).
 */
#ifndef PWR_OMPI_OPERATION_WAIT_H
#define PWR_OMPI_OPERATION_WAIT_H

#include "pwr_ompi/idle.h"

/* within: the first member of the pwr_operation_t. */
void pwr_wait_in_stock(pwr_idle_within_t *within, const pwr_idle_awaited_t *awaited);

#endif
