/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel's cpufreq drivers have and have not.
 */
#ifndef EMU_DRIVER_H
#define EMU_DRIVER_H

#include "machine_file.h"

struct emu_driver_traits {
    const char *name;   /* scaling_driver, and the word in machine files */
    bool intel, amd;    /* whose processors it drives */
    bool own_governors; /* performance and powersave of its own, no setspeed ("active mode") */
    bool lists_frequencies;
    bool hwp;                    /* can drive hardware P-states */
    const char *folder, *status; /* sys/devices/system/cpu/FOLDER/status; NULL: none */
};

/* By enum emu_driver; EMU_DRIVER_NONE has no name. */
extern const struct emu_driver_traits emu_drivers[EMU_DRIVER_COUNT];

static inline const struct emu_driver_traits *emu_driver_of(const struct emu_config *config)
{
    return &emu_drivers[config->driver];
}

/* Is there an energy-performance preference to set? */
bool emu_driver_has_epp(const struct emu_config *config);

/* The governors there are: the first so many of enum emu_governor. */
int emu_driver_governors(const struct emu_config *config);

#endif
