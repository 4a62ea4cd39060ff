/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Sets of CPUs in the two forms sysfs writes them.
 */
#include "config.h"

#include "cpulist.h"

#include <inttypes.h>
#include <stdio.h>

void emu_cpulist_format(const struct emu_machine *machine, emu_cpu_test *has, int key,
                        char text[EMU_CPULIST_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        if (!has(machine, cpu, key)) {
            continue;
        }
        int last = cpu;
        while (last + 1 < machine->cpu_count && has(machine, last + 1, key)) {
            last++;
        }
        used += (size_t)snprintf(text + used, EMU_CPULIST_SIZE - used,
                                 last > cpu ? "%s%d-%d" : "%s%d", used > 0 ? "," : "", cpu, last);
        cpu = last;
    }
}

void emu_cpumask_format(const struct emu_machine *machine, emu_cpu_test *has, int key,
                        char text[EMU_CPULIST_SIZE])
{
    size_t used = 0;
    for (int word = (machine->cpu_count - 1) / 32; word >= 0; word--) {
        uint32_t bits = 0;
        for (int bit = 0; bit < 32 && 32 * word + bit < machine->cpu_count; bit++) {
            if (has(machine, 32 * word + bit, key)) {
                bits |= UINT32_C(1) << bit;
            }
        }
        used += (size_t)snprintf(text + used, EMU_CPULIST_SIZE - used,
                                 used > 0 ? ",%08" PRIx32 : "%" PRIx32, bits);
    }
}
