/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel's cpufreq drivers have and have not (Documentation/admin-guide/pm: cpufreq.rst,
 * intel_pstate.rst, amd-pstate.rst).
 */
#include "config.h"

#include "driver.h"

const struct emu_driver_traits emu_drivers[EMU_DRIVER_COUNT] = {
    [EMU_DRIVER_ACPI] = {.name = "acpi-cpufreq",
                         .intel = true,
                         .amd = true,
                         .lists_frequencies = true},
    [EMU_DRIVER_INTEL_PSTATE] = {.name = "intel_pstate",
                                 .intel = true,
                                 .own_governors = true,
                                 .hwp = true,
                                 .folder = "intel_pstate",
                                 .status = "active"},
    [EMU_DRIVER_INTEL_CPUFREQ] = {.name = "intel_cpufreq",
                                  .intel = true,
                                  .hwp = true,
                                  .folder = "intel_pstate",
                                  .status = "passive"},
    [EMU_DRIVER_AMD_PSTATE] = {.name = "amd-pstate",
                               .amd = true,
                               .folder = "amd_pstate",
                               .status = "passive"},
    [EMU_DRIVER_AMD_PSTATE_EPP] = {.name = "amd-pstate-epp",
                                   .amd = true,
                                   .own_governors = true,
                                   .folder = "amd_pstate",
                                   .status = "active"},
    [EMU_DRIVER_NONE] = {.intel = true, .amd = true, .hwp = true},
};

bool emu_driver_has_epp(const struct emu_config *config)
{
    return config->driver == EMU_DRIVER_AMD_PSTATE_EPP ||
           (config->driver != EMU_DRIVER_NONE && config->hwp);
}

int emu_driver_governors(const struct emu_config *config)
{
    return emu_driver_of(config)->own_governors ? EMU_GOV_POWERSAVE + 1 : EMU_GOV_SCHEDUTIL + 1;
}
