/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The helper's own side of helper/helper.h: being nobody's child, and noticing the client's end.
 */
#ifndef PWR_DETACH_H
#define PWR_DETACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "helper/helper.h"

/* The process that made the pair of which descriptor 3 is an end; 0 when there is none, because
   the program was started by hand. */
pid_t pwr_detach_client(void);

/* How main begins.  Leaves the directory, closes all descriptors but the standard ones and the
   socket, ignores the signals that end a job, leaves the client's CPUs (a helper that stays bound
   there is in its way, and looks to others like a process that shares them), and goes on in a
   child, of which the client never hears.  The parent ends in here, after calling
   before_parent_ends (NULL: nothing) with the child's number, and so does a program that cannot do
   all this.  One that was started by hand, or without the arguments that clients give it
   (good_arguments), says its purpose and ends. */
void pwr_detach(int argc, char **argv, bool good_arguments, const char *purpose,
                void (*before_parent_ends)(pid_t child));

/* A descriptor that is readable once the client is dead: the socket alone stays open as long as a
   child that the client forked.  -1 when there is none: *dead says whether that is because the
   client has died already. */
int pwr_detach_watch(bool *dead);

#endif
