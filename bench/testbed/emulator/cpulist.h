/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Sets of CPUs in the two forms sysfs writes them.
 */
#ifndef EMU_CPULIST_H
#define EMU_CPULIST_H

#include <stdbool.h>

#include "machine.h"

enum { EMU_CPULIST_SIZE = 4 * EMU_MAX_CPUS };

/* "0-3,8": the CPUs for which has(machine, cpu, key) holds. */
typedef bool emu_cpu_test(const struct emu_machine *machine, int cpu, int key);
void emu_cpulist_format(const struct emu_machine *machine, emu_cpu_test *has, int key,
                        char text[EMU_CPULIST_SIZE]);
/* "0000000f" or "1,00000000": words of 32 bits, the highest first. */
void emu_cpumask_format(const struct emu_machine *machine, emu_cpu_test *has, int key,
                        char text[EMU_CPULIST_SIZE]);

#endif
