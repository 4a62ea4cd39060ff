/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Whether all processes of the job have a component of ours: a package may be on some nodes only,
 * or of another version there.  Where ranks would wait for messages that others do not know of, all
 * have to go without it.
 */
#ifndef PWR_OMPI_PRESENCE_H
#define PWR_OMPI_PRESENCE_H

#include <stdbool.h>

/* When components are opened: this process has it.  Returns whether others hear of it. */
bool pwr_presence_tell(const char *component);

/* When communicators begin: whether all have told, with the version of this one; of more than 512
   processes, as many of them, evenly spaced.  The same on all that have.  Where not, the first of
   these says so.  True where processes ask for what others tell only when they need it: nobody can
   know there. */
bool pwr_presence_is_everywhere(const char *component);

#endif
