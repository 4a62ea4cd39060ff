/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component on one window: what the module had before us, and what its calls need.
 */
#ifndef OSC_POWERAWARE_WINDOW_H
#define OSC_POWERAWARE_WINDOW_H

#include "calls.h"

#include "pwr_ompi/operation.h"

typedef struct osc_poweraware_window {
    ompi_osc_base_module_t *module; /* of the component that was selected, ... */
    ompi_osc_base_module_t saved;   /* ... and its functions */
    struct ompi_communicator_t *comm;
    pwr_operations_t collective; /* all ranks make them: fence, free */
    pwr_operations_t others;
    struct osc_poweraware_window *next; /* of those that nobody has called yet */
} osc_poweraware_window_t;

/* Of the process. */
typedef struct osc_poweraware_totals {
    _Atomic uint64_t calls[OSC_POWERAWARE_NUM_CALLS]; /* of those that are ours */
} osc_poweraware_totals_t;
extern osc_poweraware_totals_t osc_poweraware_totals;
/* Windows of which some functions are ours, by the component that does them: an object. */
json_t *osc_poweraware_made(void);

/* How calls are watched and wait; set before the first window. */
typedef struct osc_poweraware_ways {
    const pwr_scheme_t *scheme;
    unsigned first_operation; /* number of the process */
    bool counts;              /* all calls, for a report */
} osc_poweraware_ways_t;
extern osc_poweraware_ways_t osc_poweraware_ways;

/* Puts our functions into the module that component has made for win, where that has a purpose.
   Without memory the window stays as it is. */
void osc_poweraware_interpose(ompi_win_t *win, struct ompi_communicator_t *comm,
                              const char *component);
/* Of a call on win. */
osc_poweraware_window_t *osc_poweraware_window_find(const ompi_win_t *win);
/* The module has its functions back, and nobody finds window any more. */
void osc_poweraware_withdraw(const ompi_win_t *win, osc_poweraware_window_t *window);
void osc_poweraware_window_free(osc_poweraware_window_t *window);

/* calls.c: our functions in the places of those that the component's module has, and back.  False:
   none of them has a purpose there. */
bool osc_poweraware_put_calls(const osc_poweraware_window_t *window, const char *component);
void osc_poweraware_take_calls(const osc_poweraware_window_t *window);

#endif
