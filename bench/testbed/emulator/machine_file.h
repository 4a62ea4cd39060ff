/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a machine file says: the fixed properties of an emulated machine.
 */
#ifndef EMU_MACHINE_FILE_H
#define EMU_MACHINE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum {
    EMU_MAX_CPUS = 256,
    EMU_MAX_PACKAGES = 16,
    EMU_MAX_SMT = 8,
    EMU_MAX_PSTATES = 64,
    EMU_MAX_AMD_PSTATES = 8, /* registers for that many */
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
    EMU_DRIVER_COUNT,
};
/* AUTO is resolved when a machine file is read. */
enum emu_scope { EMU_SCOPE_THREAD, EMU_SCOPE_CORE, EMU_SCOPE_PACKAGE, EMU_SCOPE_AUTO };
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

/* Integers and words are int, so that one table row type parses all of them (machine_keys.c). */
struct emu_config {
    char name[EMU_TEXT_SIZE];
    int packages;
    int cores; /* per package */
    int smt;   /* threads per core */
    int numbering;
    int memory_mb; /* per package */
    int cpu_vendor;
    int cpu_family, cpu_model, cpu_stepping;
    char cpu_name[EMU_TEXT_SIZE];

    int driver;
    uint32_t pstates_khz[EMU_MAX_PSTATES]; /* ascending */
    int pstate_count;                      /* 0: any multiple of 100 MHz between min and max */
    int pstate_min_khz, pstate_max_khz, base_khz;
    int pstate_scope;
    int policy_scope;
    int governor;
    int hwp;
    int transition_latency_ns;

    int tstate_step;
    int tstate_scope;
    int tstate_rule;

    int uncore;
    int uncore_min_khz, uncore_max_khz;
    int uncore_mode;

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

    int msr;
    int msr_mode;
    int msr_safe;
    int msr_safe_mode;
    struct emu_msr_rule msr_safe_allow[EMU_MAX_MSR_RULES];
    int msr_safe_count;
    int sysfs_mode;
    int sysfs_owner;
    int powercap_mode;
    int require_rawio;

    double fixed_activity; /* negative: measured */
    int activity_interval_ms;
    int count_unbound;
    int ledger_interval_ms;
};

/* Reads path.  On failure writes one line "FILE:LINE: KEY: REASON" into error and leaves *config
   unspecified. */
bool emu_config_read(const char *path, struct emu_config *config, char *error, size_t error_size);

/* The same from an open stream; name stands for the file in errors. */
bool emu_config_parse(FILE *stream, const char *name, struct emu_config *config, char *error,
                      size_t error_size);

/* Every key with its unit, default and meaning, as a Markdown table. */
void emu_config_print_keys(FILE *out);

#endif
