/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Levers in documents: a job's (poweraware-job.schema.json) and a rank's.
 */
#ifndef PWR_LEVER_JSON_H
#define PWR_LEVER_JSON_H

#include <jansson.h>

#include "pwr/lever.h"

/* "levers": one object per lever. */
json_t *pwr_levers_json(const pwr_lever_use_t uses[PWR_NUM_LEVERS]);
/* "held_s": seconds by the levers' names. */
json_t *pwr_levers_held_json(const uint64_t held_ns[PWR_NUM_LEVERS]);

#endif
