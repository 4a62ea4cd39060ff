/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The report of the whole job (private to ompi/process).  Of no effect where nobody wants one.
 */
#ifndef PWR_OMPI_JOB_H
#define PWR_OMPI_JOB_H

/* In pwr_process_publish, _open, _begin_job and _close. */
void pwr_job_publish(void);
void pwr_job_open(void);
void pwr_job_begin(void);
void pwr_job_close(void);

#endif
