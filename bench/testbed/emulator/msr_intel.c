/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Registers of Intel processors (Intel SDM vol. 4), those that power tools use.
 */
#include "config.h"

#include <errno.h>

#include "msr_registers.h"
#include "pstate.h"
#include "rapl.h"
#include "tstate.h"
#include "uncore.h"

static uint64_t ratio_repeated(uint64_t ratio)
{
    uint64_t all = 0;
    for (int byte = 0; byte < 8; byte++) {
        all |= ratio << (8 * byte);
    }
    return all;
}

/* PLATFORM_INFO: lowest ratio in 47:40, base ratio in 15:8. */
static uint64_t read_platform_info(const struct emu_access *access)
{
    const struct emu_config *config = &access->machine->config;
    uint64_t lowest = emu_pstate_ratio((uint32_t)config->pstate_min_khz);
    uint64_t base = emu_pstate_ratio((uint32_t)config->base_khz);
    return lowest << 40 | base << 8;
}

static uint64_t read_turbo_limit(const struct emu_access *access)
{
    return ratio_repeated(emu_pstate_ratio((uint32_t)access->machine->config.pstate_max_khz));
}

static uint64_t read_perf_status(const struct emu_access *access)
{
    return (uint64_t)emu_pstate_ratio(emu_pstate_khz(access->machine, access->index)) << 8;
}

static uint64_t read_perf_ctl(const struct emu_access *access)
{
    return emu_msr_cpu(access)->perf_ctl;
}

static int write_perf_ctl(const struct emu_access *access, uint64_t value)
{
    return emu_pstate_write_perf_ctl(access->machine, access->index, value, access->now_ns);
}

static uint64_t read_clock_modulation(const struct emu_access *access)
{
    return emu_msr_cpu(access)->clock_modulation;
}

static int write_clock_modulation(const struct emu_access *access, uint64_t value)
{
    return emu_tstate_write(access->machine, access->index, value, access->now_ns);
}

static uint64_t read_misc_enable(const struct emu_access *access)
{
    return emu_msr_cpu(access)->misc_enable;
}

static int write_misc_enable(const struct emu_access *access, uint64_t value)
{
    emu_msr_cpu(access)->misc_enable = value;
    return 0;
}

static uint64_t read_energy_bias(const struct emu_access *access)
{
    return emu_msr_cpu(access)->energy_bias;
}

static int write_energy_bias(const struct emu_access *access, uint64_t value)
{
    if (value > 0xf) {
        return EIO;
    }
    emu_msr_cpu(access)->energy_bias = value;
    return 0;
}

static uint64_t read_hwp_enable(const struct emu_access *access)
{
    return access->machine->config.hwp != 0;
}

/* HWP_CAPABILITIES: highest, guaranteed, most efficient, lowest. */
static uint64_t read_hwp_capabilities(const struct emu_access *access)
{
    const struct emu_config *config = &access->machine->config;
    uint64_t lowest = emu_pstate_ratio((uint32_t)config->pstate_min_khz);
    uint64_t base = emu_pstate_ratio((uint32_t)config->base_khz);
    uint64_t highest = emu_pstate_ratio((uint32_t)config->pstate_max_khz);
    return lowest << 24 | lowest << 16 | base << 8 | highest;
}

static uint64_t read_hwp_request(const struct emu_access *access)
{
    return emu_msr_cpu(access)->hwp_request;
}

static int write_hwp_request(const struct emu_access *access, uint64_t value)
{
    return emu_pstate_write_hwp_request(access->machine, access->index, value, access->now_ns);
}

static uint64_t energy(const struct emu_access *access, enum emu_domain domain)
{
    return emu_rapl_counter(access->machine, domain, emu_msr_cpu(access)->package, access->now_ns);
}

static uint64_t read_core_energy(const struct emu_access *access)
{
    return energy(access, EMU_CORE);
}

static uint64_t read_dram_energy(const struct emu_access *access)
{
    return energy(access, EMU_DRAM);
}

static uint64_t read_platform_energy(const struct emu_access *access)
{
    return energy(access, EMU_PLATFORM);
}

static uint64_t read_package_info(const struct emu_access *access)
{
    return (uint64_t)(access->machine->config.tdp_w * 8); /* thermal design power */
}

/* The TDP, enabled, and locked: read-only until reset, because no limit is enforced here. */
static uint64_t read_package_limit(const struct emu_access *access)
{
    return UINT64_C(1) << 63 | UINT64_C(1) << 15 | read_package_info(access);
}

static uint64_t read_uncore_limits(const struct emu_access *access)
{
    return access->machine->packages[emu_msr_cpu(access)->package].uncore_limits;
}

static int write_uncore_limits(const struct emu_access *access, uint64_t value)
{
    return emu_uncore_write(access->machine, emu_msr_cpu(access)->package, value, access->now_ns);
}

static uint64_t read_uncore_status(const struct emu_access *access)
{
    return emu_uncore_khz(access->machine, emu_msr_cpu(access)->package) / EMU_RATIO_KHZ;
}

static const struct emu_msr registers[] = {
    {0x010, .read = emu_msr_read_tsc},
    {0x017, .constant = 0},                   /* PLATFORM_ID */
    {0x08b, .constant = UINT64_C(0x1) << 32}, /* microcode revision */
    {0x0ce, .read = read_platform_info},
    {0x0e7, .read = emu_msr_read_mperf},
    {0x0e8, .read = emu_msr_read_aperf},
    {0x198, .read = read_perf_status},
    {0x199, .read = read_perf_ctl, .write = write_perf_ctl, .traced = true},
    {0x19a, .read = read_clock_modulation, .write = write_clock_modulation, .traced = true},
    {0x19c, .constant = 0x88000000 | 45u << 16}, /* THERM_STATUS: valid, 45 K below the limit */
    {0x1a0, .read = read_misc_enable, .write = write_misc_enable, .traced = true},
    {0x1a2, .constant = 100u << 16}, /* TEMPERATURE_TARGET: 100 degrees */
    {0x1ad, .read = read_turbo_limit},
    {0x1ae, .constant = UINT64_C(0x0807060504030201)}, /* core counts of TURBO_RATIO_LIMIT */
    {0x1b0, .read = read_energy_bias, .write = write_energy_bias, .traced = true},
    {0x1b1, .constant = 0x88000000 | 40u << 16}, /* PACKAGE_THERM_STATUS */
    {0x606, .read = emu_msr_read_rapl_unit, .rapl = true},
    {0x610, .read = read_package_limit, .rapl = true},
    {0x611, .read = emu_msr_read_package_energy, .rapl = true},
    {0x613, .constant = 0, .rapl = true}, /* time throttled by RAPL: no limit is enforced */
    {0x614, .read = read_package_info, .rapl = true},
    {0x618, .constant = UINT64_C(1) << 31, .rapl = true}, /* DRAM limit: none, locked */
    {0x619, .read = read_dram_energy, .rapl = true},
    {0x61b, .constant = 0, .rapl = true},
    {0x61c, .constant = 0, .rapl = true},
    {0x620, .read = read_uncore_limits, .write = write_uncore_limits, .traced = true,
     .uncore = true},
    {0x621, .read = read_uncore_status, .uncore = true},
    {0x638, .constant = UINT64_C(1) << 31, .rapl = true}, /* core limit: none, locked */
    {0x639, .read = read_core_energy, .rapl = true},
    {0x64d, .read = read_platform_energy, .rapl = true},
    {0x770, .read = read_hwp_enable},
    {0x771, .read = read_hwp_capabilities, .hwp = true},
    {0x774, .read = read_hwp_request, .write = write_hwp_request, .traced = true, .hwp = true},
    /* AMD's HWCR, boost not disabled.  No Intel machine has it, but likwid's frequency tools ask
       the real CPU by CPUID who made it, and give up on AMD hosts if this cannot be read. */
    {0xc0010015, .constant = 0},
};

const struct emu_msr_table emu_msr_intel = {registers, sizeof registers / sizeof registers[0]};
