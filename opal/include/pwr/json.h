/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What documents have in common: a job's (poweraware-job.schema.json) and a rank's.
 */
#ifndef PWR_JSON_H
#define PWR_JSON_H

#include <jansson.h>

#include "pwr/account.h"
#include "pwr/lever.h"

/* A string of at most most bytes, whatever is in it: JSON has no other text than UTF-8, programs,
   hosts and communicators may be called anything. */
json_t *pwr_json_text(const char *text, size_t most);
/* The same, but NULL and "" are null. */
json_t *pwr_json_text_or_null(const char *text, size_t most);
json_t *pwr_json_seconds(uint64_t ns);
/* Moves the members of an object, which may be NULL, to another one. */
void pwr_json_take(json_t *into, json_t *members);

/* "levers": one object per lever. */
json_t *pwr_json_levers(const pwr_lever_use_t uses[PWR_NUM_LEVERS]);
/* Sums over calls, without their energy. */
json_t *pwr_json_sums(const pwr_account_sums_t *sums);

#endif
