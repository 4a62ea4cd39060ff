/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From a call that fails to the smallest one that still does.
 */
#ifndef DIFF_SHRINK_H
#define DIFF_SHRINK_H

#include "run.h"

/* Call `index` failed in a batch that began with call `first`.  Collective over the run; prints
   what is left and the command that repeats it. */
void diff_shrink(diff_run_t *run, uint64_t first, uint64_t index);

#endif
