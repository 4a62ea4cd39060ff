/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who runs on which emulated CPU, and for how long each CPU was active.
 *
 * Placement: a process goes to the least loaded CPU of its recorded mask and stays there while the
 * mask allows it.  Processes without a mask (shells, launchers, this daemon) are not counted unless
 * the machine file says so: on a real node their share is small, here they would be a large one.
 */
#ifndef EMU_ACTIVITY_H
#define EMU_ACTIVITY_H

#include "affinity_table.h"
#include "machine_file.h"

struct emu_activity;

/* table stays the caller's and must outlive the result.  Returns 0 or errno: ENOTSUP means a
   kernel without schedstat. */
int emu_activity_create(const struct emu_config *config, const char *proc_root,
                        struct emu_affinity_table *table, struct emu_activity **activity);
void emu_activity_destroy(struct emu_activity *activity);

/* Finds new, ended and moved processes.  Call before charging all CPUs at now_ns. */
void emu_activity_refresh(struct emu_activity *activity, uint64_t now_ns);

/* An emu_active_fn (machine.h); arg is the struct emu_activity. */
uint64_t emu_activity_take(void *arg, int cpu, uint64_t from_ns, uint64_t now_ns);

/* Processes now placed on a CPU. */
int emu_activity_count(const struct emu_activity *activity, int cpu);

#endif
