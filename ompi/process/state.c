/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The one object of the process, and what follows from its configuration.
 */
#include "pwr_ompi/process.h"

#include <string.h>

pwr_process_t pwr_process = {.config = {.summary = "off"}};

bool pwr_process_wants_report(const pwr_process_config_t *config)
{
    return NULL != config->report_dir || 0 != strcmp("off", config->summary);
}

/* Where nothing is saved, only if that is said. */
bool pwr_process_idles(const pwr_process_config_t *config)
{
    return PWR_IDLE_ALL == config->idle || (PWR_IDLE_OPERATIONS == config->idle && config->saves);
}
