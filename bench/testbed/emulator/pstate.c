/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * P-states: requests and the frequency that comes of them.
 */
#include "config.h"

#include "pstate.h"

#include <errno.h>
#include <stdlib.h>

#include "driver.h"

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
    uint32_t khz = 0;
    if (config->pstate_scope == EMU_SCOPE_CORE && config->smt == 1) {
        return machine->cpus[cpu].target_khz;
    }
    /* a core has one clock, whatever the scope of requests */
    int scope = config->pstate_scope == EMU_SCOPE_THREAD ? EMU_SCOPE_CORE : config->pstate_scope;
    for (int other = 0; other < machine->cpu_count; other++) {
        if (machine->cpus[other].online && emu_machine_same_scope(machine, cpu, other, scope) &&
            machine->cpus[other].target_khz > khz) {
            khz = machine->cpus[other].target_khz;
        }
    }
    return khz > 0 ? khz : machine->cpus[cpu].target_khz; /* all offline */
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
    switch (policy_of(machine, cpu)->governor) {
    case EMU_GOV_USERSPACE: {
        uint32_t wish =
            pick_at_least(config, clamp(policy_of(machine, cpu)->setspeed_khz, min, max));
        return wish <= max ? wish : pick_at_most(config, max);
    }
    case EMU_GOV_POWERSAVE:
        if (!emu_driver_of(config)->own_governors) {
            uint32_t lowest = pick_at_least(config, min);
            return lowest <= max ? lowest : pick_at_most(config, max);
        }
        return pick_at_most(config, max); /* the drivers' own powersave follows the load */
    default:
        return pick_at_most(config, max);
    }
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
    uint64_t max = emu_pstate_ratio(governed);
    uint64_t min = emu_pstate_ratio(pick_at_most(config, emu_pstate_min_khz(machine, cpu)));
    if (config->driver != EMU_DRIVER_NONE &&
        (!emu_driver_of(config)->own_governors ||
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

static int amd_index(const struct emu_config *config, uint32_t khz)
{
    uint32_t list[EMU_MAX_AMD_PSTATES];
    int count = emu_pstate_amd_list(config, list);
    int index = 0;
    while (index < count - 1 && list[index] > khz) {
        index++;
    }
    return index;
}

void emu_pstate_drive(struct emu_machine *machine, int cpu)
{
    for (int i = 0; i < machine->cpu_count; i++) {
        if (machine->cpus[i].policy != machine->cpus[cpu].policy) {
            continue;
        }
        machine->cpus[i].target_khz = governed_khz(machine, i);
        drive_registers(machine, i, machine->cpus[i].target_khz);
        if (machine->config.cpu_vendor == EMU_VENDOR_AMD) {
            machine->cpus[i].pstate_cmd =
                (uint8_t)amd_index(&machine->config, machine->cpus[i].target_khz);
        }
    }
}

static void set_epp(struct emu_cpu *cpu, int epp)
{
    cpu->hwp_request = (cpu->hwp_request & ~(UINT64_C(0xff) << 24)) | (uint64_t)epp << 24;
}

int emu_pstate_epp(const struct emu_machine *machine, int cpu)
{
    return (int)(machine->cpus[cpu].hwp_request >> 24 & 0xff);
}

/* Does the driver hold the preference at performance? */
static bool epp_is_held(const struct emu_machine *machine, int cpu)
{
    return emu_driver_has_epp(&machine->config) && emu_driver_of(&machine->config)->own_governors &&
           policy_of(machine, cpu)->governor == EMU_GOV_PERFORMANCE;
}

void emu_pstate_unlimit(struct emu_machine *machine, int cpu)
{
    struct emu_cpu *policy = &machine->cpus[machine->cpus[cpu].policy];
    policy->min_request_khz = (uint32_t)machine->config.pstate_min_khz;
    policy->max_request_khz = (uint32_t)machine->config.pstate_max_khz;
}

void emu_pstate_reset(struct emu_machine *machine, int cpu)
{
    struct emu_cpu *the_cpu = &machine->cpus[cpu];
    the_cpu->governor = machine->config.governor;
    the_cpu->setspeed_khz = (uint32_t)machine->config.pstate_max_khz;
    the_cpu->kept_epp = EMU_EPP_DEFAULT;
    the_cpu->perf_ctl = (uint64_t)emu_pstate_ratio((uint32_t)machine->config.pstate_max_khz) << 8;
    set_epp(the_cpu, epp_is_held(machine, cpu) ? EMU_EPP_PERFORMANCE : EMU_EPP_DEFAULT);
    emu_pstate_unlimit(machine, cpu);
    emu_pstate_drive(machine, cpu);
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

int emu_pstate_prefer(struct emu_machine *machine, int cpu, int epp, uint64_t now_ns)
{
    if (epp_is_held(machine, cpu) && epp != EMU_EPP_PERFORMANCE) {
        return EBUSY;
    }
    charge(machine, cpu, now_ns);
    set_epp(&machine->cpus[cpu], epp);
    return 0;
}

void emu_pstate_limit_min(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    begin_policy_write(machine, cpu, now_ns)->min_request_khz = khz;
    emu_pstate_drive(machine, cpu);
}

void emu_pstate_limit_max(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    begin_policy_write(machine, cpu, now_ns)->max_request_khz = khz;
    emu_pstate_drive(machine, cpu);
}

void emu_pstate_govern(struct emu_machine *machine, int cpu, int governor, uint64_t now_ns)
{
    struct emu_cpu *policy = begin_policy_write(machine, cpu, now_ns);
    bool was_held = epp_is_held(machine, cpu);
    if (governor == EMU_GOV_USERSPACE && policy->governor != governor) {
        policy->setspeed_khz = policy->target_khz;
    }
    policy->governor = governor;
    if (!was_held && epp_is_held(machine, cpu)) {
        policy->kept_epp = (uint8_t)emu_pstate_epp(machine, cpu);
        set_epp(policy, EMU_EPP_PERFORMANCE);
    } else if (was_held && !epp_is_held(machine, cpu) && emu_pstate_epp(machine, cpu) == 0) {
        set_epp(policy, policy->kept_epp);
    }
    emu_pstate_drive(machine, cpu);
}

void emu_pstate_set_speed(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns)
{
    begin_policy_write(machine, cpu, now_ns)->setspeed_khz = khz;
    emu_pstate_drive(machine, cpu);
}

int emu_pstate_write_perf_ctl(struct emu_machine *machine, int cpu, uint64_t value, uint64_t now_ns)
{
    uint64_t turbo_disengage = UINT64_C(1) << 32;
    if ((value & ~(turbo_disengage | 0xffff)) != 0) {
        return EIO;
    }
    machine->cpus[cpu].perf_ctl = value;
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
    charge(machine, cpu, now_ns);
    machine->cpus[cpu].hwp_request = value;
    machine->cpus[cpu].target_khz = hwp_khz(&machine->config, value);
    return 0;
}

int emu_pstate_amd_list(const struct emu_config *config, uint32_t khz[EMU_MAX_AMD_PSTATES])
{
    if (config->pstate_count > 0) {
        for (int i = 0; i < config->pstate_count; i++) {
            khz[i] = config->pstates_khz[config->pstate_count - 1 - i];
        }
        return config->pstate_count;
    }
    uint32_t base = (uint32_t)config->base_khz, lowest = (uint32_t)config->pstate_min_khz;
    khz[0] = base;
    khz[1] = pick_at_most(config, lowest + (base - lowest) / 2);
    khz[2] = lowest;
    return 3;
}

int emu_pstate_amd_current(const struct emu_machine *machine, int cpu)
{
    return amd_index(&machine->config, emu_pstate_khz(machine, cpu));
}

int emu_pstate_write_amd_command(struct emu_machine *machine, int cpu, uint64_t value,
                                 uint64_t now_ns)
{
    uint32_t khz[EMU_MAX_AMD_PSTATES];
    int count = emu_pstate_amd_list(&machine->config, khz);
    if (value > 7) {
        return EIO;
    }
    machine->cpus[cpu].pstate_cmd = (uint8_t)value;
    int driver = machine->config.driver;
    if (driver == EMU_DRIVER_ACPI || driver == EMU_DRIVER_NONE) { /* ignored once CPPC is on */
        charge(machine, cpu, now_ns);
        machine->cpus[cpu].target_khz = khz[(int)value < count ? (int)value : count - 1];
    }
    return 0;
}
