/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Model-specific registers: access to them, directly and through msr_safe.
 */
#include "config.h"

#include "msr.h"

#include <errno.h>

#include "msr_registers.h"
#include "rapl.h"
#include "trace.h"

uint64_t emu_msr_read_tsc(const struct emu_access *access)
{
    const struct emu_machine *machine = access->machine;
    double khz = machine->config.base_khz;
    return (uint64_t)((double)(access->now_ns - machine->start_ns) * khz * 1e-6);
}

uint64_t emu_msr_read_mperf(const struct emu_access *access)
{
    emu_machine_charge_core(access->machine, emu_msr_cpu(access)->core, access->now_ns);
    return (uint64_t)emu_msr_cpu(access)->mperf;
}

uint64_t emu_msr_read_aperf(const struct emu_access *access)
{
    emu_machine_charge_core(access->machine, emu_msr_cpu(access)->core, access->now_ns);
    return (uint64_t)emu_msr_cpu(access)->aperf;
}

uint64_t emu_msr_read_rapl_unit(const struct emu_access *access)
{
    return 0xa0003 | (uint64_t)access->machine->config.rapl_energy_unit << 8;
}

uint64_t emu_msr_read_package_energy(const struct emu_access *access)
{
    return emu_rapl_counter(access->machine, EMU_PACKAGE, emu_msr_cpu(access)->package,
                            access->now_ns);
}

static const struct emu_msr_table *table_of(const struct emu_machine *machine)
{
    return machine->config.cpu_vendor == EMU_VENDOR_AMD ? &emu_msr_amd : &emu_msr_intel;
}

/* NULL: no such register on this machine. */
static const struct emu_msr *find(const struct emu_machine *machine, uint32_t reg)
{
    const struct emu_config *config = &machine->config;
    const struct emu_msr_table *table = table_of(machine);
    for (size_t i = 0; i < table->count; i++) {
        const struct emu_msr *msr = &table->registers[i];
        if (msr->reg == reg) {
            bool absent = (msr->rapl && !config->rapl) || (msr->hwp && !config->hwp) ||
                          (msr->uncore && config->uncore == EMU_UNCORE_NONE);
            return absent ? NULL : msr;
        }
    }
    return NULL;
}

int emu_msr_read(const struct emu_access *access, uint32_t reg, uint64_t *value)
{
    const struct emu_msr *msr = find(access->machine, reg);
    if (msr == NULL) {
        return EIO;
    }
    *value = msr->read != NULL       ? msr->read(access)
             : msr->read_nth != NULL ? msr->read_nth(access, msr->nth)
                                     : msr->constant;
    return 0;
}

int emu_msr_write(const struct emu_access *access, uint32_t reg, uint64_t value)
{
    const struct emu_msr *msr = find(access->machine, reg);
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

bool emu_msr_traced(const struct emu_machine *machine, uint32_t reg)
{
    const struct emu_msr *msr = find(machine, reg);
    return msr != NULL && msr->traced;
}

void emu_msr_trace_start(const struct emu_access *access, struct emu_csv *trace)
{
    const struct emu_msr_table *table = table_of(access->machine);
    for (size_t i = 0; i < table->count; i++) {
        const struct emu_msr *msr = &table->registers[i];
        for (int cpu = 0; msr->traced && cpu < access->machine->cpu_count; cpu++) {
            struct emu_access one = *access;
            uint64_t value;
            one.index = cpu;
            if (emu_msr_read(&one, msr->reg, &value) == 0) {
                emu_trace_msr(trace, access->now_ns, cpu, msr->reg, value, 0);
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
