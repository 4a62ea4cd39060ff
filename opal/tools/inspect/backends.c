/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What became of each back end.
 */
#include "config.h"

#include "pwr/json.h"
#include "tools/inspect/inspect.h"

#include <string.h>

static const char *reason_otherwise(const char *name, pwr_status_t status)
{
    bool governor = status == PWR_ERR_UNSUPPORTED && strcmp(name, "cpufreq-setspeed") == 0;
    return governor ? "the governor is not \"userspace\"" : pwr_status_text(status);
}

json_t *inspect_backends_add(inspect_backends_t *backends, const char *name, pwr_status_t status,
                             const char *reason, const char *state, const char *later)
{
    json_t *row;
    if (status != PWR_OK) {
        reason = reason[0] != '\0' ? reason : reason_otherwise(name, status);
        row = json_pack("{s:s, s:s, s:o, s:s}", "name", name, "state", "refused", "reason",
                        pwr_json_text(reason, INSPECT_REASON_BYTES), "refusal",
                        pwr_status_text(status));
    } else {
        bool first = backends->best < 0;
        backends->best = first ? (int)json_array_size(backends->rows) : backends->best;
        row = json_pack("{s:s, s:s, s:n, s:n}", "name", name, "state", first ? state : later,
                        "reason", "refusal");
    }
    json_array_append_new(backends->rows, row);
    return row;
}
