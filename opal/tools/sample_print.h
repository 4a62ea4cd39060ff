/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-sample's output: JSON lines, and the list of domains for people.
 */
#ifndef PWR_SAMPLE_PRINT_H
#define PWR_SAMPLE_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "pwr/meter.h"

/* The first JSON line: host, source and domains. */
void sample_print_header(FILE *out, const pwr_meter_t *meter);

/* A sample as a JSON line. */
void sample_print_readings(FILE *out, uint64_t t_ns, const pwr_meter_reading_t *readings,
                           unsigned count);

/* To standard output: one domain per line, then why, what was tried in vain.  Returns the exit
   status. */
int sample_print_list(const pwr_meter_t *meter, const char *why);

#endif
