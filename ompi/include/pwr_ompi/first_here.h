/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * One process of a node does something for all of them.
 */
#ifndef PWR_OMPI_FIRST_HERE_H
#define PWR_OMPI_FIRST_HERE_H

#include <stdbool.h>

/* Whether this is the first process of this user on this node that asks about what, a word of up to
   80 characters.  Asked seldom: a true answer costs a file descriptor.  True, too, where that
   cannot be found out: better twice than never. */
bool pwr_first_here(const char *what);
/* At the end, when nobody asks any more: others may be first again. */
void pwr_first_here_forget(void);

#endif
