/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The registers each vendor's processors have, and what both have in common.
 */
#ifndef EMU_MSR_REGISTERS_H
#define EMU_MSR_REGISTERS_H

#include <stddef.h>

#include "tree.h"

struct emu_msr {
    uint32_t reg;
    /* of the first that is set; without both the register reads as constant */
    uint64_t (*read)(const struct emu_access *access);
    uint64_t (*read_nth)(const struct emu_access *access, int nth);
    uint64_t constant;
    int nth; /* of a row of like registers */
    /* NULL: read-only, a write fails as in hardware */
    int (*write)(const struct emu_access *access, uint64_t value);
    bool traced;
    bool rapl;   /* absent on machines without RAPL */
    bool hwp;    /* absent on machines without hardware P-states */
    bool uncore; /* absent on machines without uncore frequency limits */
};

struct emu_msr_table {
    const struct emu_msr *registers;
    size_t count;
};

/* By enum emu_vendor (msr_intel.c, msr_amd.c). */
extern const struct emu_msr_table emu_msr_intel, emu_msr_amd;

/* Both vendors (msr.c). */
uint64_t emu_msr_read_tsc(const struct emu_access *access);
uint64_t emu_msr_read_mperf(const struct emu_access *access);
uint64_t emu_msr_read_aperf(const struct emu_access *access);
/* RAPL's units: time 2^-10 s, energy as configured, power 2^-3 W. */
uint64_t emu_msr_read_rapl_unit(const struct emu_access *access);
uint64_t emu_msr_read_package_energy(const struct emu_access *access);

static inline struct emu_cpu *emu_msr_cpu(const struct emu_access *access)
{
    return &access->machine->cpus[access->index];
}

#endif
