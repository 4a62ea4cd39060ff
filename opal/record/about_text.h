/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a leader tells its recorder about the job, as JSON (private to the library;
 * tools/record/about.h lists the keys and reads it).
 */
#ifndef PWR_ABOUT_TEXT_H
#define PWR_ABOUT_TEXT_H

#include <jansson.h>

#include "pwr/record.h"

/* To be freed; NULL without memory. */
char *pwr_record_about_text(const pwr_record_about_t *about, const char *root,
                            const char *run_directory, const char *job);

/* A string of at most most bytes, whatever is in it: JSON has no other text than UTF-8, programs,
   hosts and communicators may be called anything. */
json_t *pwr_json_text(const char *text, size_t most);
/* The same, but NULL and "" are null. */
json_t *pwr_json_text_or_null(const char *text, size_t most);

#endif
