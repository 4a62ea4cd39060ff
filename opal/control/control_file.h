/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls that are files with a decimal number of kHz (private to opal/control).
 */
#ifndef PWR_CONTROL_FILE_H
#define PWR_CONTROL_FILE_H

#include "control/control.h"

/* Opens control, of which everything but its fd is there, as this file.  Errors: UNSUPPORTED (there
   is none), PERM; a reason, with what grants it, is added to why. */
pwr_status_t pwr_control_file_open(const pwr_env_t *env, const char *path, int flags,
                                   const char *grants, const pwr_why_t *why,
                                   pwr_control_t *control);
/* Of a control whose fd is such a file. */
pwr_status_t pwr_control_file_read(const pwr_control_t *control, uint64_t *khz);
pwr_status_t pwr_control_file_write(const pwr_control_t *control, uint64_t khz);
void pwr_control_file_close(pwr_control_t *control);

/* control_cpufreq.c: the same for a control among the kernel's cpufreq files, and its name. */
pwr_status_t pwr_control_cpufreq_open(const pwr_env_t *env, int flags, const char *grants,
                                      const pwr_why_t *why, pwr_control_t *control);
const char *pwr_control_cpufreq_place(const pwr_control_t *control);

/* control_uncore.c: a file of the uncore of cpu's die; PERM, UNSUPPORTED, PARSE, with a reason in
   why, where nothing tells which die that is. */
pwr_status_t pwr_uncore_path(const pwr_env_t *env, unsigned cpu, const char *file,
                             const pwr_why_t *why, char *path, unsigned size);

#endif
