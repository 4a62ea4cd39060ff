/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component on one window: what the module had before us, and what its calls need.
 */
#ifndef OSC_POWERAWARE_WINDOW_H
#define OSC_POWERAWARE_WINDOW_H

#include "calls.h"
#include "transfers.h"

#include "pwr_ompi/operation.h"

typedef struct osc_poweraware_window {
    ompi_osc_base_module_t *module; /* of the component that was selected, ... */
    ompi_osc_base_module_t saved;   /* ... and its functions */
    struct ompi_communicator_t *comm;
    pwr_operations_t collective; /* all ranks make them: fence, free */
    pwr_operations_t others;
    pwr_class_t
        *classes[2][OSC_POWERAWARE_NUM_CALLS];     /* of both, if levers move, or for a report */
    osc_poweraware_transfers_t *transfers;         /* NULL: nobody asks how long they take */
    bool needs_targets;                            /* their progress, in some calls */
    bool is_served;                                /* agent.h */
    pwr_idle_ends_t ends;                          /* of their waits */
    pwr_history_t sites[OSC_POWERAWARE_NUM_CALLS]; /* without threads */
    struct osc_poweraware_window *next;            /* of those that nobody has called yet */
} osc_poweraware_window_t;

/* Of the process. */
typedef struct osc_poweraware_totals {
    uint64_t calls[OSC_POWERAWARE_NUM_CALLS]; /* of those that are ours */
} osc_poweraware_totals_t;
extern osc_poweraware_totals_t osc_poweraware_totals;
/* Windows of which some functions are ours, by the component that does them: an object. */
json_t *osc_poweraware_made(void);

/* How calls are watched and wait; set before the first window. */
typedef struct osc_poweraware_ways {
    const pwr_scheme_t *scheme;
    unsigned first_operation; /* number of the process */
    bool counts;              /* all calls, for a report */
    bool sleeps;              /* who waits in a collective one, ... */
    bool sleeps_everywhere;   /* ... and in any other one */
    bool levers;              /* waits move them, where there are any */
    bool agent;               /* agent.h */
} osc_poweraware_ways_t;
extern osc_poweraware_ways_t osc_poweraware_ways;

/* Whether waits can move levers in this process. */
bool osc_poweraware_has_levers(void);

/* Of the module that component has made for win; NULL: out of memory. */
osc_poweraware_window_t *
osc_poweraware_window_new(ompi_win_t *win, struct ompi_communicator_t *comm, const char *component);
/* Whether its windows are memory that all ranks have, and no messages. */
bool osc_poweraware_is_memory(const char *component);
/* Calls on win find it from now on. */
void osc_poweraware_window_add(osc_poweraware_window_t *window, const char *component);
osc_poweraware_window_t *osc_poweraware_window_find(const ompi_win_t *win);
/* Nobody finds it any more. */
void osc_poweraware_window_remove(const ompi_win_t *win, const osc_poweraware_window_t *window);
void osc_poweraware_window_free(osc_poweraware_window_t *window);

/* calls.c: puts our functions into the module that component has made for win, where that has a
   purpose.  Without memory the window stays as it is. */
void osc_poweraware_interpose(ompi_win_t *win, struct ompi_communicator_t *comm,
                              const char *component);

#endif
