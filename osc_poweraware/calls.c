/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What Open MPI calls: one function per call of windows.
 *
 * All of them are alike: the operation begins, the saved function is called with the arguments as
 * they came.  Functions that neither wait nor let others go on are left alone, unless all calls are
 * to be counted.
 */
#include "agent.h"
#include "calls.h"
#include "window.h"

#include <string.h>

#include "pwr_ompi/call.h"

const char *const osc_poweraware_names[OSC_POWERAWARE_NUM_CALLS] = {
#define NAME(name, ...) "win_" #name,
    OSC_POWERAWARE_CALLS(NAME) "win_free"};

osc_poweraware_totals_t osc_poweraware_totals;

/* ---- what a call may do ---- */

#define WAITS OSC_POWERAWARE_WAITS
#define LETS_GO OSC_POWERAWARE_LETS_GO
#define ALL_WAIT OSC_POWERAWARE_ALL_WAIT
#define COMPLETES OSC_POWERAWARE_COMPLETES
#define MEETS OSC_POWERAWARE_MEETS
#define ASKS OSC_POWERAWARE_ASKS
#define NOTHING OSC_POWERAWARE_NOTHING
#define ALL_TARGETS OSC_POWERAWARE_ALL_TARGETS
#define NO_TARGET OSC_POWERAWARE_NO_TARGET
#define BYTES(count, type) ((size_t)(count) * (type)->super.size)

static const int kinds[] = {
#define KIND(name, kind, kind_in_memory, ...) kind,
    OSC_POWERAWARE_CALLS(KIND)};
static const int kinds_in_memory[] = {
#define KIND_IN_MEMORY(name, kind, kind_in_memory, ...) kind_in_memory,
    OSC_POWERAWARE_CALLS(KIND_IN_MEMORY)};

static int kind_of(osc_poweraware_call_t call, const char *component)
{
    return osc_poweraware_is_memory(component) ? kinds_in_memory[call] : kinds[call];
}

/* ---- a call ---- */

static inline pwr_operations_t *operations_of(osc_poweraware_window_t *window, int kind)
{
    return 0 != (ALL_WAIT & kind) ? &window->collective : &window->others;
}

/* What all ranks make is one in any case (pwr_ompi/call.h). */
static inline bool is_operation(const osc_poweraware_window_t *window, int kind)
{
    return 0 != (ALL_WAIT & kind) || osc_poweraware_ways.counts ||
           PWR_LEVERS_IN_WAITS == window->others.levers;
}

static inline bool loops(osc_poweraware_window_t *window, int kind)
{
    return 0 != (WAITS & kind) && pwr_calls_save(operations_of(window, kind));
}

/* What is under way to the target of a call, once it has begun: with what it moves itself. */
static osc_poweraware_rest_t follow(osc_poweraware_window_t *window, int kind, int target,
                                    size_t bytes)
{
    uint64_t now = pwr_env_now_ns(&pwr_process.env);
    if (0 != bytes) {
        osc_poweraware_transfer_begins(window->transfers, target, bytes, now);
    }
    return 0 != (COMPLETES & kind) ? osc_poweraware_transfers_rest(window->transfers, target, now)
                                   : (osc_poweraware_rest_t){bytes, 0};
}

static inline void begin(osc_poweraware_window_t *window, pwr_call_t *call, int number, int kind,
                         int target, size_t bytes)
{
    osc_poweraware_rest_t rest = {bytes, 0};
    pwr_operations_t *of = operations_of(window, kind);
    if (NULL != window->transfers && NO_TARGET != target) {
        rest = follow(window, kind, target, bytes);
    }
    if (is_operation(window, kind)) {
        pwr_process_count(&osc_poweraware_totals.calls[number]);
    }
    pwr_call_begin(call, of, of->first + (unsigned)number, target, rest.bytes,
                   is_operation(window, kind));
    if (loops(window, kind)) {
        pwr_call_waits(call, &window->ends, &window->sites[number], rest.ns, 0 != (ASKS & kind));
    }
}

static inline void end(osc_poweraware_window_t *window, pwr_call_t *call, int kind, int target)
{
    if (loops(window, kind)) {
        pwr_call_has_waited(call);
    }
    if (NULL != window->transfers && 0 != (COMPLETES & kind)) {
        osc_poweraware_transfers_end(window->transfers, target, 0 == (MEETS & kind),
                                     pwr_env_now_ns(&pwr_process.env));
    }
    pwr_call_end(call);
    if (0 != (LETS_GO & kind)) {
        pwr_doorbell_let_go();
    }
}

#define CALL(name, kind, kind_in_memory, its_target, bytes, parameters, arguments)                 \
    static int name parameters                                                                     \
    {                                                                                              \
        osc_poweraware_window_t *window = osc_poweraware_window_find(win);                         \
        pwr_call_t call;                                                                               \
        begin(window, &call, OSC_POWERAWARE_##name, kind, its_target, bytes);                      \
        int rc = window->saved.osc_##name arguments;                                               \
        end(window, &call, kind, its_target);                                                      \
        return rc;                                                                                 \
    }
OSC_POWERAWARE_CALLS(CALL)

static int test(ompi_win_t *win, int *over)
{
    bool before = pwr_idle_only_looks(true);
    int rc = osc_poweraware_window_find(win)->saved.osc_test(win, over);
    pwr_idle_only_looks(before);
    return rc;
}

static void take_calls(const osc_poweraware_window_t *window);

/* All ranks meet in it. */
static int free_window(ompi_win_t *win)
{
    osc_poweraware_window_t *window = osc_poweraware_window_find(win);
    pwr_call_t call;
    begin(window, &call, OSC_POWERAWARE_free, WAITS | ALL_WAIT, NO_TARGET, 0);
    take_calls(window);
    if (window->is_served) {
        osc_poweraware_agent_leave();
    }
    osc_poweraware_window_remove(win, window);
    int rc = window->saved.osc_free(win);
    end(window, &call, WAITS | ALL_WAIT, NO_TARGET);
    osc_poweraware_window_free(window);
    return rc;
}

/* ---- in a module ---- */

/* Where only collective calls give the CPU back, the others are as they were. */
static bool is_wanted(osc_poweraware_window_t *window, osc_poweraware_call_t call,
                      const char *component)
{
    int kind = kind_of(call, component);
    return osc_poweraware_ways.counts || NULL != window->transfers ||
           (NOTHING != kind && pwr_calls_save(operations_of(window, kind)));
}

static void put_calls(osc_poweraware_window_t *window, const char *component)
{
    ompi_osc_base_module_t *module = window->module;
#define PUT(name, ...)                                                                             \
    if (NULL != module->osc_##name && is_wanted(window, OSC_POWERAWARE_##name, component)) {       \
        module->osc_##name = name;                                                                 \
    }
    OSC_POWERAWARE_CALLS(PUT)
    if (window->others.idles) {
        module->osc_test = test;
    }
    module->osc_free = free_window;
}

/* Only what is still ours: others may have come after us. */
static void take_calls(const osc_poweraware_window_t *window)
{
    ompi_osc_base_module_t *module = window->module;
#define TAKE(name, ...)                                                                            \
    if (name == module->osc_##name) {                                                              \
        module->osc_##name = window->saved.osc_##name;                                             \
    }
    OSC_POWERAWARE_CALLS(TAKE)
    if (test == module->osc_test) {
        module->osc_test = window->saved.osc_test;
    }
    if (free_window == module->osc_free) {
        module->osc_free = window->saved.osc_free;
    }
}

/* In windows of one rank nobody waits. */
void osc_poweraware_interpose(ompi_win_t *win, struct ompi_communicator_t *comm,
                              const char *component)
{
    const osc_poweraware_ways_t *ways = &osc_poweraware_ways;
    bool has_purpose = ways->counts || ways->sleeps || ways->agent ||
                       (ways->levers && osc_poweraware_has_levers());
    osc_poweraware_window_t *window = has_purpose && ompi_comm_size(comm) > 1
                                          ? osc_poweraware_window_new(win, comm, component)
                                          : NULL;
    if (NULL != window) {
        put_calls(window, component);
        osc_poweraware_window_add(window, component);
    }
}
