/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The one object of the process, and what follows from its settings.
 */
#include "pwr_ompi/process.h"

pwr_process_t pwr_process;

bool pwr_process_wants_report(void)
{
    return NULL != pwr_process.settings.report_dir ||
           PWR_SUMMARY_OFF != (pwr_summary_t)pwr_process.settings.report;
}

const char *pwr_process_ranks_dir(void)
{
    const pwr_process_settings_t *s = &pwr_process.settings;
    return NULL != s->ranks_dir ? s->ranks_dir : s->trace_dir;
}

bool pwr_process_is_watched(void)
{
    return pwr_process_wants_report() || NULL != pwr_process_ranks_dir();
}

/* Where nothing is saved, only if that is said. */
bool pwr_process_idles(const pwr_scheme_t *scheme)
{
    pwr_idle_where_t idle = (pwr_idle_where_t)pwr_process.settings.idle;
    return PWR_IDLE_ALL == idle || (PWR_IDLE_OPERATIONS == idle && scheme->saves);
}

bool pwr_process_audits(const pwr_scheme_t *scheme)
{
    return scheme->audits && pwr_process.settings.max_slowdown > 0.0 &&
           PWR_IDLE_OFF != (pwr_idle_where_t)pwr_process.settings.idle;
}
