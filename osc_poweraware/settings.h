/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the user has set for windows (doc/coll_poweraware.7).
 */
#ifndef OSC_POWERAWARE_SETTINGS_H
#define OSC_POWERAWARE_SETTINGS_H

#include <stdbool.h>

/* How calls of windows wait.  PASCoL (Vishnu et al.) compares the first four. */
typedef enum osc_poweraware_scheme {
    OSC_POWERAWARE_POLL,           /* as without us */
    OSC_POWERAWARE_DVFS,           /* poll at the lowest frequency */
    OSC_POWERAWARE_INTERRUPT,      /* sleep until a message or another process wakes */
    OSC_POWERAWARE_INTERRUPT_DVFS, /* the same at the lowest frequency */
    OSC_POWERAWARE_AUTO /* sleep where coll_poweraware_idle says so; levers as long as their audit
                           finds that they cost no more than max_slowdown */
} osc_poweraware_scheme_t;

typedef struct osc_poweraware_settings {
    int scheme; /* osc_poweraware_scheme_t */
    bool agent; /* a thread serves others while the application computes */
} osc_poweraware_settings_t;

/* Returns OMPI_SUCCESS or an error of the MCA system. */
int osc_poweraware_settings_register(osc_poweraware_settings_t *settings);
const char *osc_poweraware_scheme_name(int scheme);

#endif
