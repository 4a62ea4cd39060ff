/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The power of the package while one of its cores waits in a certain way.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

#include <stdio.h>
#include <stdlib.h>

#include "pwr/clock.h"
#include "pwr/meter.h"

struct calibrate_watts {
    pwr_env_t env; /* without a log: why the meter is missing is said once, by the caller */
    pwr_meter_t *meter;
    pwr_meter_reading_t *begin; /* [num_domains] */
    pwr_meter_reading_t *end;
    int package;
};

/* A model would only tell what it assumes of the states that are to be compared. */
static bool is_wanted(const calibrate_watts_t *watts, unsigned index)
{
    const pwr_meter_domain_t *domain = pwr_meter_domain(watts->meter, index);
    return domain->kind == PWR_DOMAIN_PACKAGE && (int)domain->package == watts->package &&
           domain->provenance != PWR_METER_MODELLED;
}

static bool has_package(const calibrate_watts_t *watts)
{
    for (unsigned i = 0; i < pwr_meter_num_domains(watts->meter); i++) {
        if (is_wanted(watts, i)) {
            return true;
        }
    }
    return false;
}

/* Energy of the package between the two readings, microjoules. */
static bool sum_package(const calibrate_watts_t *watts, uint64_t *package_uj)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < pwr_meter_num_domains(watts->meter); i++) {
        pwr_meter_reading_t used = pwr_meter_between(&watts->begin[i], &watts->end[i]);
        if (is_wanted(watts, i) && used.status != PWR_OK) {
            return false;
        }
        sum += is_wanted(watts, i) ? used.energy_uj : 0;
    }
    *package_uj = sum;
    return true;
}

calibrate_watts_t *calibrate_watts_open(const pwr_env_t *env, const pwr_topo_t *topo, char *why,
                                        unsigned why_size)
{
    calibrate_watts_t *watts = calloc(1, sizeof *watts);
    if (!watts) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    watts->env = pwr_env_quiet(env);
    watts->package = pwr_topo_my_package(topo);
    if (pwr_meter_open(&watts->env, topo, why, why_size, &watts->meter) != PWR_OK) {
        free(watts);
        return NULL;
    }
    unsigned count = pwr_meter_num_domains(watts->meter);
    watts->begin = calloc(count, sizeof *watts->begin);
    watts->end = calloc(count, sizeof *watts->end);
    if (!watts->begin || !watts->end || !has_package(watts)) {
        if (why[0] == '\0') {
            snprintf(why, why_size, "no meter measures this package");
        }
        calibrate_watts_close(watts);
        return NULL;
    }
    why[0] = '\0'; /* it also says what was tried before */
    return watts;
}

const char *calibrate_watts_backend(const calibrate_watts_t *watts)
{
    return pwr_meter_backend(watts->meter);
}

/* ---- holding a state until a time ---- */

bool calibrate_watts_knows(pwr_policy_row_id_t id)
{
    return pwr_policy_row_is_lever(id) || id <= PWR_POLICY_FUTEX;
}

/* Levers are held while pausing, as a rank does that waits with them. */
static void hold(pwr_policy_row_id_t id, uint64_t end_ns)
{
    pwr_flag_t never = {0};
    if (id == PWR_POLICY_SPIN) {
        while (!pwr_flag_reached(&never, 1) && pwr_now_ns() < end_ns) {
        }
        return;
    }
    const pwr_wait_policy_t policy =
        calibrate_rung_policy(pwr_policy_row_is_lever(id) ? PWR_POLICY_PAUSE : id);
    pwr_wait_until(&never, 1, &policy, NULL, NULL, end_ns, NULL);
}

/* While it reads, this process may lose its CPU, and the meter's daemon too: a window counts when
   its two readings took a small part of it, else a longer one is tried. */
static bool measure_window(calibrate_watts_t *watts, uint64_t window_ns, pwr_policy_row_id_t id,
                           uint64_t *milliwatts)
{
    enum { READING_PART = 50, LONGEST_WINDOW = 64 };
    uint64_t used_uj;
    for (unsigned windows = 1; windows <= LONGEST_WINDOW; windows *= 2) {
        uint64_t before = pwr_now_ns();
        if (pwr_meter_read(watts->meter, watts->begin) != PWR_OK) {
            return false;
        }
        uint64_t begin = pwr_now_ns();
        hold(id, begin + windows * window_ns);
        uint64_t end = pwr_now_ns();
        if (pwr_meter_read(watts->meter, watts->end) != PWR_OK || !sum_package(watts, &used_uj)) {
            return false;
        }
        uint64_t reading = begin - before + pwr_now_ns() - end;
        if (reading <= (end - begin) / READING_PART) {
            *milliwatts = (uint64_t)(1e6 * (double)used_uj / (double)(end - begin));
            return true;
        }
    }
    return false;
}

static double measure_windows(calibrate_watts_t *watts, const calibrate_plan_t *plan,
                              pwr_policy_row_id_t id)
{
    calibrate_series_t series;
    uint64_t milliwatts = 0;
    if (!calibrate_series_init(&series, plan->power_windows)) {
        return PWR_POLICY_W_UNKNOWN;
    }
    bool read = true;
    for (unsigned i = 0; i < plan->power_windows && read; i++) {
        read = measure_window(watts, plan->power_window_ns, id, &milliwatts);
        calibrate_series_add(&series, milliwatts);
    }
    double result = read ? 1e-3 * (double)calibrate_series_median(&series) : PWR_POLICY_W_UNKNOWN;
    calibrate_series_free(&series);
    return result;
}

double calibrate_watts_measure(calibrate_watts_t *watts, const calibrate_plan_t *plan,
                               pwr_power_t *power, pwr_policy_row_id_t id)
{
    if (!pwr_policy_row_is_lever(id)) {
        return measure_windows(watts, plan, id);
    }
    pwr_lever_id_t lever = (pwr_lever_id_t)(id - PWR_POLICY_LEVERS);
    pwr_power_move(power, lever, true);
    double result = measure_windows(watts, plan, id);
    pwr_power_move(power, lever, false);
    return result;
}

void calibrate_watts_close(calibrate_watts_t *watts)
{
    if (watts) {
        free(watts->begin);
        free(watts->end);
        pwr_meter_close(watts->meter);
        free(watts);
    }
}
