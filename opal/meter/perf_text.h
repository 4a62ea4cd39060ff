/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel writes into the event files of a PMU (private to opal/meter).
 */
#ifndef PWR_PERF_TEXT_H
#define PWR_PERF_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* "event=0x02": the one field of the power PMU, 8 bits at the bottom of perf_event_attr.config. */
bool pwr_perf_parse_config(const char *text, uint64_t *config);

/* A positive decimal fraction, at most 1, whatever the application's locale takes for a comma. */
bool pwr_perf_parse_scale(const char *text, double *scale);

#endif
