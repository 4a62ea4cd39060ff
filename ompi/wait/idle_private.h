/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of idle.h share.
 */
#ifndef PWR_OMPI_IDLE_PRIVATE_H
#define PWR_OMPI_IDLE_PRIVATE_H

#include <stdbool.h>

#include "pwr/wait.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/thread.h"

/* idle.c: one look for what moves; returns how much, where Open MPI tells. */
int pwr_idle_look(bool yields);
/* idle.c: sleeps in Open MPI's event loop. */
void pwr_idle_block(uint64_t longest_ns);
/* All calls of windows that loop say where they begin and end. */
extern bool pwr_idle_knows_loops;
/* Requests of windows are over with messages, as others are. */
extern bool pwr_idle_hears_windows;

/* ---- idle_loop.c, for what makes progress beside opal_progress, in a thread that is in a loop
   ----

   Most passes are only counted: calls that do not wait make some, too.  They are briefer than those
   of opal_progress by about so much, unless each yields. */

enum { PWR_IDLE_PASS = 8 };
void pwr_idle_loop_pass(unsigned passes);
/* Before it makes progress: who calls it has looked, in vain, unless something has moved since. */
static inline void pwr_idle_loop_count(pwr_idle_loop_t *loop)
{
    if (loop->looks > 1 && !loop->yields) {
        --loop->looks;
    } else {
        pwr_idle_loop_pass(loop->yields ? PWR_IDLE_PASS : 1);
    }
}
/* It has moved something. */
static inline void pwr_idle_loop_moved(pwr_idle_loop_t *loop)
{
    if (0 != loop->begun_ns) {
        loop->moved = true;
        loop->looks = 1;
    }
}
/* Once more: it is not time yet for the call to look. */
static inline bool pwr_idle_loop_rests(pwr_idle_loop_t *loop)
{
    if (0 == loop->rests_until_ns) {
        return false;
    }
    loop->looks = 1;
    return true;
}

/* idle_hook.c: policy and stats stay where they are until unhooked. */
void pwr_idle_hook(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats);
void pwr_idle_unhook(void);

#endif
