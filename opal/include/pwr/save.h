/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Files that commands write: at once or not at all, so that nobody ever reads half of one.
 */
#ifndef PWR_SAVE_H
#define PWR_SAVE_H

#include <stdbool.h>

/* Both make the directories above file; when they fail they say it in a line on stderr, which
   begins with the command's name. */

/* Whether file could be written, before time is spent on what is to be in it. */
bool pwr_save_check(const char *command, const char *file);
/* Replaces file; it is as it was when this fails. */
bool pwr_save(const char *command, const char *file, const char *text);

#endif
