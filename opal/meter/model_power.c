/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The power of a package from what its CPUs do, in closed form.
 */
#include "config.h"

#include "meter/model_power.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const double pwr_model_error_share = 0.5;

/* Between 0.30 (the ICPP 2010 node: 24 of 80 W, see icpp2010.machine) and 0.36 (AMD Rome draws 81
   of 225 W more as soon as one core is awake: Schoene et al., "Energy Efficiency Aspects of the AMD
   Zen 2 Architecture", 2021). */
static const double idle_share = 0.33;

static const double frequency_exponent = 1.83;

/* TDP and cores as the makers state them for one processor in the middle of each range. */
static const pwr_model_row_t rows[] = {
    {"GenuineIntel", 6, 26, 95.0 / 4, "Xeon X5550"},
    {"GenuineIntel", 6, 44, 95.0 / 6, "Xeon X5650"},
    {"GenuineIntel", 6, 45, 130.0 / 8, "Xeon E5-2680"},
    {"GenuineIntel", 6, 62, 115.0 / 10, "Xeon E5-2680 v2"},
    {"GenuineIntel", 6, 63, 120.0 / 12, "Xeon E5-2680 v3"},
    {"GenuineIntel", 6, 79, 120.0 / 14, "Xeon E5-2680 v4"},
    {"GenuineIntel", 6, 85, 150.0 / 20, "Xeon Gold 6148"},
    {"GenuineIntel", 6, 106, 270.0 / 40, "Xeon Platinum 8380"},
    {"GenuineIntel", 6, 143, 350.0 / 56, "Xeon Platinum 8480+"},
    {"GenuineIntel", 6, 207, 350.0 / 64, "Xeon Platinum 8592+"},
    {"AuthenticAMD", 23, 1, 180.0 / 32, "EPYC 7601"},
    {"AuthenticAMD", 23, 49, 225.0 / 64, "EPYC 7742"},
    {"AuthenticAMD", 25, 1, 280.0 / 64, "EPYC 7763"},
    {"AuthenticAMD", 25, 17, 360.0 / 96, "EPYC 9654"},
    {"AuthenticAMD", 26, 2, 500.0 / 128, "EPYC 9755"},
};

static const pwr_model_row_t any = {"", 0, 0, 6.0, "the middle of the servers above"};

const pwr_model_row_t *pwr_model_row_of(const pwr_cpu_model_t *model)
{
    for (size_t i = 0; model && i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].family == model->family && rows[i].model == model->model &&
            strcmp(rows[i].vendor, model->vendor) == 0) {
            return &rows[i];
        }
    }
    return &any;
}

double pwr_model_frequency_weight(uint64_t khz, uint64_t reference_khz)
{
    if (khz == 0 || reference_khz == 0) {
        return 1.0;
    }
    return fmin(1.0, pow((double)khz / (double)reference_khz, frequency_exponent));
}

double pwr_model_energy_uj(double tdp_w, unsigned cores, const pwr_model_activity_t *activity)
{
    double active = 0.0;
    if (activity->busy_s > 0) {
        double busy_cores_s = fmin(activity->busy_s, cores * activity->passed_s);
        active = busy_cores_s / cores * (activity->weighted_s / activity->busy_s);
    }
    return 1e6 * tdp_w * (idle_share * activity->passed_s + (1 - idle_share) * active);
}

bool pwr_model_parse_stat_line(const char *line, unsigned *cpu, uint64_t *busy_ticks)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, NUM_FIELDS };
    unsigned long long ticks[NUM_FIELDS];
    unsigned number;
    if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3])) {
        return false;
    }
    if (sscanf(line, "cpu%9u %19llu %19llu %19llu %19llu %19llu %19llu %19llu", &number,
               &ticks[USER], &ticks[NICE], &ticks[SYSTEM], &ticks[IDLE], &ticks[IOWAIT],
               &ticks[IRQ], &ticks[SOFTIRQ]) != NUM_FIELDS + 1) {
        return false;
    }
    *cpu = number;
    *busy_ticks = ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ];
    return true;
}
