/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernel's cpufreq files, as far as several accesses use them (private to opal/control).
 */
#ifndef PWR_CONTROL_FILE_H
#define PWR_CONTROL_FILE_H

#include "control/control.h"

/* Opens the file of a control; *fd is the caller's to close.  Errors: UNSUPPORTED (no file has such
   a control), PERM; a reason, with what grants it, is added to why. */
pwr_status_t pwr_control_file_open(const pwr_env_t *env, pwr_control_kind_t kind, unsigned cpu,
                                   int flags, const char *grants, const pwr_why_t *why, int *fd);
/* Of a control whose fd is such a file. */
pwr_status_t pwr_control_file_read(const pwr_control_t *control, uint64_t *khz);
const char *pwr_control_file_place(const pwr_control_t *control);

#endif
