/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * All names, for the record of the job (private to ompi/process).  Each list ends in NULL.
 */
#ifndef PWR_OMPI_NAMES_H
#define PWR_OMPI_NAMES_H

const char *const *pwr_names_of_operations(void);
const char *const *pwr_names_of_algorithms(void);

#endif
