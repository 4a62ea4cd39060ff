/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The power of a package from what its CPUs do, in closed form (private to opal/meter):
 *
 *     P = TDP (s + (1 - s) a)      a = A/C x mean of (f / f0)^1.83 over the busy time
 *
 * TDP: thermal design power; s: share of it that a package draws while all cores idle; C: cores;
 * A: cores that are busy on average; f, f0: frequency of the busy CPUs and the one TDP is stated
 * for.  A is the busy time of all CPUs, at most C: Linux fills cores before their second threads.
 *
 * Sources: linear in utilisation: Fan, Weber, Barroso, "Power Provisioning for a Warehouse-sized
 * Computer" (ISCA 2007).  Exponent: Kandalla et al. (ICPP 2010), whose cores draw 14.9 W at 2.4 GHz
 * and 7.1 W at 1.6 GHz (derivation in bench/testbed/emulator/machines/icpp2010.machine).
 */
#ifndef PWR_MODEL_POWER_H
#define PWR_MODEL_POWER_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/cpu_model.h"

typedef struct pwr_model_row {
    const char *vendor;
    unsigned family;
    unsigned model;
    double core_tdp_w;  /* thermal design power per core */
    const char *source; /* the processor it is taken from */
} pwr_model_row_t;

/* The row of this processor, or, where it is unknown or NULL, the one for any.  Never NULL. */
const pwr_model_row_t *pwr_model_row_of(const pwr_cpu_model_t *model);

/* Half or one and a half times what it says: TDP per core differs by up to 40 % among processors of
   one model number, and fully busy cores draw half or all of it, depending on the code. */
extern const double pwr_model_error_share;

/* How a package spent a while. */
typedef struct pwr_model_activity {
    double passed_s;
    double busy_s;     /* of all its CPUs */
    double weighted_s; /* the same, each second times pwr_model_frequency_weight */
} pwr_model_activity_t;

/* (f / f0)^1.83, at most 1 (TDP holds beyond f0 too); 1 where a frequency is not known (0). */
double pwr_model_frequency_weight(uint64_t khz, uint64_t reference_khz);

double pwr_model_energy_uj(double tdp_w, unsigned cores, const pwr_model_activity_t *activity);

/* A line "cpuN user nice system idle iowait irq softirq ..." of /proc/stat, in clock ticks; idle
   and waiting, and what other virtual machines got, is not busy.  False: another line. */
bool pwr_model_parse_stat_line(const char *line, unsigned *cpu, uint64_t *busy_ticks);

#endif
