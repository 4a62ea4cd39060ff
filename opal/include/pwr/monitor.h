/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Instructions that let a core rest until a cache line is written or a time has passed: umwait,
 * mwaitx, WFE.  The rung of the wait ladder between pause and futex (pwr/wait.h).
 */
#ifndef PWR_MONITOR_H
#define PWR_MONITOR_H

typedef struct pwr_monitor pwr_monitor_t;

/* What this CPU offers, by its own account and the kernel's; NULL for nothing.  A virtual machine
   that hides an instruction may well execute it, but each one then costs a way to the hypervisor
   and back, far more than it saves. */
const pwr_monitor_t *pwr_monitor_find(void);
/* "umwait", "mwaitx", "wfet" or "wfe"; lives for ever. */
const char *pwr_monitor_name(const pwr_monitor_t *monitor);

#endif
