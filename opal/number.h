/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Numbers and lines as kernel files and our own write them (private to the library and its tools).
 */
#ifndef PWR_NUMBER_H
#define PWR_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/status.h"

/* text[size], not necessarily NUL terminated, is exactly one unsigned number, decimal or 0x, and
   white space behind it.  No signs, no octal, no blanks in front.  PWR_ERR_PARSE otherwise, also
   when it does not fit into 64 bits. */
pwr_status_t pwr_number_parse(const char *text, size_t size, uint64_t *value);

/* The same for a decimal number without anything behind it, that fits into an unsigned. */
pwr_status_t pwr_number_parse_decimal(const char *text, size_t size, unsigned *value);

/* Cuts a line "key: value" into the two, without the white space around them.  False, and nothing
   is written, when it has no colon. */
bool pwr_line_split(char *line, char **key, char **value);

#endif
