/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * RAPL: the machine's energy as readers get to see it, in counts that wrap at 32 bits and move
 * only at multiples of the update interval.
 */
#ifndef EMU_RAPL_H
#define EMU_RAPL_H

#include "machine.h"

/* PACKAGE is its cores, its uncore and what is static, CORE all cores of a package.  The index is
   the package's, of ONE_CORE (AMD) the core's; PLATFORM (psys) is the whole node and needs none. */
enum emu_domain { EMU_PACKAGE, EMU_CORE, EMU_DRAM, EMU_PLATFORM, EMU_ONE_CORE };

/* The exact account, as of the last charge of every core and now_ns for what is static.  Only
   meaningful right after emu_machine_charge_all(now_ns). */
double emu_rapl_exact_j(const struct emu_machine *machine, enum emu_domain domain, int package,
                        uint64_t now_ns);

/* The counter a reader sees at now_ns.  Charges what was charged before the last update. */
uint32_t emu_rapl_counter(struct emu_machine *machine, enum emu_domain domain, int index,
                          uint64_t now_ns);

/* The same in microjoules, and where that wraps to 0 (energy_uj, max_energy_range_uj). */
uint64_t emu_rapl_uj(struct emu_machine *machine, enum emu_domain domain, int index,
                     uint64_t now_ns);
uint64_t emu_rapl_max_uj(const struct emu_machine *machine, enum emu_domain domain);

#endif
