/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * ledger.csv: the emulator's own account of energy.
 */
#include "config.h"

#include "ledger.h"

#include <inttypes.h>

#include "rapl.h"

int emu_ledger_open(struct emu_ledger *ledger, const char *directory, int interval_ms,
                    uint64_t now_ns)
{
    ledger->interval_ns = (uint64_t)interval_ms * 1000000;
    ledger->next_ns = now_ns;
    return emu_csv_open(&ledger->csv, directory, "ledger.csv",
                        "t_ns,package,package_j,core_j,dram_j,platform_j");
}

bool emu_ledger_due(const struct emu_ledger *ledger, uint64_t now_ns)
{
    return now_ns >= ledger->next_ns;
}

void emu_ledger_take(const struct emu_machine *machine, uint64_t now_ns,
                     struct emu_ledger_entry *entry)
{
    entry->t_ns = now_ns;
    entry->packages = machine->config.packages;
    for (int i = 0; i < entry->packages; i++) {
        entry->package_j[i] = emu_rapl_exact_j(machine, EMU_PACKAGE, i, now_ns);
        entry->core_j[i] = emu_rapl_exact_j(machine, EMU_CORE, i, now_ns);
        entry->dram_j[i] = emu_rapl_exact_j(machine, EMU_DRAM, i, now_ns);
    }
    entry->platform_j = emu_rapl_exact_j(machine, EMU_PLATFORM, 0, now_ns);
}

void emu_ledger_write(struct emu_ledger *ledger, const struct emu_ledger_entry *entry)
{
    for (int i = 0; i < entry->packages; i++) {
        char platform[32] = "";
        if (i == 0) {
            snprintf(platform, sizeof platform, "%.6f", entry->platform_j);
        }
        emu_csv_line(&ledger->csv, "%" PRIu64 ",%d,%.6f,%.6f,%.6f,%s", entry->t_ns, i,
                     entry->package_j[i], entry->core_j[i], entry->dram_j[i], platform);
    }
    while (ledger->next_ns <= entry->t_ns) {
        ledger->next_ns += ledger->interval_ns;
    }
}
