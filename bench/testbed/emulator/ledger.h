/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * ledger.csv: the emulator's own account of energy, exact where RAPL's counters are coarse.
 */
#ifndef EMU_LEDGER_H
#define EMU_LEDGER_H

#include "csv_file.h"
#include "machine.h"

struct emu_ledger {
    struct emu_csv csv;
    uint64_t interval_ns;
    uint64_t next_ns;
};

/* One line of the account, taken under the machine's lock and written after it is released. */
struct emu_ledger_entry {
    uint64_t t_ns;
    int packages;
    double package_j[EMU_MAX_PACKAGES], core_j[EMU_MAX_PACKAGES], dram_j[EMU_MAX_PACKAGES];
    double platform_j;
};

int emu_ledger_open(struct emu_ledger *ledger, const char *directory, int interval_ms,
                    uint64_t now_ns);
bool emu_ledger_due(const struct emu_ledger *ledger, uint64_t now_ns);
/* The machine must have been charged until now_ns. */
void emu_ledger_take(const struct emu_machine *machine, uint64_t now_ns,
                     struct emu_ledger_entry *entry);
void emu_ledger_write(struct emu_ledger *ledger, const struct emu_ledger_entry *entry);

#endif
