/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a machine file says: the fixed properties of an emulated machine.
 */
#ifndef EMU_MACHINE_FILE_H
#define EMU_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    EMU_MAX_CPUS = 256,
    EMU_MAX_PACKAGES = 16,
    EMU_MAX_SMT = 8,
    EMU_MAX_PSTATES = 128,
    EMU_MAX_MSR_RULES = 64,
    EMU_TEXT_SIZE = 64,
};

enum emu_numbering { EMU_NUMBER_PACKED, EMU_NUMBER_SCATTERED };
enum emu_vendor { EMU_VENDOR_INTEL, EMU_VENDOR_AMD };
enum emu_driver {
    EMU_DRIVER_ACPI,
    EMU_DRIVER_INTEL_PSTATE,
    EMU_DRIVER_INTEL_CPUFREQ,
    EMU_DRIVER_AMD_PSTATE,
    EMU_DRIVER_AMD_PSTATE_EPP,
    EMU_DRIVER_NONE,
};
/* No machine file says MACHINE. */
enum emu_scope { EMU_SCOPE_THREAD, EMU_SCOPE_CORE, EMU_SCOPE_PACKAGE, EMU_SCOPE_MACHINE };
/* Who can reach the uncore's limits: nobody, the register alone, or the kernel's driver as well. */
enum emu_uncore { EMU_UNCORE_NONE, EMU_UNCORE_MSR, EMU_UNCORE_SYSFS };
enum emu_rule { EMU_RULE_HIGHEST, EMU_RULE_LOWEST };
enum emu_step { EMU_STEP_12_5, EMU_STEP_6_25 };
/* In the order of the kernel's own scaling_available_governors. */
enum emu_governor {
    EMU_GOV_PERFORMANCE,
    EMU_GOV_POWERSAVE,
    EMU_GOV_USERSPACE,
    EMU_GOV_ONDEMAND,
    EMU_GOV_SCHEDUTIL,
};

/* One line of msr_safe's list: bits outside write_mask keep their value on a write. */
struct emu_msr_rule {
    uint32_t reg;
    uint64_t write_mask;
};

/* The fields are called like the keys; words are the enumerators above. */
struct emu_config {
    char name[EMU_TEXT_SIZE];
    int packages;
    int cores; /* per package */
    int smt;   /* threads per core */
    int cpu_numbering;
    int memory_mb; /* per package */
    int cpu_vendor;
    int cpu_family, cpu_model, cpu_stepping;
    char cpu_name[EMU_TEXT_SIZE];

    int cpufreq_driver;
    uint32_t pstates_khz[EMU_MAX_PSTATES]; /* ascending */
    int pstate_count;
    int pstate_min_khz, pstate_max_khz, base_khz;
    int pstate_scope;
    int policy_scope;
    int governor;
    int hwp;

    int tstate_step;
    int tstate_scope;
    int tstate_rule;

    int uncore;
    int uncore_min_khz, uncore_max_khz;

    int rapl;
    int rapl_energy_unit; /* exponent: one count is 2^-unit J */
    int rapl_dram_unit;
    int rapl_update_us;
    double rapl_start; /* counts in every energy counter at start */
    int powercap;
    double tdp_w;

    double core_dyn_w;
    int core_dyn_khz;
    double core_dyn_exponent;
    double core_idle_w;
    double package_static_w;
    double uncore_w; /* at uncore_max_khz */
    double dram_static_w;
    double dram_dyn_w;
    double platform_static_w;

    int msr_mode;
    struct emu_msr_rule msr_safe_allow[EMU_MAX_MSR_RULES];
    int msr_safe_count; /* 0: no such device */
    int sysfs_mode;
    int require_rawio;

    double fixed_activity; /* negative: measured */
    int ledger_interval_ms;
};

/* Reads path (README.md has the keys).  On failure writes one line "FILE:LINE: KEY: REASON" into
   error and leaves *config unspecified. */
bool emu_config_read(const char *path, struct emu_config *config, char *error, size_t error_size);

/* The same from an open stream; name stands for the file in errors. */
bool emu_config_parse(FILE *stream, const char *name, struct emu_config *config, char *error,
                      size_t error_size);

/* What the kernel's cpufreq drivers have and have not (Documentation/admin-guide/pm: cpufreq.rst,
   intel_pstate.rst, amd-pstate.rst). */
struct emu_driver_traits {
    const char *name; /* scaling_driver, and the word in machine files; NULL: none */
    bool intel, amd;  /* whose processors it drives */
    bool active;      /* "active mode": performance and powersave of its own, no setspeed */
    bool hwp;         /* can drive hardware P-states */
};
const struct emu_driver_traits *emu_driver_of(const struct emu_config *config);

/* The governors there are: the first so many of enum emu_governor. */
int emu_driver_governors(const struct emu_config *config);

#endif
