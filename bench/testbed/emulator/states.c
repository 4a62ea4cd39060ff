/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states and T-states: how they are asked for.
 */
#include "config.h"

#include "states.h"

#include <errno.h>
#include <stdlib.h>

/* Bits 31:24 of HWP_REQUEST at reset. */
static const uint64_t energy_preference_balanced = 0x80;

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
    int i = config->pstate_count - 1;
    while (i > 0 && config->pstates_khz[i] > khz) {
        i--;
    }
    return config->pstates_khz[i];
}

/* CPUFREQ_RELATION_L: the lowest P-state not below khz. */
static uint32_t pick_at_least(const struct emu_config *config, uint32_t khz)
{
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

unsigned emu_pstate_ratio(int khz)
{
    return (unsigned)(khz + EMU_RATIO_KHZ / 2) / EMU_RATIO_KHZ;
}

static const struct emu_cpu *policy_of(const struct emu_machine *machine, int cpu)
{
    return &machine->cpus[machine->cpus[cpu].policy];
}

uint32_t emu_pstate_max_khz(const struct emu_machine *machine, int cpu)
{
    return hardware_clamp(&machine->config, policy_of(machine, cpu)->max_request_khz);
}

uint32_t emu_pstate_min_khz(const struct emu_machine *machine, int cpu)
{
    uint32_t max = emu_pstate_max_khz(machine, cpu);
    uint32_t min = hardware_clamp(&machine->config, policy_of(machine, cpu)->min_request_khz);
    return min < max ? min : max;
}

/* What the governor makes of its limits while its CPU is busy.  The load-following governors run
   at the maximum then; what they do on an idle CPU does not matter, it draws core_idle_w. */
static uint32_t governed_khz(const struct emu_machine *machine, int cpu)
{
    const struct emu_config *config = &machine->config;
    uint32_t min = emu_pstate_min_khz(machine, cpu);
    uint32_t max = emu_pstate_max_khz(machine, cpu);
    uint32_t wish = max;
    if (policy_of(machine, cpu)->governor == EMU_GOV_USERSPACE) {
        wish = clamp(policy_of(machine, cpu)->setspeed_khz, min, max);
    } else if (policy_of(machine, cpu)->governor == EMU_GOV_POWERSAVE &&
               !emu_driver_of(config)->active) { /* the drivers' own powersave follows the load */
        wish = min;
    }
    uint32_t khz = pick_at_least(config, wish);
    return khz <= max ? khz : pick_at_most(config, max);
}

/* The frequency hardware P-states choose for a busy CPU: the desired one, or the highest allowed.
 */
static uint32_t hwp_khz(const struct emu_config *config, uint64_t request)
{
    uint32_t min = (uint32_t)(request & 0xff);
    uint32_t max = (uint32_t)(request >> 8 & 0xff);
    uint32_t desired = (uint32_t)(request >> 16 & 0xff);
    uint32_t ratio = desired == 0 ? max : clamp(desired, min < max ? min : max, max);
    return pick_nearest(config, ratio * EMU_RATIO_KHZ);
}

/* The driver writes what it means to and leaves the rest of a register alone.  As a governor's arm
   (passive mode), and for its own governor performance, both limits of HWP_REQUEST are the
   frequency wanted. */
static void drive_registers(struct emu_machine *machine, int cpu, uint32_t governed)
{
    const struct emu_config *config = &machine->config;
    struct emu_cpu *the_cpu = &machine->cpus[cpu];
    uint64_t max = emu_pstate_ratio((int)governed);
    uint64_t min = emu_pstate_ratio((int)pick_at_most(config, emu_pstate_min_khz(machine, cpu)));
    if (config->cpufreq_driver != EMU_DRIVER_NONE &&
        (!emu_driver_of(config)->active ||
         policy_of(machine, cpu)->governor == EMU_GOV_PERFORMANCE)) {
        min = max;
    }
    the_cpu->hwp_request = (the_cpu->hwp_request & ~UINT64_C(0xffff)) | max << 8 | min;
    if (config->hwp) {
        the_cpu->target_khz = hwp_khz(config, the_cpu->hwp_request);
    } else {
        the_cpu->perf_ctl = (the_cpu->perf_ctl & ~UINT64_C(0xffff)) | max << 8;
    }
}

/* The cpufreq driver puts the policy in force into the hardware of its CPUs. */
static void drive(struct emu_machine *machine, int cpu)
{
    for (int i = 0; i < machine->cpu_count; i++) {
        if (machine->cpus[i].policy != machine->cpus[cpu].policy) {
            continue;
        }
        machine->cpus[i].target_khz = governed_khz(machine, i);
        drive_registers(machine, i, machine->cpus[i].target_khz);
    }
}

void emu_pstate_reset(struct emu_machine *machine, int cpu)
{
    struct emu_cpu *the_cpu = &machine->cpus[cpu];
    the_cpu->governor = machine->config.governor;
    the_cpu->setspeed_khz = (uint32_t)machine->config.pstate_max_khz;
    the_cpu->min_request_khz = (uint32_t)machine->config.pstate_min_khz;
    the_cpu->max_request_khz = (uint32_t)machine->config.pstate_max_khz;
    the_cpu->perf_ctl = (uint64_t)emu_pstate_ratio(machine->config.pstate_max_khz) << 8;
    the_cpu->hwp_request = energy_preference_balanced << 24;
    drive(machine, cpu);
}

static void charge(struct emu_machine *machine, int cpu, uint64_t now_ns)
{
    const struct emu_config *config = &machine->config;
    bool wider = config->policy_scope > config->pstate_scope;
    emu_machine_charge_scope(machine, cpu, wider ? config->policy_scope : config->pstate_scope,
                             now_ns);
}

static struct emu_cpu *begin_policy_write(struct emu_machine *machine, int cpu, uint64_t now_ns)
{
    charge(machine, cpu, now_ns);
    return &machine->cpus[machine->cpus[cpu].policy];
}

int emu_pstate_limit_min(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    begin_policy_write(machine, cpu, now_ns)->min_request_khz = khz;
    drive(machine, cpu);
    return 0;
}

int emu_pstate_limit_max(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    begin_policy_write(machine, cpu, now_ns)->max_request_khz = khz;
    drive(machine, cpu);
    return 0;
}

int emu_pstate_set_speed(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    if (policy_of(machine, cpu)->governor != EMU_GOV_USERSPACE) {
        return EINVAL;
    }
    begin_policy_write(machine, cpu, now_ns)->setspeed_khz = khz;
    drive(machine, cpu);
    return 0;
}

void emu_pstate_govern(struct emu_machine *machine, int cpu, int governor, uint64_t now_ns)
{
    struct emu_cpu *policy = begin_policy_write(machine, cpu, now_ns);
    if (governor == EMU_GOV_USERSPACE && policy->governor != governor) {
        policy->setspeed_khz = policy->target_khz;
    }
    policy->governor = governor;
    drive(machine, cpu);
}

void emu_pstate_write_perf_ctl(struct emu_machine *machine, int cpu, uint64_t value,
                               uint64_t now_ns)
{
    machine->cpus[cpu].perf_ctl = value;
    if (!machine->config.hwp) { /* with hardware P-states the register is ignored */
        charge(machine, cpu, now_ns);
        uint32_t khz = (uint32_t)(value >> 8 & 0xff) * EMU_RATIO_KHZ;
        machine->cpus[cpu].target_khz = pick_nearest(&machine->config, khz);
    }
}

void emu_pstate_write_hwp_request(struct emu_machine *machine, int cpu, uint64_t value,
                                  uint64_t now_ns)
{
    charge(machine, cpu, now_ns);
    machine->cpus[cpu].hwp_request = value;
    machine->cpus[cpu].target_khz = hwp_khz(&machine->config, value);
}

/* --- T-states --- */

void emu_tstate_write(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns)
{
    emu_machine_charge_scope(machine, cpu, machine->config.tstate_scope, now_ns);
    machine->cpus[cpu].clock_modulation = value;
}
