/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of idle.h share.
 */
#ifndef PWR_OMPI_IDLE_PRIVATE_H
#define PWR_OMPI_IDLE_PRIVATE_H

#include <stdbool.h>

#include "pwr/wait.h"

/* This thread is in pwr_idle_wait, which gives the CPU back by itself. */
extern _Thread_local bool pwr_idle_waits;
/* idle.c: one look for what moves; returns how much, where Open MPI tells. */
int pwr_idle_look(bool yields);
/* idle.c: sleeps in Open MPI's event loop. */
void pwr_idle_block(uint64_t longest_ns);
/* This thread is in a call that must not block. */
extern _Thread_local bool pwr_idle_looks;
/* This thread is in a loop (idle_loop.c); NULL: it is not.  Initial-exec: each pass of
   opal_progress asks. */
extern _Thread_local struct pwr_idle_loop *pwr_idle_loop __attribute__((tls_model("initial-exec")));
/* All calls of windows that loop say where they begin and end. */
extern bool pwr_idle_knows_loops;
/* Requests of windows are over with messages, as others are. */
extern bool pwr_idle_hears_windows;

/* idle_loop.c, for what makes progress beside opal_progress, when this thread is in a loop.  Before
   it does: who calls it has looked, in vain, unless something has moved since. */
void pwr_idle_loop_pass(void);
/* It has moved something. */
void pwr_idle_loop_moved(void);
/* A pass comes next: it is not time yet for the call to look. */
bool pwr_idle_loop_rests(void);

/* idle_hook.c: policy and stats stay where they are until unhooked. */
void pwr_idle_hook(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats);
void pwr_idle_unhook(void);

#endif
