/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One-sided kinds of traffic (pwr_traffic_t.run).
 */
#ifndef PWR_WINDOWS_H
#define PWR_WINDOWS_H

#include "load.h"

void pwr_windows_put(pwr_load_t *load, size_t size);
void pwr_windows_get(pwr_load_t *load, size_t size);
void pwr_windows_accumulate(pwr_load_t *load, size_t size);

#endif
