/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of ompi/process share.
 */
#ifndef PWR_OMPI_PROCESS_PRIVATE_H
#define PWR_OMPI_PROCESS_PRIVATE_H

#include "pwr/policy.h"
#include "pwr_ompi/process.h"

/* settings.c: what the MCA system has registered becomes the process's, as copies; these end. */
int pwr_settings_register(void);
void pwr_settings_take(void);
void pwr_settings_drop(void);
/* The words of two of them. */
const char *pwr_settings_summary(void);
const char *pwr_settings_idle(void);

/* job.c: the report of the whole job, in pwr_process_publish (first of all there), _open,
   _begin_job and _close.  Of no effect where nobody wants one. */
void pwr_job_publish(void);
void pwr_job_open(void);
void pwr_job_begin(json_t *(*decisions)(void));
void pwr_job_close(void);

/* knowledge.c: what earlier jobs have learnt, in pwr_process_publish, _open and _close. */
void pwr_known_publish(void);
void pwr_known_open(void);
void pwr_known_close(void);

/* region.c: all regions end.  Before the report is finished. */
void pwr_regions_end(void);

/* waits.c: how ranks wait; in MPI_Init, once the pml is selected and levers are opened.  policy:
   what waiting costs here; NULL: not known. */
void pwr_waits_prepare(const pwr_policy_t *policy, bool mpi_threads);

#endif
