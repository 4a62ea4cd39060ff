/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Model-specific registers.
 */
#ifndef EMU_MSR_H
#define EMU_MSR_H

#include "tree.h"

/* access->index is the CPU.  EIO: no such register, or a value hardware refuses (#GP). */
int emu_msr_read(const struct emu_access *access, uint32_t reg, uint64_t *value);
int emu_msr_write(const struct emu_access *access, uint32_t reg, uint64_t value);

/* Through msr_safe: EACCES for what its list does not allow.  A write changes the bits of the
   write mask and keeps the others; *value becomes what was written.  Unlike the real module this
   one holds CAP_SYS_RAWIO to the list too, since everybody on an emulated node may be root. */
int emu_msr_safe_read(const struct emu_access *access, uint32_t reg, uint64_t *value);
int emu_msr_safe_write(const struct emu_access *access, uint32_t reg, uint64_t *value);

/* Traces the value of every CPU's writable registers. */
void emu_msr_trace_all(const struct emu_access *access);

#endif
