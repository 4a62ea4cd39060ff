/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Registers of AMD processors from family 17h on (AMD's Processor Programming References, "MSRs"),
 * those that power tools use.
 */
#include "config.h"

#include "msr_registers.h"
#include "pstate.h"
#include "rapl.h"

/* P-state limit: the slowest there is in 6:4, no limit (the fastest is allowed) in 2:0. */
static uint64_t read_pstate_limit(const struct emu_access *access)
{
    uint32_t khz[EMU_MAX_AMD_PSTATES];
    return (uint64_t)(emu_pstate_amd_list(&access->machine->config, khz) - 1) << 4;
}

static uint64_t read_pstate_command(const struct emu_access *access)
{
    return emu_msr_cpu(access)->pstate_cmd;
}

static int write_pstate_command(const struct emu_access *access, uint64_t value)
{
    return emu_pstate_write_amd_command(access->machine, access->index, value, access->now_ns);
}

static uint64_t read_pstate_status(const struct emu_access *access)
{
    return (uint64_t)emu_pstate_amd_current(access->machine, access->index);
}

/* Enabled in bit 63; the frequency is FID (7:0) / DID (13:8) x 200 MHz, in steps of 25 MHz with the
   divisor 8.  Voltage and current stay 0: nothing here models them. */
static uint64_t read_definition(const struct emu_access *access, int index)
{
    uint32_t khz[EMU_MAX_AMD_PSTATES];
    if (index >= emu_pstate_amd_list(&access->machine->config, khz)) {
        return 0;
    }
    return UINT64_C(1) << 63 | 8u << 8 | (khz[index] + 12500) / 25000;
}

/* Of this CPU's core alone, not of the package's cores together as on Intel. */
static uint64_t read_core_energy(const struct emu_access *access)
{
    return emu_rapl_counter(access->machine, EMU_ONE_CORE, emu_msr_cpu(access)->core,
                            access->now_ns);
}

static const struct emu_msr registers[] = {
    {0x010, .read = emu_msr_read_tsc},
    {0x08b, .constant = 0x0a0011d1}, /* microcode revision */
    {0x0e7, .read = emu_msr_read_mperf},
    {0x0e8, .read = emu_msr_read_aperf},
    {0xc0010015, .constant = 0}, /* HWCR: boost not disabled */
    {0xc0010061, .read = read_pstate_limit},
    {0xc0010062, .read = read_pstate_command, .write = write_pstate_command, .traced = true},
    {0xc0010063, .read = read_pstate_status},
    {0xc0010064, .read_nth = read_definition, .nth = 0},
    {0xc0010065, .read_nth = read_definition, .nth = 1},
    {0xc0010066, .read_nth = read_definition, .nth = 2},
    {0xc0010067, .read_nth = read_definition, .nth = 3},
    {0xc0010068, .read_nth = read_definition, .nth = 4},
    {0xc0010069, .read_nth = read_definition, .nth = 5},
    {0xc001006a, .read_nth = read_definition, .nth = 6},
    {0xc001006b, .read_nth = read_definition, .nth = 7},
    {0xc0010299, .read = emu_msr_read_rapl_unit, .rapl = true},
    {0xc001029a, .read = read_core_energy, .rapl = true},
    {0xc001029b, .read = emu_msr_read_package_energy, .rapl = true},
};

const struct emu_msr_table emu_msr_amd = {registers, sizeof registers / sizeof registers[0]};
