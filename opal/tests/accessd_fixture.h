/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A machine with a server of our own (accessd_server.c) in place of likwid's access daemon.
 */
#ifndef PWR_ACCESSD_FIXTURE_H
#define PWR_ACCESSD_FIXTURE_H

#include "fixture.h"

#include "control/control.h"
#include "likwid/accessd.h"

enum { ACCESSD_CPUS = 8, ACCESSD_WHY_BYTES = 1024 };

extern const char accessd_server[]; /* the program of this build */
extern char accessd_text[ACCESSD_WHY_BYTES];
extern pwr_why_t accessd_why; /* into accessd_text; emptied by install */

/* Eight CPUs whose device files nobody can open, and the server behaving as words say. */
void accessd_install(fixture_t *fixture, const char *words);
pwr_status_t accessd_open(const fixture_t *fixture, unsigned cpu);

/* Register 0x611 of each CPU has this; clock modulation is 0; there are no others. */
uint64_t accessd_content(unsigned cpu, uint32_t number);
void accessd_put(fixture_t *fixture, unsigned cpu, uint32_t number, uint64_t value);
uint64_t accessd_get(const fixture_t *fixture, unsigned cpu, uint32_t number);

/* How often the server was started; *last is the serving process. */
unsigned accessd_num_started(const fixture_t *fixture, pid_t *last);
/* Zombies that an init has not collected yet do not live. */
bool accessd_is_gone(const fixture_t *fixture);

/* accessd_open() returns expected; otherwise the test fails with the reasons given. */
void assert_opens(const fixture_t *fixture, unsigned cpu, pwr_status_t expected);
void assert_childless(void);
/* accessd_text has this in it. */
void assert_says(const char *part);

#endif
