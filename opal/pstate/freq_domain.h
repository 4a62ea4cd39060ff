/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * CPUs that share one frequency (private to opal/pstate).
 */
#ifndef PWR_FREQ_DOMAIN_H
#define PWR_FREQ_DOMAIN_H

#include <stdbool.h>

#include "pstate/pstate_style.h"

/* Reads the CPUs that share cpu's frequency (related_cpus).  PWR_ERR_SHARED, with the reason in
   request->held.why, when one of them is not ours.  *driven says whether cpu is the lowest of them:
   the one through which the domain is driven, so that each domain is written once. */
pwr_status_t pwr_freq_domain_check(const pwr_pstate_request_t *request, unsigned cpu, bool *driven);

#endif
