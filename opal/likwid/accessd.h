/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Client of likwid's access daemon, likwid-accessD (private to the library).
 *
 * The daemon is a program that an administrator may make set-uid root so that users can reach the
 * model-specific registers that likwid thinks harmless.  It serves one client, so each process
 * starts its own, and shares it (link.h).
 */
#ifndef PWR_ACCESSD_H
#define PWR_ACCESSD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "likwid/accessd_wire.h"
#include "likwid/link.h"

/* The daemon is looked for under env->root: what daemon_path says in /etc/likwid.cfg or
   /usr/local/etc/likwid.cfg, then the folders of PATH, /usr/local/sbin and /usr/sbin.  Its socket
   must belong to root or to this user.  Errors: UNSUPPORTED (no daemon, no such CPU), PERM (it has
   no rights, it is locked, the socket is somebody else's), IO, TIMEOUT; a reason with its remedy is
   added to why. */
pwr_status_t pwr_accessd_open(const pwr_env_t *env, unsigned cpu, const pwr_why_t *why);
/* Errors: PERM (the daemon does not let this register through), UNSUPPORTED (the CPU does not have
   it, or not such a value), IO (the daemon is gone or does not answer). */
pwr_status_t pwr_accessd_read(unsigned cpu, uint32_t number, uint64_t *value);
pwr_status_t pwr_accessd_write(unsigned cpu, uint32_t number, uint64_t value);
/* Once per successful open. */
void pwr_accessd_close(void);

/* ---- finding and starting it ---- */

/* The daemon's full name into name[size]; false when there is none (pwr_accessd_open says where).
 */
bool pwr_accessd_find(const pwr_env_t *env, char *name, unsigned size);
/* False when it certainly cannot open the device files: we cannot, and it has no more rights. */
bool pwr_accessd_has_rights(const pwr_env_t *env, const char *program);

/* True when likwid-setFreq, which likwid installs beside its access daemon, is there and certainly
   has no more rights than we have: then liblikwid need not be started to find out, which takes
   every rank of an ordinary user some hundred milliseconds. */
bool pwr_setfreq_is_powerless(const pwr_env_t *env);

/* Starts the daemon and connects (pwr_link_t.start). */
pwr_status_t pwr_accessd_start(const pwr_env_t *env, const pwr_why_t *why, int *fd);

extern pwr_link_t pwr_accessd_link;

#endif
