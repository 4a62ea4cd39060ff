/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Model-specific registers, those that power tools use: Intel's (SDM vol. 4) and AMD's from family
 * 17h on (Processor Programming References, "MSRs"); access to them directly and through msr_safe.
 */
#include "config.h"

#include "msr.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "rapl.h"
#include "states.h"

/* What a register needs to be there. */
enum { INTEL = 1, AMD = 2, RAPL = 4, HWP = 8, UNCORE = 16, STEP_12 = 32, STEP_6 = 64 };

struct msr {
    uint32_t reg;
    int needs;
    /* Its value: what read says, or a field of struct emu_cpu, or the same always. */
    uint64_t (*read)(const struct emu_access *access, uint32_t reg);
    size_t field;
    uint64_t constant;
    /* Its lever: the bits that may be set (hardware: #GP for others), and who takes the value. */
    uint64_t writable;
    void (*write)(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns);
};

static struct emu_cpu *cpu_of(const struct emu_access *access)
{
    return &access->machine->cpus[access->index];
}

/* --- both vendors --- */

static uint64_t read_tsc(const struct emu_access *access, uint32_t reg)
{
    (void)reg;
    const struct emu_machine *machine = access->machine;
    return (uint64_t)((double)(access->now_ns - machine->start_ns) * machine->config.base_khz *
                      1e-6);
}

/* RAPL's units: time 2^-10 s, energy as configured, power 2^-3 W. */
static uint64_t read_rapl_unit(const struct emu_access *access, uint32_t reg)
{
    (void)reg;
    return 0xa0003 | (uint64_t)access->machine->config.rapl_energy_unit << 8;
}

/* AMD's core counter is of this CPU's core alone, not of the package's cores together. */
static uint64_t read_energy(const struct emu_access *access, uint32_t reg)
{
    enum emu_domain domain = reg == 0x619        ? EMU_DRAM
                             : reg == 0x639      ? EMU_CORE
                             : reg == 0x64d      ? EMU_PLATFORM
                             : reg == 0xc001029a ? EMU_ONE_CORE
                                                 : EMU_PACKAGE;
    int index = domain == EMU_ONE_CORE ? cpu_of(access)->core : cpu_of(access)->package;
    return emu_rapl_counter(access->machine, domain, index, access->now_ns);
}

/* --- Intel --- */

static uint64_t read_ratios(const struct emu_access *access, uint32_t reg)
{
    const struct emu_config *config = &access->machine->config;
    uint64_t lowest = emu_pstate_ratio(config->pstate_min_khz);
    uint64_t base = emu_pstate_ratio(config->base_khz);
    uint64_t highest = emu_pstate_ratio(config->pstate_max_khz);
    switch (reg) {
    case 0x0ce: /* PLATFORM_INFO */
        return lowest << 40 | base << 8;
    case 0x198: /* PERF_STATUS */
        return (uint64_t)emu_pstate_ratio((int)emu_pstate_khz(access->machine, access->index)) << 8;
    case 0x1ad: /* TURBO_RATIO_LIMIT: the same for any number of active cores */
        return UINT64_C(0x0101010101010101) * highest;
    default: /* HWP_CAPABILITIES: highest, guaranteed, most efficient, lowest */
        return lowest << 24 | lowest << 16 | base << 8 | highest;
    }
}

static uint64_t read_uncore(const struct emu_access *access, uint32_t reg)
{
    return reg == 0x620 ? emu_uncore_limits(access->machine, access->index)
                        : emu_uncore_khz(access->machine, access->index) / EMU_RATIO_KHZ;
}

/* PKG_POWER_LIMIT: the TDP, enabled, and locked: read-only until reset, because no limit is
   enforced here.  PKG_POWER_INFO: the TDP. */
static uint64_t read_package_power(const struct emu_access *access, uint32_t reg)
{
    uint64_t tdp = (uint64_t)(access->machine->config.tdp_w * 8);
    return reg == 0x610 ? UINT64_C(1) << 63 | UINT64_C(1) << 15 | tdp : tdp;
}

#define FIELD(name) .field = offsetof(struct emu_cpu, name)

static const struct msr registers[] = {
    {0x010, .read = read_tsc},
    {0x017, INTEL, .constant = 0},                   /* PLATFORM_ID */
    {0x08b, INTEL, .constant = UINT64_C(0x1) << 32}, /* microcode revision */
    {0x08b, AMD, .constant = 0x0a0011d1},
    {0x0ce, INTEL, .read = read_ratios},
    {0x198, INTEL, .read = read_ratios},
    {0x199, INTEL, FIELD(perf_ctl), .writable = 0x10000ffff, .write = emu_pstate_write_perf_ctl},
    {0x19a, INTEL | STEP_12, FIELD(clock_modulation), .writable = 0x1e, .write = emu_tstate_write},
    {0x19a, INTEL | STEP_6, FIELD(clock_modulation), .writable = 0x1f, .write = emu_tstate_write},
    {0x19c, INTEL, .constant = 0x88000000 | 45u << 16}, /* THERM_STATUS: 45 K below the limit */
    /* MISC_ENABLE of a Skylake server at reset: fast strings, thermal control, performance
       monitoring, Enhanced SpeedStep, no XD disable */
    {0x1a0, INTEL, .constant = 0x850089},
    {0x1a2, INTEL, .constant = 100u << 16}, /* TEMPERATURE_TARGET: 100 degrees */
    {0x1ad, INTEL, .read = read_ratios},
    {0x1ae, INTEL, .constant = UINT64_C(0x0807060504030201)}, /* its core counts */
    {0x1b0, INTEL, .constant = 6},                            /* ENERGY_PERF_BIAS: balanced */
    {0x1b1, INTEL, .constant = 0x88000000 | 40u << 16},       /* PACKAGE_THERM_STATUS */
    {0x606, INTEL | RAPL, .read = read_rapl_unit},
    {0x610, INTEL | RAPL, .read = read_package_power},
    {0x611, INTEL | RAPL, .read = read_energy},
    {0x613, INTEL | RAPL, .constant = 0}, /* time throttled by RAPL: no limit is enforced */
    {0x614, INTEL | RAPL, .read = read_package_power},
    {0x618, INTEL | RAPL, .constant = UINT64_C(1) << 31}, /* DRAM limit: none, locked */
    {0x619, INTEL | RAPL, .read = read_energy},
    {0x61b, INTEL | RAPL, .constant = 0},
    {0x61c, INTEL | RAPL, .constant = 0},
    {0x620, INTEL | UNCORE, .read = read_uncore, .writable = 0x7f7f, .write = emu_uncore_write},
    {0x621, INTEL | UNCORE, .read = read_uncore},
    {0x638, INTEL | RAPL, .constant = UINT64_C(1) << 31}, /* core limit: none, locked */
    {0x639, INTEL | RAPL, .read = read_energy},
    {0x64d, INTEL | RAPL, .read = read_energy},
    {0x770, INTEL | HWP, .constant = 1}, /* HWP enabled */
    {0x770, INTEL, .constant = 0},
    {0x771, INTEL | HWP, .read = read_ratios},
    {0x774, INTEL | HWP, FIELD(hwp_request), .writable = UINT64_MAX,
     .write = emu_pstate_write_hwp_request},
    /* HWCR, boost not disabled.  No Intel machine has it, but likwid's frequency tools ask the real
       CPU by CPUID who made it, and give up on AMD hosts if this cannot be read. */
    {0xc0010015, .constant = 0},
    {0xc0010299, AMD | RAPL, .read = read_rapl_unit},
    {0xc001029a, AMD | RAPL, .read = read_energy},
    {0xc001029b, AMD | RAPL, .read = read_energy},
};
enum { REGISTERS = sizeof registers / sizeof registers[0] };

/* --- access --- */

/* NULL: no such register on this machine. */
static const struct msr *find(const struct emu_machine *machine, uint32_t reg)
{
    const struct emu_config *config = &machine->config;
    int has = (config->cpu_vendor == EMU_VENDOR_AMD ? AMD : INTEL) | (config->rapl ? RAPL : 0) |
              (config->hwp ? HWP : 0) | (config->uncore != EMU_UNCORE_NONE ? UNCORE : 0) |
              (config->tstate_step == EMU_STEP_6_25 ? STEP_6 : STEP_12);
    for (int i = 0; i < REGISTERS; i++) {
        if (registers[i].reg == reg && (registers[i].needs & ~has) == 0) {
            return &registers[i];
        }
    }
    return NULL;
}

static uint64_t *field_of(const struct msr *msr, const struct emu_access *access)
{
    return (uint64_t *)((char *)cpu_of(access) + msr->field);
}

int emu_msr_read(const struct emu_access *access, uint32_t reg, uint64_t *value)
{
    const struct msr *msr = find(access->machine, reg);
    if (msr == NULL) {
        return EIO;
    }
    *value = msr->read != NULL ? msr->read(access, reg)
             : msr->field != 0 ? *field_of(msr, access)
                               : msr->constant;
    return 0;
}

int emu_msr_write(const struct emu_access *access, uint32_t reg, uint64_t value)
{
    const struct msr *msr = find(access->machine, reg);
    if (msr == NULL || msr->write == NULL || (value & ~msr->writable) != 0) {
        return EIO;
    }
    msr->write(access->machine, access->index, value, access->now_ns);
    return 0;
}

static const struct emu_msr_rule *rule_of(const struct emu_machine *machine, uint32_t reg)
{
    for (int i = 0; i < machine->config.msr_safe_count; i++) {
        if (machine->config.msr_safe_allow[i].reg == reg) {
            return &machine->config.msr_safe_allow[i];
        }
    }
    return NULL;
}

int emu_msr_safe_read(const struct emu_access *access, uint32_t reg, uint64_t *value)
{
    return rule_of(access->machine, reg) == NULL ? EACCES : emu_msr_read(access, reg, value);
}

int emu_msr_safe_write(const struct emu_access *access, uint32_t reg, uint64_t *value)
{
    const struct emu_msr_rule *rule = rule_of(access->machine, reg);
    uint64_t current;
    if (rule == NULL || rule->write_mask == 0) {
        return EACCES;
    }
    int error = emu_msr_read(access, reg, &current);
    if (error != 0) {
        return error;
    }
    *value = (current & ~rule->write_mask) | (*value & rule->write_mask);
    return emu_msr_write(access, reg, *value);
}

/* --- the trace --- */

static void trace(const struct emu_access *access, uint32_t reg, uint64_t value)
{
    char lever[24], text[24];
    snprintf(lever, sizeof lever, "msr:0x%" PRIx32, reg);
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    emu_access_trace(access, lever, text);
}

void emu_msr_trace_all(const struct emu_access *access)
{
    struct emu_access one = *access;
    uint64_t value;
    for (int i = 0; i < REGISTERS; i++) {
        const struct msr *msr = &registers[i];
        if (msr->write == NULL || find(access->machine, msr->reg) != msr) {
            continue;
        }
        for (one.index = 0; one.index < access->machine->cpu_count; one.index++) {
            if (emu_msr_read(&one, msr->reg, &value) == 0) {
                trace(&one, msr->reg, value);
            }
        }
    }
}

/* --- devices: the offset is the register's number --- */

enum { DIRECT, SAFE };

static int read_device(const struct emu_access *access, uint32_t reg, union emu_datum *datum)
{
    return (access->file->kind == SAFE ? emu_msr_safe_read : emu_msr_read)(access, reg,
                                                                           &datum->value);
}

static int write_device(const struct emu_access *access, uint32_t reg, const union emu_datum *datum)
{
    uint64_t value = datum->value;
    int error = access->file->kind == SAFE ? emu_msr_safe_write(access, reg, &value)
                                           : emu_msr_write(access, reg, value);
    if (error != 0) {
        char text[48];
        snprintf(text, sizeof text, "0x%" PRIx64 " (register 0x%" PRIx32 ")", value, reg);
        return emu_access_refuse(access, text, error);
    }
    trace(access, reg, value);
    return 0;
}

#define DEVICE                                                                                     \
    .registers = true, .size = sizeof(uint64_t), .read = read_device, .write = write_device

static const struct emu_file direct[] = {{"msr", 0600, .kind = DIRECT, .rawio = true, DEVICE}, {0}};
static const struct emu_file safe[] = {{"msr_safe", 0666, .kind = SAFE, DEVICE}, {0}};

void emu_msr_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        int folder = emu_tree_folder(tree, 0, "dev/cpu/%d", cpu);
        emu_tree_files(tree, folder, direct, cpu, machine->config.msr_mode);
        if (machine->config.msr_safe_count > 0) {
            emu_tree_files(tree, folder, safe, cpu, -1);
        }
    }
}
