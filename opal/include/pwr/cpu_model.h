/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which processor this is, and what its documentation says about T-states.
 */
#ifndef PWR_CPU_MODEL_H
#define PWR_CPU_MODEL_H

#include <stdio.h>

#include "pwr/env.h"

typedef struct pwr_cpu_model {
    char vendor[16]; /* as CPUID spells it: "GenuineIntel", "AuthenticAMD" */
    unsigned family; /* display family and model: extended fields are added in */
    unsigned model;
    unsigned stepping; /* 0 when /proc/cpuinfo does not tell */
    char name[64];     /* for messages; cut when longer, "" when /proc/cpuinfo does not tell */
} pwr_cpu_model_t;

/* The first CPU in /proc/cpuinfo: packages of one machine have one model.  Errors: those of opening
   and reading the file; UNSUPPORTED when it has no vendor_id (not an x86 machine); PARSE when
   vendor, family or model is not what Linux writes there.  Does not log. */
pwr_status_t pwr_cpu_model_read(const pwr_env_t *env, pwr_cpu_model_t *model);

/* The same from a stream. */
pwr_status_t pwr_cpu_model_parse(FILE *cpuinfo, pwr_cpu_model_t *model);

/* Which of the duty cycles that its hardware threads ask for a core runs at. */
typedef enum pwr_tstate_winner {
    PWR_TSTATE_WINNER_UNKNOWN, /* assume the worst: the lowest, and of the whole package */
    PWR_TSTATE_WINNER_LOWEST,  /* one throttled hardware thread slows its siblings */
    PWR_TSTATE_WINNER_HIGHEST  /* nothing happens until all of them are throttled */
} pwr_tstate_winner_t;

/* What is documented for this processor. */
pwr_tstate_winner_t pwr_tstate_winner(const pwr_cpu_model_t *model);

#endif
