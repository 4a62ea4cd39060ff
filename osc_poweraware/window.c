/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Windows: made, found, freed.
 *
 * A module has the layout of its component, so nothing of ours fits into it.  A window is found by
 * its number among all windows of the process (the one that Fortran knows it by), which it has when
 * it is called for the first time, and not yet when its component is selected.  Until then it is in
 * a list.  The number is an index of an array in parts, which do not move: threads look without a
 * lock, each at windows that live as long as its call.
 */
#include "window.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "pwr_ompi/ucx.h"

osc_poweraware_ways_t osc_poweraware_ways;

enum { PART = 256, PARTS = 4096 };

typedef _Atomic(osc_poweraware_window_t *) place_t;

static struct {
    pthread_mutex_t lock;
    osc_poweraware_window_t *uncalled;
    _Atomic(place_t *) parts[PARTS]; /* each of PART windows, or NULL */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- found ---- */

/* NULL: there is none yet. */
static place_t *place_of(const ompi_win_t *win)
{
    unsigned number = (unsigned)win->w_f_to_c_index;
    if (number >= PART * PARTS) {
        return NULL;
    }
    place_t *part = atomic_load_explicit(&all.parts[number / PART], memory_order_acquire);
    return NULL == part ? NULL : &part[number % PART];
}

static place_t *make_place(const ompi_win_t *win)
{
    unsigned number = (unsigned)win->w_f_to_c_index;
    if (NULL == place_of(win) && number < PART * PARTS) {
        atomic_store_explicit(&all.parts[number / PART], calloc(PART, sizeof(place_t)),
                              memory_order_release);
    }
    return place_of(win);
}

/* Where the place of a window cannot be had it stays in the list. */
static osc_poweraware_window_t *find_uncalled(const ompi_win_t *win)
{
    pthread_mutex_lock(&all.lock);
    osc_poweraware_window_t **link = &all.uncalled;
    while ((*link)->module != win->w_osc_module) {
        link = &(*link)->next;
    }
    osc_poweraware_window_t *window = *link;
    place_t *place = make_place(win);
    if (NULL != place) {
        *link = window->next;
        atomic_store_explicit(place, window, memory_order_release);
    }
    pthread_mutex_unlock(&all.lock);
    return window;
}

osc_poweraware_window_t *osc_poweraware_window_find(const ompi_win_t *win)
{
    place_t *place = place_of(win);
    osc_poweraware_window_t *window =
        NULL == place ? NULL : atomic_load_explicit(place, memory_order_acquire);
    return NULL != window && window->module == win->w_osc_module ? window : find_uncalled(win);
}

/* ---- counted ---- */

enum { COMPONENTS = 8 };

static struct {
    const char *component;
    json_int_t windows;
} made[COMPONENTS];

static void count(const char *component)
{
    int i = 0;
    while (i < COMPONENTS - 1 && NULL != made[i].component &&
           0 != strcmp(made[i].component, component)) {
        ++i;
    }
    made[i].component = component;
    ++made[i].windows;
}

json_t *osc_poweraware_made(void)
{
    json_t *windows = json_object();
    for (int i = 0; i < COMPONENTS && NULL != made[i].component; ++i) {
        json_object_set_new(windows, made[i].component, json_integer(made[i].windows));
    }
    return windows;
}

/* ---- made and freed ---- */

/* In a window of osc/sm, and nowhere else, all is done by loads and stores. */
bool osc_poweraware_is_memory(const char *component)
{
    return 0 == strcmp("sm", component);
}

/* Windows are made rarely, and by all ranks: a good time to look what there is. */
bool osc_poweraware_has_levers(void)
{
    if (NULL == pwr_process.power || pwr_process.mpi_threads) {
        return false;
    }
    pwr_process_arm_levers();
    return pwr_power_has_any(pwr_process.power);
}

static void begin_operations(osc_poweraware_window_t *window, pwr_operations_t *of,
                             pwr_class_t **classes, bool sleeps, bool levers)
{
    const osc_poweraware_ways_t *ways = &osc_poweraware_ways;
    bool classed = (levers || ways->counts) && !pwr_process.mpi_threads;
    pwr_operations_init(of, window->comm, ways->scheme, ways->first_operation,
                        classed ? OSC_POWERAWARE_NUM_CALLS : 0, classes);
    of->idles = sleeps;
    of->levers = levers ? PWR_LEVERS_IN_WAITS : PWR_LEVERS_NEVER;
}

/* osc/ucx waits for no message of Open MPI's.  Hardware of other nodes may change memory, and
   nothing wakes then. */
static void find_ends(pwr_idle_ends_t *ends, const char *component)
{
    bool is_ucx = 0 == strcmp("ucx", component);
    ends->messages = !is_ucx && !osc_poweraware_is_memory(component);
    ends->unheard = is_ucx && !(pwr_ucx_users_wake() && ends->group.is_whole);
    if (is_ucx && !pwr_ucx_users_wake()) {
        pwr_idle_loops_unheard();
    }
}

osc_poweraware_window_t *
osc_poweraware_window_new(ompi_win_t *win, struct ompi_communicator_t *comm, const char *component)
{
    const osc_poweraware_ways_t *ways = &osc_poweraware_ways;
    osc_poweraware_window_t *window = calloc(1, sizeof *window);
    if (NULL == window) {
        return NULL;
    }
    window->module = win->w_osc_module;
    window->saved = *win->w_osc_module;
    window->comm = comm;
    OBJ_RETAIN(comm); /* the application may free it before the window */
    bool levers = ways->levers && osc_poweraware_has_levers();
    begin_operations(window, &window->collective, window->classes[0], ways->sleeps, levers);
    begin_operations(window, &window->others, window->classes[1], ways->sleeps_everywhere, levers);
    window->collective.win = window->others.win = win;
    bool transfers = levers && !osc_poweraware_is_memory(component);
    window->transfers = transfers ? calloc(1, sizeof *window->transfers) : NULL;
    pwr_doorbell_group(comm, &window->ends.group);
    find_ends(&window->ends, component);
    window->needs_targets = !osc_poweraware_is_memory(component);
    if (window->needs_targets) {
        ++pwr_process.served_windows;
        pwr_doorbell_ring_always();
    }
    window->is_served = ways->agent && osc_poweraware_agent_enter(component);
    return window;
}

void osc_poweraware_window_add(osc_poweraware_window_t *window, const char *component)
{
    pthread_mutex_lock(&all.lock);
    count(component);
    window->next = all.uncalled;
    all.uncalled = window;
    pthread_mutex_unlock(&all.lock);
}

void osc_poweraware_window_remove(const ompi_win_t *win, const osc_poweraware_window_t *window)
{
    place_t *place = place_of(win);
    pthread_mutex_lock(&all.lock);
    if (NULL != place) {
        atomic_store_explicit(place, NULL, memory_order_relaxed);
    }
    osc_poweraware_window_t **link = &all.uncalled;
    while (NULL != *link && window != *link) {
        link = &(*link)->next;
    }
    if (NULL != *link) {
        *link = window->next;
    }
    pthread_mutex_unlock(&all.lock);
}

void osc_poweraware_window_free(osc_poweraware_window_t *window)
{
    pwr_operations_end(&window->collective);
    pwr_operations_end(&window->others);
    OBJ_RELEASE(window->comm);
    pwr_process.served_windows -= window->needs_targets;
    free(window->transfers);
    free(window);
}
