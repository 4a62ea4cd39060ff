/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * trace.csv: every value a lever took.
 */
#include "config.h"

#include "trace.h"

#include <inttypes.h>

int emu_trace_open(struct emu_csv *trace, const char *directory)
{
    return emu_csv_open(trace, directory, "trace.csv", "t_ns,cpu,control,value,pid");
}

void emu_trace_text(struct emu_csv *trace, uint64_t t_ns, int cpu, const char *control,
                    const char *value, pid_t pid)
{
    emu_csv_line(trace, "%" PRIu64 ",%d,%s,%s,%d", t_ns, cpu, control, value, (int)pid);
}

void emu_trace_msr(struct emu_csv *trace, uint64_t t_ns, int cpu, uint32_t reg, uint64_t value,
                   pid_t pid)
{
    emu_csv_line(trace, "%" PRIu64 ",%d,msr:0x%" PRIx32 ",0x%" PRIx64 ",%d", t_ns, cpu, reg, value,
                 (int)pid);
}
