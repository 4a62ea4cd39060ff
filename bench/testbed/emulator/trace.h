/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * trace.csv: every value a lever took, when, and who wrote it.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include <stdint.h>
#include <sys/types.h>

#include "csv_file.h"

int emu_trace_open(struct emu_csv *trace, const char *directory);
/* pid 0: the value at start. */
void emu_trace_text(struct emu_csv *trace, uint64_t t_ns, int cpu, const char *control,
                    const char *value, pid_t pid);
void emu_trace_msr(struct emu_csv *trace, uint64_t t_ns, int cpu, uint32_t reg, uint64_t value,
                   pid_t pid);

#endif
