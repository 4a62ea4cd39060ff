/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * UCP workers on which a thread sleeps: ours (ucx.c), and those of Open MPI's components
 * (ucx_users.c).
 */
#ifndef PWR_UCX_SLEEP_H
#define PWR_UCX_SLEEP_H

#include <stdbool.h>

#include "ucp_worker.h"

/* From now on what comes to the worker ends sleeps; not with MPI_THREAD_MULTIPLE.  False: no
   memory. */
bool pwr_ucx_sleep_add(const pwr_ucp_worker_t *worker);
/* Before it is destroyed; any other may be given as well. */
void pwr_ucx_sleep_remove(ucp_worker_h worker);
/* Something has moved in one of these (pwr_ucx_moves). */
void pwr_ucx_sleep_moved(void);

#endif
