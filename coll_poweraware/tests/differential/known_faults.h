/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What Open MPI's own collectives get wrong, and is not drawn for that reason.
 */
#ifndef DIFF_KNOWN_FAULTS_H
#define DIFF_KNOWN_FAULTS_H

#include "plan.h"

/* Whether Open MPI's own function is known to be wrong where ...
   the communicator has that size; such a call is left out: */
bool diff_known_fault_here(const diff_plan_t *plan, int size);
/* ranks describe one message by elements of different sizes: */
bool diff_known_fault_sizes(diff_collective_t collective);
/* datatypes do not begin at their address, or differ between ranks: */
bool diff_known_fault_layouts(diff_collective_t collective, diff_mode_t mode);
/* datatypes have complex numbers with gaps in between: */
bool diff_known_fault_complex(void);
/* datatypes have that style: */
bool diff_known_fault_style(diff_style_t style);
/* datatypes are empty: */
bool diff_known_fault_empty(diff_mode_t mode);
/* data is in place: */
bool diff_known_fault_in_place(diff_collective_t collective, diff_mode_t mode);

#endif
