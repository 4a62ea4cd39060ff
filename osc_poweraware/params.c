/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The MCA parameters of windows: one table row each (manual: doc/coll_poweraware.7).
 */
#include "settings.h"

#include "pwr_ompi/params.h"

static const mca_base_var_enum_value_t schemes[] = {
    {OSC_POWERAWARE_POLL, "poll"},           {OSC_POWERAWARE_DVFS, "dvfs"},
    {OSC_POWERAWARE_INTERRUPT, "interrupt"}, {OSC_POWERAWARE_INTERRUPT_DVFS, "interrupt_dvfs"},
    {OSC_POWERAWARE_AUTO, "auto"},           {0, NULL},
};

static osc_poweraware_settings_t registered; /* where the MCA system keeps the values */

static const pwr_param_t rows[] = {
    PWR_PARAM(&registered, scheme, INT, schemes, 2,
              "How calls of windows wait. poll: as without us; dvfs: poll at the lowest frequency; "
              "interrupt: sleep; interrupt_dvfs: sleep at the lowest frequency; auto: sleep where "
              "coll_poweraware_idle says so, at the lowest frequency where that pays"),
    PWR_PARAM(
        &registered, agent, BOOL, NULL, 2,
        "A thread of each rank serves locks, accumulates, puts and gets of others while the "
        "rank computes, and sleeps while there are none; needs MPI_THREAD_MULTIPLE (mpirun -x "
        "OMPI_MPI_THREAD_LEVEL=3)"),
};

const char *osc_poweraware_scheme_name(int scheme)
{
    return pwr_param_word(schemes, scheme);
}

int osc_poweraware_settings_register(osc_poweraware_settings_t *settings)
{
    registered = (osc_poweraware_settings_t){.scheme = OSC_POWERAWARE_AUTO};
    int rc = pwr_params_register("osc", rows, sizeof rows / sizeof rows[0]);
    *settings = registered;
    return rc;
}
