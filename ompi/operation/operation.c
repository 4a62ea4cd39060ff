/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An operation from its begin to its end (pwr_ompi/operation.h).
 */
#include "operation_private.h"

#include "pwr_ompi/events.h"
#include "pwr_ompi/process.h"
#include "pwr_ompi/thread.h"

void pwr_operations_init(pwr_operations_t *of, struct ompi_communicator_t *comm,
                         const pwr_scheme_t *scheme, unsigned first, unsigned num_classed,
                         pwr_class_t **classes)
{
    of->comm = comm;
    of->scheme = scheme;
    of->idles = pwr_process_idles(scheme);
    of->first = first;
    of->num_classed = num_classed;
    of->classes = classes;
    pwr_decided_enlist(of);
}

void pwr_operations_end(pwr_operations_t *of)
{
    pwr_decided_delist(of);
    pwr_wait_stats_add(&pwr_process.wait_stats, &of->waits);
    pwr_classes_free(of);
}

/* Its waits are found by who waits in the stock function (pwr_ompi/idle.h); within another
   operation that one's are. */
static bool idles_in_stock(const pwr_operation_t *operation)
{
    return operation->stock && !operation->nested && operation->of->idles;
}

static bool is_accounted(const pwr_operation_t *operation)
{
    return NULL != pwr_process.account && !operation->nested;
}

/* Of every operation.  Threads may call the same window. */
static void enter(pwr_operation_t *operation, pwr_operations_t *of)
{
    pwr_process_count(&of->calls);
    operation->of = of;
    operation->nested = 0 != pwr_thread.operations++;
}

static void leave(void)
{
    pwr_thread.operations -= 0 != pwr_thread.operations;
}

static void fill(pwr_operation_t *operation, unsigned name, size_t own_bytes)
{
    operation->name = name;
    operation->own_bytes = own_bytes;
    operation->waits = (pwr_wait_stats_t){0};
    operation->was_set_up = false;
}

/* 1. */
void pwr_operation_begin(pwr_operation_t *operation, pwr_operations_t *of, unsigned name,
                         size_t bytes, size_t own_bytes)
{
    enter(operation, of);
    fill(operation, name, own_bytes);
    pwr_events_add(PWR_EVENT_CALL, (int)name, -1, own_bytes);
    operation->class = pwr_class_of(of, name, bytes);
    if (is_accounted(operation)) {
        pwr_operation_account_open(operation);
    }
}

/* What waits ask first. */
static void begin_policy(pwr_operation_t *operation)
{
    operation->has_policy = false;
    operation->knows_sites = !operation->stock && pwr_class_knows_sites(operation->class);
    operation->sites_seen = 0;
    operation->may_end = pwr_ompi_comms_may_end();
}

static void begin_waits(pwr_operation_t *operation)
{
    begin_policy(operation);
    if (idles_in_stock(operation)) {
        operation->within.crowded = pwr_process.waits.oversubscribed;
        operation->within.wait = pwr_wait_in_stock;
        operation->outer = pwr_idle_enter(&operation->within);
    }
}

void pwr_operation_set_up_begin(pwr_operation_t *operation)
{
    operation->algorithm = PWR_ACCOUNT_NO_ALGORITHM;
    operation->stock = true;
    operation->levers = false;
    begin_waits(operation);
}

static void end_waits(const pwr_operation_t *operation)
{
    if (idles_in_stock(operation)) {
        pwr_idle_leave(operation->outer);
    }
    pwr_doorbell_let_go();
}

/* Threads wait in stock functions of different communicators at the same time. */
static void add_waits(const pwr_operation_t *operation)
{
    if (0 == operation->waits.waits) {
        return;
    }
    if (operation->stock) {
        pwr_wait_stats_add(&pwr_process.idle_stats, &operation->waits);
    } else {
        pwr_wait_stats_add_plainly(&operation->of->waits, &operation->waits);
    }
}

/* The operation's own waits begin after it. */
void pwr_operation_set_up_end(pwr_operation_t *operation)
{
    end_waits(operation);
    add_waits(operation);
    if (!operation->was_set_up) {
        operation->was_set_up = true;
        operation->set_up_waits = (pwr_wait_stats_t){0};
    }
    pwr_wait_stats_add_plainly(&operation->set_up_waits, &operation->waits);
    operation->waits = (pwr_wait_stats_t){0};
}

void pwr_operation_number(pwr_operation_t *operation, uint64_t number)
{
    if (NULL != operation->class && operation->class->audited) {
        pwr_audit_at(&operation->class->audit, number);
    }
}

void pwr_operation_changes(pwr_operation_t *operation)
{
    if (NULL != operation->class && operation->class->audited) {
        pwr_audit_forget(&operation->class->audit);
    }
}

void pwr_operation_starts(pwr_operation_t *operation, pwr_audit_depth_t start)
{
    if (NULL != operation->class && operation->class->audited) {
        pwr_audit_start(&operation->class->audit, start);
    }
}

void pwr_operation_choice(const pwr_operation_t *operation, const pwr_choice_t *choice)
{
    const pwr_operations_t *of = operation->of;
    if (NULL == operation->class) {
        return;
    }
    operation->class->choice = *choice;
    if (NULL != of->hierarchy) {
        const pwr_class_t *first = of->classes[operation->name - of->first];
        pwr_learnt(operation->name, of->hierarchy->num_nodes, of->hierarchy->max_local,
                   (int)(operation->class - first), choice);
    }
}

/* What has no class is only counted. */
static bool may_move_levers(const pwr_operation_t *operation)
{
    const pwr_operations_t *of = operation->of;
    return NULL != operation->class && !operation->nested && of->scheme->saves &&
           PWR_LEVERS_NEVER != of->levers && pwr_operations_move_enough(of, operation->own_bytes) &&
           pwr_class_may_move_levers(operation->class);
}

static void begin_levers(pwr_operation_t *operation)
{
    if (is_accounted(operation)) {
        pwr_operation_account_levers(operation);
    }
    operation->low = PWR_LEVERS_IN_CALLS == operation->of->levers;
    if (operation->low) {
        pwr_levers_low(pwr_levers_expected_ns(operation->of->scheme, &operation->class->length));
        operation->levers_ns = pwr_env_now_ns(&pwr_process.env);
    }
}

void pwr_operation_low(pwr_operation_t *operation, uint64_t expected_ns)
{
    if (operation->levers) {
        operation->low = true;
        pwr_levers_low(expected_ns);
    }
}

void pwr_operation_full(pwr_operation_t *operation)
{
    if (operation->levers && operation->low) {
        operation->low = false;
        pwr_levers_full();
    }
}

/* What moving them takes is no part of the phase: it would look the longer, the less that pays. */
static void end_levers(pwr_operation_t *operation)
{
    if (PWR_LEVERS_IN_CALLS == operation->of->levers) {
        uint64_t ns = pwr_env_now_ns(&pwr_process.env) - operation->levers_ns;
        pwr_history_add(&operation->class->length, ns);
    }
    pwr_operation_full(operation);
}

static void begin_position(pwr_operations_t *of, unsigned name)
{
    if (pwr_positions_are_known(&of->positions)) {
        pwr_position_begin(&of->positions, name);
    }
}

/* 2. */
void pwr_operation_start(pwr_operation_t *operation, int algorithm, bool stock)
{
    operation->algorithm = algorithm;
    operation->stock = stock;
    operation->levers = may_move_levers(operation);
    if (operation->levers) {
        begin_levers(operation);
    }
    begin_position(operation->of, operation->name);
    begin_waits(operation);
}

static void end_position(pwr_operations_t *of)
{
    if (pwr_positions_are_known(&of->positions)) {
        pwr_position_end(&of->positions);
    }
}

/* 4. */
void pwr_operation_end(pwr_operation_t *operation)
{
    pwr_operations_t *of = operation->of;
    end_waits(operation);
    end_position(of);
    if (operation->levers) {
        end_levers(operation);
    }
    add_waits(operation);
    pwr_class_end(operation->class, operation->waits.sleeps);
    if (is_accounted(operation)) {
        pwr_operation_account_close(operation);
    }
    pwr_events_add(PWR_EVENT_RETURN, (int)operation->name, -1, 0);
    leave();
}

/* ---- calls that repeat others ---- */

uint32_t pwr_operation_repeats(const pwr_operation_t *operation)
{
    bool plain = !operation->levers && !operation->nested && NULL == pwr_process.account &&
                 !pwr_events_are_kept;
    return plain ? pwr_class_repeats(operation->class) : 0;
}

static void fill_repeated(pwr_operation_t *operation, const pwr_repeated_t *repeated)
{
    fill(operation, repeated->name, repeated->own_bytes);
    operation->class = repeated->class;
    operation->algorithm = repeated->algorithm;
    operation->levers = false;
    begin_policy(operation);
}

static void add_repeated(const pwr_operation_t *operation)
{
    add_waits(operation);
    pwr_class_slept(operation->class, operation->waits.sleeps);
}

/* For one wait of a stock function. */
static void wait_in_repeated(pwr_idle_within_t *within, const pwr_idle_awaited_t *awaited)
{
    const pwr_repeated_t *repeated = (const pwr_repeated_t *)within;
    pwr_operation_t operation;
    operation.of = repeated->of;
    operation.nested = false;
    operation.stock = true;
    fill_repeated(&operation, repeated);
    pwr_wait_in_stock(&operation.within, awaited);
    add_repeated(&operation);
}

pwr_repeated_t pwr_operation_repeated(const pwr_operation_t *operation)
{
    return (pwr_repeated_t){
        .within = {.crowded = pwr_process.waits.oversubscribed, .wait = wait_in_repeated},
        .of = operation->of,
        .name = operation->name,
        .stock = operation->stock,
        .algorithm = operation->algorithm,
        .own_bytes = operation->own_bytes,
        .class = operation->class,
    };
}

void pwr_operation_repeat(pwr_operation_t *operation, pwr_repeated_t *repeated)
{
    enter(operation, repeated->of);
    begin_position(repeated->of, repeated->name);
    operation->stock = repeated->stock;
    if (idles_in_stock(operation)) {
        operation->outer = pwr_idle_enter(&repeated->within);
    } else if (!repeated->stock) {
        fill_repeated(operation, repeated);
    }
}

void pwr_operation_repeat_end(pwr_operation_t *operation)
{
    end_waits(operation);
    end_position(operation->of);
    if (!operation->stock) {
        add_repeated(operation);
    }
    leave();
}
