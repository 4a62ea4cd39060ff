/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Model-specific registers (Intel SDM vol. 4), those that power tools use.
 */
#include "config.h"

#include "msr.h"

#include <errno.h>
#include <string.h>

#include "pstate.h"
#include "rapl.h"
#include "trace.h"
#include "tstate.h"

struct msr {
    uint32_t reg;
    /* NULL: the register always reads as constant */
    uint64_t (*read)(const struct emu_access *access);
    uint64_t constant;
    /* NULL: read-only, a write fails as in hardware */
    int (*write)(const struct emu_access *access, uint64_t value);
    bool traced;
    bool rapl; /* absent on machines without RAPL */
};

static struct emu_cpu *cpu_of(const struct emu_access *access)
{
    return &access->machine->cpus[access->index];
}

static uint64_t ratio_repeated(uint64_t ratio)
{
    uint64_t all = 0;
    for (int byte = 0; byte < 8; byte++) {
        all |= ratio << (8 * byte);
    }
    return all;
}

static uint64_t read_tsc(const struct emu_access *access)
{
    const struct emu_machine *machine = access->machine;
    double khz = machine->config.base_khz;
    return (uint64_t)((double)(access->now_ns - machine->start_ns) * khz * 1e-6);
}

static uint64_t read_mperf(const struct emu_access *access)
{
    emu_machine_charge_core(access->machine, cpu_of(access)->core, access->now_ns);
    return (uint64_t)cpu_of(access)->mperf;
}

static uint64_t read_aperf(const struct emu_access *access)
{
    emu_machine_charge_core(access->machine, cpu_of(access)->core, access->now_ns);
    return (uint64_t)cpu_of(access)->aperf;
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
    return (uint64_t)emu_pstate_ratio(cpu_of(access)->target_khz) << 8;
}

static int write_perf_ctl(const struct emu_access *access, uint64_t value)
{
    return emu_pstate_write_perf_ctl(access->machine, access->index, value, access->now_ns);
}

static uint64_t read_clock_modulation(const struct emu_access *access)
{
    return cpu_of(access)->clock_modulation;
}

static int write_clock_modulation(const struct emu_access *access, uint64_t value)
{
    return emu_tstate_write(access->machine, access->index, value, access->now_ns);
}

static uint64_t read_misc_enable(const struct emu_access *access)
{
    return cpu_of(access)->misc_enable;
}

static int write_misc_enable(const struct emu_access *access, uint64_t value)
{
    cpu_of(access)->misc_enable = value;
    return 0;
}

static uint64_t read_energy_bias(const struct emu_access *access)
{
    return cpu_of(access)->energy_bias;
}

static int write_energy_bias(const struct emu_access *access, uint64_t value)
{
    if (value > 0xf) {
        return EIO;
    }
    cpu_of(access)->energy_bias = value;
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
    return cpu_of(access)->hwp_request;
}

static int write_hwp_request(const struct emu_access *access, uint64_t value)
{
    return emu_pstate_write_hwp_request(access->machine, access->index, value, access->now_ns);
}

/* RAPL_POWER_UNIT: time 2^-10 s, energy as configured, power 2^-3 W. */
static uint64_t read_rapl_unit(const struct emu_access *access)
{
    return 0xa0003 | (uint64_t)access->machine->config.rapl_energy_unit << 8;
}

static uint64_t energy(const struct emu_access *access, enum emu_domain domain)
{
    return emu_rapl_counter(access->machine, domain, cpu_of(access)->package, access->now_ns);
}

static uint64_t read_package_energy(const struct emu_access *access)
{
    return energy(access, EMU_PACKAGE);
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

static const struct msr registers[] = {
    {0x010, .read = read_tsc},
    {0x017, .constant = 0},                   /* PLATFORM_ID */
    {0x08b, .constant = UINT64_C(0x1) << 32}, /* microcode revision */
    {0x0ce, .read = read_platform_info},
    {0x0e7, .read = read_mperf},
    {0x0e8, .read = read_aperf},
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
    {0x606, .read = read_rapl_unit, .rapl = true},
    {0x610, .read = read_package_limit, .rapl = true},
    {0x611, .read = read_package_energy, .rapl = true},
    {0x613, .constant = 0, .rapl = true}, /* time throttled by RAPL: no limit is enforced */
    {0x614, .read = read_package_info, .rapl = true},
    {0x618, .constant = UINT64_C(1) << 31, .rapl = true}, /* DRAM limit: none, locked */
    {0x619, .read = read_dram_energy, .rapl = true},
    {0x61b, .constant = 0, .rapl = true},
    {0x61c, .constant = 0, .rapl = true},
    {0x638, .constant = UINT64_C(1) << 31, .rapl = true}, /* core limit: none, locked */
    {0x639, .read = read_core_energy, .rapl = true},
    {0x64d, .read = read_platform_energy, .rapl = true},
    {0x770, .read = read_hwp_enable},
    {0x771, .read = read_hwp_capabilities},
    {0x774, .read = read_hwp_request, .write = write_hwp_request, .traced = true},
    /* AMD's HWCR, boost not disabled.  No Intel machine has it, but likwid's frequency tools ask
       the real CPU by CPUID who made it, and give up on AMD hosts if this cannot be read. */
    {0xc0010015, .constant = 0},
};

/* NULL: no such register on this machine. */
static const struct msr *find(const struct emu_machine *machine, uint32_t reg)
{
    const struct emu_config *config = &machine->config;
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        const struct msr *msr = &registers[i];
        if (msr->reg == reg) {
            bool hwp_only = reg == 0x771 || reg == 0x774;
            return (msr->rapl && !config->rapl) || (hwp_only && !config->hwp) ? NULL : msr;
        }
    }
    return NULL;
}

int emu_msr_read(const struct emu_access *access, uint32_t reg, uint64_t *value)
{
    const struct msr *msr = find(access->machine, reg);
    if (msr == NULL) {
        return EIO;
    }
    *value = msr->read != NULL ? msr->read(access) : msr->constant;
    return 0;
}

int emu_msr_write(const struct emu_access *access, uint32_t reg, uint64_t value)
{
    const struct msr *msr = find(access->machine, reg);
    return msr == NULL || msr->write == NULL ? EIO : msr->write(access, value);
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

bool emu_msr_traced(uint32_t reg)
{
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        if (registers[i].reg == reg) {
            return registers[i].traced;
        }
    }
    return false;
}

void emu_msr_trace_start(const struct emu_access *access, struct emu_csv *trace)
{
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        for (int cpu = 0; registers[i].traced && cpu < access->machine->cpu_count; cpu++) {
            struct emu_access one = *access;
            uint64_t value;
            one.index = cpu;
            if (emu_msr_read(&one, registers[i].reg, &value) == 0) {
                emu_trace_msr(trace, access->now_ns, cpu, registers[i].reg, value, 0);
            }
        }
    }
}

void emu_msr_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    const struct emu_config *config = &machine->config;
    int parent = emu_tree_path(tree, "dev/cpu");
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        char name[16];
        snprintf(name, sizeof name, "%d", cpu);
        int folder = emu_tree_folder(tree, parent, name);
        if (config->msr) {
            emu_tree_device(tree, folder, "msr", EMU_NODE_MSR, (mode_t)config->msr_mode, cpu);
        }
        if (config->msr_safe) {
            emu_tree_device(tree, folder, "msr_safe", EMU_NODE_MSR_SAFE,
                            (mode_t)config->msr_safe_mode, cpu);
        }
    }
}
