/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What one key of a machine file means for another: combinations that no machine has.
 */
#include "config.h"

#include "machine_check.h"

#include "driver.h"

static const char *check_count(const struct emu_config *config)
{
    return config->packages * config->cores * config->smt > EMU_MAX_CPUS
               ? "packages x cores x smt is more than 256 CPUs"
               : NULL;
}

static const char *check_family(const struct emu_config *config)
{
    return config->cpu_vendor == EMU_VENDOR_AMD && config->cpu_family < 23
               ? "AMD processors before family 23 have other registers, and no RAPL"
               : NULL;
}

static const char *check_driver(const struct emu_config *config)
{
    const struct emu_driver_traits *driver = emu_driver_of(config);
    return (config->cpu_vendor == EMU_VENDOR_AMD ? driver->amd : driver->intel)
               ? NULL
               : "does not drive processors of this cpu_vendor";
}

static const char *check_list(const struct emu_config *config)
{
    if (config->cpu_vendor == EMU_VENDOR_AMD && config->pstate_count > EMU_MAX_AMD_PSTATES) {
        return "AMD processors have at most 8 P-states";
    }
    if (config->pstate_count == 0) {
        return NULL;
    }
    int lowest = (int)config->pstates_khz[0];
    int highest = (int)config->pstates_khz[config->pstate_count - 1];
    return (config->pstate_min_khz != 0 && config->pstate_min_khz != lowest) ||
                   (config->pstate_max_khz != 0 && config->pstate_max_khz != highest)
               ? "its ends are not pstate_min_khz and pstate_max_khz: give one of both"
               : NULL;
}

static const char *check_range(const struct emu_config *config)
{
    return config->pstate_count == 0 && (config->pstate_min_khz < 100000 ||
                                         config->pstate_max_khz < config->pstate_min_khz)
               ? "give pstates_khz, or pstate_min_khz (100000 or more) and a pstate_max_khz "
                 "not below it"
               : NULL;
}

static const char *check_policy(const struct emu_config *config)
{
    return config->policy_scope != EMU_SCOPE_THREAD && config->policy_scope != EMU_SCOPE_AUTO &&
                   config->driver != EMU_DRIVER_ACPI
               ? "only acpi-cpufreq lets CPUs share a policy"
               : NULL;
}

static const char *check_governor(const struct emu_config *config)
{
    return config->governor >= emu_driver_governors(config)
               ? "this cpufreq_driver has only performance and powersave"
               : NULL;
}

static const char *check_hwp(const struct emu_config *config)
{
    return config->hwp && (!emu_driver_of(config)->hwp || config->cpu_vendor == EMU_VENDOR_AMD)
               ? "hardware P-states are Intel's, driven by intel_pstate, intel_cpufreq or nobody"
               : NULL;
}

static const char *check_tstate(const struct emu_config *config)
{
    return config->cpu_vendor == EMU_VENDOR_AMD ? "AMD processors have no T-states" : NULL;
}

static const char *check_uncore(const struct emu_config *config)
{
    if (config->uncore == EMU_UNCORE_NONE) {
        return config->uncore_w > 0 ? "uncore_w is for uncore = msr or sysfs" : NULL;
    }
    return config->cpu_vendor == EMU_VENDOR_AMD ? "AMD processors have no such register"
           : config->uncore_min_khz < 100000 || config->uncore_max_khz < config->uncore_min_khz
               ? "give uncore_min_khz (100000 or more) and an uncore_max_khz not below it"
               : NULL;
}

static const char *check_msr_safe(const struct emu_config *config)
{
    return config->msr_safe && config->msr_safe_count == 0
               ? "useless without msr_safe_allow, which lists the registers it lets through"
               : NULL;
}

const struct emu_check emu_checks[] = {
    {"cores", false, check_count},           {"cpu_family", false, check_family},
    {"cpufreq_driver", false, check_driver}, {"pstates_khz", false, check_list},
    {"pstate_min_khz", false, check_range},  {"policy_scope", false, check_policy},
    {"governor", false, check_governor},     {"hwp", false, check_hwp},
    {"tstate_step", true, check_tstate},     {"tstate_scope", true, check_tstate},
    {"tstate_rule", true, check_tstate},     {"uncore", false, check_uncore},
    {"msr_safe", false, check_msr_safe},
};
const size_t emu_check_count = sizeof emu_checks / sizeof emu_checks[0];
