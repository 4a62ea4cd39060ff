/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component: found, registered, opened, asked for each window, closed.
 *
 * 1. It is first in the list, and its priority is the highest there is: the framework selects it.
 * 2. It selects once more, and is not there meanwhile: another component that does the same
 *    (osc/monitoring) asks all of them in its turn.
 * 3. The winner makes the window's module.  Ours are put in the places of some of its functions
 *    (window.c); it does not know.
 */
#include "agent.h"
#include "settings.h"
#include "window.h"

#include <limits.h>
#include <string.h>

#include "pwr_ompi/process.h"
#include "pwr_ompi/pvars.h"
#include "pwr_ompi/select.h"
#include "pwr_ompi/ucx.h"

#include "ompi/mca/osc/base/base.h"
#include "ompi/mca/pml/base/base.h"

static const char component_name[] = "poweraware";

static int register_component(void);
static int open_component(void);
static int close_component(void);
static int init(bool progress_threads, bool mpi_threads);
static int finalize(void);
static int query(ompi_win_t *win, void **base, size_t size, pwr_disp_unit_t unit,
                 ompi_communicator_t *comm, opal_info_t *info, int flavor);
static int select_for(ompi_win_t *win, void **base, size_t size, pwr_disp_unit_t unit,
                      ompi_communicator_t *comm, opal_info_t *info, int flavor, int *model);

typedef struct mca_osc_poweraware_component {
    ompi_osc_base_component_t super;
    osc_poweraware_settings_t settings;
    pwr_scheme_t scheme;
    bool named; /* by the user, in --mca osc */
    bool published;
    bool loops; /* calls that wait in loops are ours, ... */
    bool ucx;   /* ... and those that do so in UCX */
} mca_osc_poweraware_component_t;

extern mca_osc_poweraware_component_t mca_osc_poweraware_component;

__attribute__((visibility("default")))
mca_osc_poweraware_component_t mca_osc_poweraware_component = {
    .super =
        {
            .osc_version =
                {
                    PWR_OSC_VERSION,
                    .mca_component_name = "poweraware",
                    MCA_BASE_MAKE_VERSION(component, PWR_MAJOR, PWR_MINOR, PWR_RELEASE),
                    .mca_open_component = open_component,
                    .mca_close_component = close_component,
                    .mca_register_component_params = register_component,
                },
            .osc_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .osc_init = init,
            .osc_query = query,
            .osc_select = select_for,
            .osc_finalize = finalize,
        },
};

#define SELF (&mca_osc_poweraware_component)

/* ---- registered ---- */

/* osc/ucx of 4.1 brings UCX into processes that do not use it. */
static bool is_left_out(const mca_base_component_t *component)
{
    return OMPI_MAJOR_VERSION < 5 && 0 == strcmp("ucx", component->mca_component_name) &&
           !pwr_ompi_named_in_selection(&ompi_pml_base_framework, "ucx");
}

static int register_component(void)
{
    osc_poweraware_ways.first_operation =
        pwr_process_add_names(PWR_OPERATION, osc_poweraware_names, OSC_POWERAWARE_NUM_CALLS);
    SELF->named = pwr_ompi_named_in_selection(&ompi_osc_base_framework, component_name);
    int rc = pwr_process_register();
    rc = OMPI_SUCCESS == rc ? osc_poweraware_settings_register(&SELF->settings) : rc;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    const char *note = pwr_process_wants_report() ? "" : "; not counted: no report is wanted";
    pwr_pvars_register_operations(&SELF->super.osc_version, osc_poweraware_ways.first_operation,
                                  OSC_POWERAWARE_NUM_CALLS, note);
    pwr_pvar_register(&SELF->super.osc_version, "agent_served",
                      "How often the agent of windows was woken and served, number",
                      MCA_BASE_PVAR_CLASS_COUNTER, NULL, &osc_poweraware_agent_served);
    return pwr_ompi_select_companions(&ompi_osc_base_framework, component_name, is_left_out);
}

/* ---- opened ---- */

/* Who is brought along by another component of ours saves where that does, unless the user has
   named a scheme for windows. */
static pwr_scheme_t scheme_of(int scheme, bool named)
{
    const pwr_scheme_t *others = &pwr_process.scheme;
    bool automatic = OSC_POWERAWARE_AUTO == scheme;
    bool told = named || !automatic;
    return (pwr_scheme_t){
        .name = NULL == others->name ? osc_poweraware_scheme_name(scheme) : others->name,
        .saves = OSC_POWERAWARE_POLL != scheme && (told || others->saves),
        .audits = automatic && (told || others->audits),
        .weighs_levers = told || others->weighs_levers,
    };
}

/* What the user has named for windows holds for all of their calls. */
static void find_ways(osc_poweraware_ways_t *ways, int scheme)
{
    bool told = OSC_POWERAWARE_AUTO != scheme;
    bool polls = OSC_POWERAWARE_POLL == scheme || OSC_POWERAWARE_DVFS == scheme;
    ways->sleeps = !polls && pwr_process_idles(ways->scheme);
    ways->sleeps_everywhere =
        ways->sleeps && (told || PWR_IDLE_ALL == (pwr_idle_where_t)pwr_process.settings.idle);
    ways->levers =
        ways->scheme->saves && OSC_POWERAWARE_INTERRUPT != scheme && (told || ways->scheme->audits);
}

/* Not used: neither named nor beside another component of ours that is. */
static int open_component(void)
{
    if (!SELF->named && NULL == pwr_process.scheme.name) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    SELF->scheme = scheme_of(SELF->settings.scheme, SELF->named);
    pwr_process_publish(&SELF->scheme);
    SELF->published = true;
    osc_poweraware_ways.scheme = &SELF->scheme;
    find_ways(&osc_poweraware_ways, SELF->settings.scheme);
    osc_poweraware_ways.agent = SELF->settings.agent;
    SELF->loops = osc_poweraware_ways.sleeps || osc_poweraware_ways.levers;
    if (SELF->loops) {
        pwr_idle_loops_start();
    }
    return OMPI_SUCCESS;
}

/* ---- in MPI_Init ---- */

static void be_first(void)
{
    opal_list_t *list = &ompi_osc_base_framework.framework_components;
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, list, mca_base_component_list_item_t)
    {
        if (&SELF->super.osc_version == item->cli_component) {
            opal_list_remove_item(list, &item->super);
            opal_list_prepend(list, &item->super);
            return;
        }
    }
}

static int init(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads;
    uint64_t since_ns = pwr_env_now_ns(&pwr_process.env);
    pwr_process_open(mpi_threads);
    osc_poweraware_ways.counts = pwr_process_is_watched();
    be_first();
    SELF->ucx = SELF->loops;
    if (SELF->ucx) {
        pwr_ucx_users_start(&pwr_process.env);
    }
    pwr_process_add_setup(since_ns);
    return OMPI_SUCCESS;
}

/* ---- asked ---- */

/* This thread asks the others. */
static _Thread_local bool is_away;

static int query(ompi_win_t *win, void **base, size_t size, pwr_disp_unit_t unit,
                 ompi_communicator_t *comm, opal_info_t *info, int flavor)
{
    (void)win, (void)base, (void)size, (void)unit, (void)comm, (void)info, (void)flavor;
    return is_away ? -1 : INT_MAX;
}

/* What ompi_osc_base_select does first. */
static int find_winner(ompi_win_t *win, void **base, size_t size, pwr_disp_unit_t unit,
                       ompi_communicator_t *comm, opal_info_t *info, int flavor,
                       ompi_osc_base_component_t **winner)
{
    int highest = -1;
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, &ompi_osc_base_framework.framework_components,
                      mca_base_component_list_item_t)
    {
        ompi_osc_base_component_t *component = (ompi_osc_base_component_t *)item->cli_component;
        int priority = component->osc_query(win, base, size, unit, comm, info, flavor);
        if (MPI_WIN_FLAVOR_SHARED == flavor && OMPI_ERR_RMA_SHARED == priority) {
            return OMPI_ERR_RMA_SHARED;
        }
        if (priority > highest) {
            *winner = component;
            highest = priority;
        }
    }
    return NULL == *winner ? OMPI_ERR_NOT_SUPPORTED : OMPI_SUCCESS;
}

static int select_for(ompi_win_t *win, void **base, size_t size, pwr_disp_unit_t unit,
                      ompi_communicator_t *comm, opal_info_t *info, int flavor, int *model)
{
    ompi_osc_base_component_t *winner = NULL;
    is_away = true;
    int rc = find_winner(win, base, size, unit, comm, info, flavor, &winner);
    if (OMPI_SUCCESS == rc) {
        rc = winner->osc_select(win, base, size, unit, comm, info, flavor, model);
    }
    is_away = false;
    if (OMPI_SUCCESS == rc) {
        osc_poweraware_interpose(win, comm, winner->osc_version.mca_component_name);
    }
    return rc;
}

/* ---- closed ---- */

/* What this component adds to the report of its rank. */
static json_t *own_report(void)
{
    const osc_poweraware_totals_t *totals = &osc_poweraware_totals;
    json_t *calls = json_object();
    for (int i = 0; i < OSC_POWERAWARE_NUM_CALLS; ++i) {
        if (0 != totals->calls[i]) {
            json_object_set_new(calls, osc_poweraware_names[i],
                                json_integer((json_int_t)totals->calls[i]));
        }
    }
    return json_pack("{s:{s:s, s:o, s:o, s:I}}", "windows", "scheme",
                     osc_poweraware_scheme_name(SELF->settings.scheme), "made",
                     osc_poweraware_made(), "calls", calls, "agent_served",
                     (json_int_t)osc_poweraware_agent_served);
}

/* The framework finalizes components that it has initialised, and does not close them then. */
static int finalize(void)
{
    if (NULL != pwr_process_ranks_dir()) {
        pwr_rank_write(own_report());
    }
    return close_component();
}

static int close_component(void)
{
    if (SELF->published) {
        SELF->published = false;
        osc_poweraware_agent_stop();
        if (SELF->ucx) {
            pwr_ucx_users_stop();
        }
        if (SELF->loops) {
            pwr_idle_loops_stop();
        }
        SELF->ucx = SELF->loops = false;
        pwr_process_close();
    }
    return OMPI_SUCCESS;
}
