/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What this rank did, as one JSON file (coll_poweraware_ranks_dir).
 */
#ifndef PWR_OMPI_REPORT_H
#define PWR_OMPI_REPORT_H

#include <jansson.h>

/* Before the process is closed.  more: what the component adds, an object that is taken over. */
void pwr_report_write(const char *path, json_t *more);

#endif
