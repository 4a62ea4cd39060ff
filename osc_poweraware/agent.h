/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A thread that serves requests of others while this process computes (osc_poweraware_agent).
 */
#ifndef OSC_POWERAWARE_AGENT_H
#define OSC_POWERAWARE_AGENT_H

#include <stdbool.h>
#include <stdint.h>

/* How often it was woken and served. */
extern uint64_t osc_poweraware_agent_served;

/* A window of this component is made: the thread begins with the first one.  False: it is not for
   such windows, or cannot be; that is said once. */
bool osc_poweraware_agent_enter(const char *component);
/* One of those for which enter returned true is going to be freed: the thread ends with the last
   one. */
void osc_poweraware_agent_leave(void);
/* It ends now, whatever windows there are. */
void osc_poweraware_agent_stop(void);

#endif
