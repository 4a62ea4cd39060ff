/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The state of an emulated machine: CPUs, their P-states and T-states, and the energy drawn.
 *
 * Not locked: the daemon holds one mutex around every call (server.h).  The clock is passed in.
 */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "machine_file.h"
#include "power_model.h"

struct emu_cpu {
    int package;
    int core;    /* index in emu_machine.cores */
    int core_id; /* within the package, as tools show it */
    bool online; /* an offline CPU runs nothing and has no say in the clock it shares */
    int policy;  /* the first CPU of its cpufreq policy, which holds the next four for all of it */

    /* cpufreq policy: what was asked for; the limits in force follow in states.c */
    int governor;
    uint32_t min_request_khz, max_request_khz;
    uint32_t setspeed_khz;
    /* what the driver or a raw MSR write asked the hardware for last */
    uint32_t target_khz;
    uint64_t perf_ctl; /* as written last */
    uint64_t hwp_request;

    uint64_t clock_modulation; /* IA32_CLOCK_MODULATION */

    uint64_t active_ns; /* since start */
};

/* Each core is integrated on its own, so that a lever's write only has to account for the cores
   it touches. */
struct emu_core {
    int package;
    int cpus[EMU_MAX_SMT];
    struct emu_meter core, dram;
};

struct emu_package {
    uint64_t uncore_limits; /* MSR_UNCORE_RATIO_LIMIT */
    struct emu_meter uncore;
};

/* How long something was runnable on a CPU since the last call for it; may be more than that time
   if several processes share it. */
typedef uint64_t emu_active_fn(void *arg, int cpu, uint64_t now_ns);

struct emu_machine {
    struct emu_config config;
    int cpu_count, core_count;
    struct emu_cpu cpus[EMU_MAX_CPUS];
    struct emu_core cores[EMU_MAX_CPUS];
    struct emu_package packages[EMU_MAX_PACKAGES];
    uint64_t start_ns;
    uint64_t update_ns;    /* RAPL */
    emu_active_fn *active; /* asked unless the configuration has a fixed activity */
    void *active_arg;
    uint64_t rejected_writes;
};

void emu_machine_init(struct emu_machine *machine, const struct emu_config *config,
                      uint64_t now_ns);

/* energy.c: accounts for the time until now_ns with the states as they are.  To be called for all
   that a change touches, before the change. */
void emu_machine_charge_core(struct emu_machine *machine, int core, uint64_t now_ns);
void emu_machine_charge_scope(struct emu_machine *machine, int cpu, int scope, uint64_t now_ns);
void emu_machine_charge_all(struct emu_machine *machine, uint64_t now_ns);

/* Is any CPU of this one's policy online? */
bool emu_machine_policy_active(const struct emu_machine *machine, int cpu);

/* speed.c: do two CPUs share what scope (enum emu_scope) says? */
bool emu_machine_same_scope(const struct emu_machine *machine, int cpu, int other, int scope);

int emu_machine_package_first_cpu(const struct emu_machine *machine, int package);

#endif
