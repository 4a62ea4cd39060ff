/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: requests and the frequency that comes of them.
 */
#include "config.h"

#include "pstate.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t clamp(uint32_t khz, uint32_t low, uint32_t high)
{
    return khz < low ? low : khz > high ? high : khz;
}

static uint32_t hardware_clamp(const struct emu_config *config, uint32_t khz)
{
    return clamp(khz, (uint32_t)config->pstate_min_khz, (uint32_t)config->pstate_max_khz);
}

/* CPUFREQ_RELATION_H: the highest P-state not above khz. */
static uint32_t pick_at_most(const struct emu_config *config, uint32_t khz)
{
    if (config->pstate_count == 0) {
        return hardware_clamp(config, khz - khz % EMU_RATIO_KHZ);
    }
    uint32_t best = config->pstates_khz[0];
    for (int i = 0; i < config->pstate_count && config->pstates_khz[i] <= khz; i++) {
        best = config->pstates_khz[i];
    }
    return best;
}

/* CPUFREQ_RELATION_L: the lowest P-state not below khz. */
static uint32_t pick_at_least(const struct emu_config *config, uint32_t khz)
{
    if (config->pstate_count == 0) {
        uint32_t up = khz + EMU_RATIO_KHZ - 1;
        return hardware_clamp(config, up - up % EMU_RATIO_KHZ);
    }
    int i = 0;
    while (i < config->pstate_count - 1 && config->pstates_khz[i] < khz) {
        i++;
    }
    return config->pstates_khz[i];
}

static uint32_t pick_nearest(const struct emu_config *config, uint32_t khz)
{
    uint32_t above = pick_at_least(config, khz);
    uint32_t below = pick_at_most(config, khz);
    return labs((long)above - (long)khz) < labs((long)khz - (long)below) ? above : below;
}

unsigned emu_pstate_ratio(uint32_t khz)
{
    return (khz + EMU_RATIO_KHZ / 2) / EMU_RATIO_KHZ;
}

uint32_t emu_pstate_khz(const struct emu_machine *machine, int cpu)
{
    const struct emu_config *config = &machine->config;
    uint32_t khz = machine->cpus[cpu].target_khz;
    if (config->pstate_scope == EMU_SCOPE_CORE && config->smt == 1) {
        return khz;
    }
    /* a core has one clock, whatever the scope of requests */
    int scope = config->pstate_scope == EMU_SCOPE_THREAD ? EMU_SCOPE_CORE : config->pstate_scope;
    for (int other = 0; other < machine->cpu_count; other++) {
        if (emu_machine_same_scope(machine, cpu, other, scope) &&
            machine->cpus[other].target_khz > khz) {
            khz = machine->cpus[other].target_khz;
        }
    }
    return khz;
}

uint32_t emu_pstate_max_khz(const struct emu_machine *machine, int cpu)
{
    return hardware_clamp(&machine->config, machine->cpus[cpu].max_request_khz);
}

uint32_t emu_pstate_min_khz(const struct emu_machine *machine, int cpu)
{
    uint32_t max = emu_pstate_max_khz(machine, cpu);
    uint32_t min = hardware_clamp(&machine->config, machine->cpus[cpu].min_request_khz);
    return min < max ? min : max;
}

/* What the governor makes of its limits while its CPU is busy.  The load-following governors run
   at the maximum then; what they do on an idle CPU does not matter, it draws core_idle_w. */
static uint32_t governed_khz(const struct emu_machine *machine, int cpu)
{
    const struct emu_config *config = &machine->config;
    uint32_t min = emu_pstate_min_khz(machine, cpu);
    uint32_t max = emu_pstate_max_khz(machine, cpu);
    switch (machine->cpus[cpu].governor) {
    case EMU_GOV_USERSPACE: {
        uint32_t wish = pick_at_least(config, clamp(machine->cpus[cpu].setspeed_khz, min, max));
        return wish <= max ? wish : pick_at_most(config, max);
    }
    case EMU_GOV_POWERSAVE:
        if (config->driver != EMU_DRIVER_INTEL_PSTATE) {
            uint32_t lowest = pick_at_least(config, min);
            return lowest <= max ? lowest : pick_at_most(config, max);
        }
        return pick_at_most(config, max); /* intel_pstate's powersave follows the load */
    default:
        return pick_at_most(config, max);
    }
}

void emu_pstate_drive(struct emu_machine *machine, int cpu)
{
    struct emu_cpu *the_cpu = &machine->cpus[cpu];
    the_cpu->target_khz = governed_khz(machine, cpu);
    uint64_t min = emu_pstate_ratio(emu_pstate_min_khz(machine, cpu));
    uint64_t max = emu_pstate_ratio(emu_pstate_max_khz(machine, cpu));
    uint64_t preference = 0x80; /* energy-performance preference: balanced */
    the_cpu->hwp_request = preference << 24 | max << 8 | min;
}

static void charge(struct emu_machine *machine, int cpu, uint64_t now_ns)
{
    emu_machine_charge_scope(machine, cpu, machine->config.pstate_scope, now_ns);
}

void emu_pstate_limit_min(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    charge(machine, cpu, now_ns);
    machine->cpus[cpu].min_request_khz = khz;
    emu_pstate_drive(machine, cpu);
}

void emu_pstate_limit_max(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    charge(machine, cpu, now_ns);
    machine->cpus[cpu].max_request_khz = khz;
    emu_pstate_drive(machine, cpu);
}

void emu_pstate_govern(struct emu_machine *machine, int cpu, int governor, uint64_t now_ns)
{
    charge(machine, cpu, now_ns);
    if (governor == EMU_GOV_USERSPACE && machine->cpus[cpu].governor != governor) {
        machine->cpus[cpu].setspeed_khz = machine->cpus[cpu].target_khz;
    }
    machine->cpus[cpu].governor = governor;
    emu_pstate_drive(machine, cpu);
}

void emu_pstate_set_speed(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    charge(machine, cpu, now_ns);
    machine->cpus[cpu].setspeed_khz = khz;
    emu_pstate_drive(machine, cpu);
}

int emu_pstate_write_perf_ctl(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns)
{
    uint64_t turbo_disengage = UINT64_C(1) << 32;
    if ((value & ~(turbo_disengage | 0xffff)) != 0) {
        return EIO;
    }
    if (!machine->config.hwp) { /* with hardware P-states the register is ignored */
        charge(machine, cpu, now_ns);
        uint32_t khz = (uint32_t)(value >> 8 & 0xff) * EMU_RATIO_KHZ;
        machine->cpus[cpu].target_khz = pick_nearest(&machine->config, khz);
    }
    return 0;
}

int emu_pstate_write_hwp_request(struct emu_machine *machine, int cpu, uint64_t value,
                                 uint64_t now_ns)
{
    uint32_t max = (uint32_t)(value >> 8 & 0xff);
    uint32_t desired = (uint32_t)(value >> 16 & 0xff);
    charge(machine, cpu, now_ns);
    machine->cpus[cpu].hwp_request = value;
    uint32_t ratio = desired != 0 && desired < max ? desired : max;
    machine->cpus[cpu].target_khz = pick_nearest(&machine->config, ratio * EMU_RATIO_KHZ);
    return 0;
}
