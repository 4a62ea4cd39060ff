/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of the access daemon's client share.
 */
#ifndef PWR_ACCESSD_PRIVATE_H
#define PWR_ACCESSD_PRIVATE_H

#include <limits.h>
#include <stdbool.h>

#include "likwid/accessd.h"

/* The daemon's full name into name[size]; false when there is none (accessd.h says where). */
bool pwr_accessd_find(const pwr_env_t *env, char *name, unsigned size);
/* False when it certainly cannot open the device files: we cannot, and it has no more rights. */
bool pwr_accessd_has_rights(const pwr_env_t *env, const char *program);

/* True when likwid-setFreq, which likwid installs beside its access daemon, is there and certainly
   has no more rights than we have: then liblikwid need not be started to find out, which takes
   every rank of an ordinary user some hundred milliseconds. */
bool pwr_setfreq_is_powerless(const pwr_env_t *env);

/* Starts the daemon and connects (pwr_link_t.start). */
pwr_status_t pwr_accessd_start(const pwr_env_t *env, const pwr_why_t *why, int *fd);

#endif
