/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Blocking calls of MPI give the CPU back.
 *
 * Open MPI waits for requests through a table of functions, and calls its pml through another. Ours
 * take the places of those that block: they wait by the ladder until the saved function would not
 * have to wait, and then call it.  What blocks elsewhere: idle_hook.c.  Those that only look are
 * marked as such for it.
 *
 * A function of ours has the name of the field that it is put into.
 *
 * For stock collectives alone, they pass on what is of none: that costs other calls a nanosecond.
 * To come and go with each collective would cost those ten.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/idle.h"

#include "idle_private.h"

#include "ompi/mca/pml/pml.h"

static struct {
    enum { NOWHERE, WITHIN, EVERYWHERE } where;
    pwr_wait_policy_t policy; /* everywhere */
    pwr_wait_stats_t *stats;  /* everywhere */
    ompi_request_fns_t requests;
    mca_pml_base_module_t pml;
} saved;

/* ---- the ladder ---- */

static bool is_passed_on(void)
{
    return NULL == pwr_thread.within && EVERYWHERE != saved.where;
}

/* Most waits of ranks that keep step are over before it pays to prepare for a longer one: to sleep
   and to be woken takes as long as so many looks.  Where CPUs are shared, each look lets others
   have theirs, which costs nothing. */
static bool is_over_soon(bool (*over)(void *arg), void *arg, bool crowded)
{
    enum { LOOKS = 64, LOOKS_CROWDED = 12 };
    int looks = crowded ? LOOKS_CROWDED : LOOKS;
    bool outer = pwr_thread.waits;
    bool is_over = false;
    pwr_thread.waits = true;
    for (int i = 0; i < looks && !is_over; ++i) {
        pwr_idle_look(crowded);
        is_over = over(arg);
    }
    pwr_thread.waits = outer;
    return is_over;
}

typedef struct requests {
    ompi_request_t **all;
    size_t count;
    size_t first; /* that is not known to be over */
} requests_t;

static void wait_everywhere(const pwr_idle_awaited_t *awaited)
{
    pwr_wait_policy_t policy = saved.policy;
    pwr_wait_stats_t stats = {0};
    const pwr_wait_stats_t none = {0};
    policy.oversubscribed = policy.oversubscribed || pwr_idle_is_crowded();
    (void)pwr_idle_wait(awaited->over, awaited->arg, awaited->woken, NULL, &policy, &stats);
    pwr_events_add_wait(&none, &stats);
    pwr_wait_stats_add(saved.stats, &stats);
}

static void wait_until(bool (*over)(void *arg), void *arg, bool woken, const requests_t *requests)
{
    pwr_idle_within_t *within = pwr_thread.within;
    bool crowded = NULL != within ? within->crowded : saved.policy.oversubscribed;
    if (is_over_soon(over, arg, crowded || pwr_idle_is_crowded())) {
        return;
    }
    const pwr_idle_awaited_t awaited = {
        .over = over,
        .arg = arg,
        .woken = woken && pwr_idle_is_woken(NULL != within),
        .requests = requests->all,
        .num_requests = requests->count,
    };
    if (NULL != within) {
        within->wait(within, &awaited);
    } else {
        wait_everywhere(&awaited);
    }
}

/* ---- requests ---- */

static bool all_over(void *arg)
{
    requests_t *requests = arg;
    while (requests->first < requests->count &&
           pwr_ompi_request_is_over(requests->all[requests->first])) {
        ++requests->first;
    }
    return requests->first == requests->count;
}

/* Or none is active. */
static bool any_over(void *arg)
{
    const requests_t *requests = arg;
    size_t inactive = 0;
    for (size_t i = 0; i < requests->count; ++i) {
        ompi_request_t *request = requests->all[i];
        if (OMPI_REQUEST_INACTIVE == request->req_state) {
            ++inactive;
        } else if (pwr_ompi_request_is_over(request)) {
            return true;
        }
    }
    return inactive == requests->count;
}

/* Sockets wake for messages.  Files, and what the application completes itself, are looked at. */
static bool is_message(const ompi_request_t *request)
{
    return OMPI_REQUEST_PML == request->req_type || OMPI_REQUEST_COLL == request->req_type ||
           (OMPI_REQUEST_WIN == request->req_type && pwr_idle_hears_windows);
}

static bool are_messages(const requests_t *requests)
{
    for (size_t i = 0; i < requests->count; ++i) {
        const ompi_request_t *request = requests->all[i];
        if (!pwr_ompi_request_is_complete(request) && !is_message(request)) {
            return false;
        }
    }
    return true;
}

static void wait_for_requests(bool (*over)(void *arg), size_t count, ompi_request_t **all)
{
    requests_t requests = {.all = all, .count = count};
    if (!is_passed_on() && !over(&requests)) {
        wait_until(over, &requests, are_messages(&requests), &requests);
    }
}

static int req_wait(ompi_request_t **request, ompi_status_public_t *status)
{
    wait_for_requests(all_over, 1, request);
    return saved.requests.req_wait(request, status);
}

static int req_wait_any(size_t count, ompi_request_t **all, int *index,
                        ompi_status_public_t *status)
{
    wait_for_requests(any_over, count, all);
    return saved.requests.req_wait_any(count, all, index, status);
}

static int req_wait_all(size_t count, ompi_request_t **all, ompi_status_public_t *statuses)
{
    wait_for_requests(all_over, count, all);
    return saved.requests.req_wait_all(count, all, statuses);
}

static int req_wait_some(size_t count, ompi_request_t **all, int *num_over, int *indices,
                         ompi_status_public_t *statuses)
{
    wait_for_requests(any_over, count, all);
    return saved.requests.req_wait_some(count, all, num_over, indices, statuses);
}

/* ---- pml ---- */

/* Blocking calls leave no request behind, whatever happened.  Of many, the message is there. */
static int finish(int rc, ompi_request_t *request, ompi_status_public_t *status)
{
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (!pwr_ompi_request_is_complete(request)) {
        wait_for_requests(all_over, 1, &request);
    }
    rc = saved.requests.req_wait(&request, status);
    if (MPI_REQUEST_NULL == request || OMPI_SUCCESS == rc) {
        return rc;
    }
    if (!pwr_ompi_request_is_complete(request)) { /* from anybody, and somebody has failed */
        ompi_request_cancel(request);
        rc = pwr_ompi_blocking_error(rc);
    }
    ompi_request_free(&request);
    return rc;
}

static int pml_recv(void *buffer, size_t count, struct ompi_datatype_t *datatype, int source,
                    int tag, struct ompi_communicator_t *comm, ompi_status_public_t *status)
{
    if (is_passed_on()) {
        return saved.pml.pml_recv(buffer, count, datatype, source, tag, comm, status);
    }
    ompi_request_t *request = NULL;
    int rc = mca_pml.pml_irecv(buffer, count, datatype, source, tag, comm, &request);
    return finish(rc, request, status);
}

static int pml_mrecv(void *buffer, size_t count, struct ompi_datatype_t *datatype,
                     struct ompi_message_t **message, ompi_status_public_t *status)
{
    ompi_request_t *request = NULL;
    int rc = mca_pml.pml_imrecv(buffer, count, datatype, message, &request);
    return finish(rc, request, status);
}

static int pml_send(const void *buffer, size_t count, struct ompi_datatype_t *datatype,
                    int destination, int tag, mca_pml_base_send_mode_t mode,
                    struct ompi_communicator_t *comm)
{
    if (is_passed_on()) {
        return saved.pml.pml_send(buffer, count, datatype, destination, tag, mode, comm);
    }
    ompi_request_t *request = NULL;
    int rc = mca_pml.pml_isend(buffer, count, datatype, destination, tag, mode, comm, &request);
    if (&ompi_request_empty == request) { /* it was sent at once: most short messages are */
        return rc;
    }
    return finish(rc, request, MPI_STATUS_IGNORE);
}

typedef struct probing {
    int source;
    int tag;
    struct ompi_communicator_t *comm;
    struct ompi_message_t **message; /* NULL: only to look */
    ompi_status_public_t *status;
    int matched;
    int rc;
} probing_t;

static bool probe_over(void *arg)
{
    probing_t *p = arg;
    p->rc =
        NULL == p->message
            ? mca_pml.pml_iprobe(p->source, p->tag, p->comm, &p->matched, p->status)
            : mca_pml.pml_improbe(p->source, p->tag, p->comm, &p->matched, p->message, p->status);
    return OMPI_SUCCESS != p->rc || 0 != p->matched;
}

/* A look makes progress after it has looked, so what wakes may be over before we sleep. */
static int probe_until_matched(probing_t *probing)
{
    static const requests_t none = {0};
    if (!probe_over(probing)) {
        wait_until(probe_over, probing, false, &none);
    }
    return probing->rc;
}

static int pml_probe(int source, int tag, struct ompi_communicator_t *comm,
                     ompi_status_public_t *status)
{
    probing_t probing = {.source = source, .tag = tag, .comm = comm, .status = status};
    return probe_until_matched(&probing);
}

static int pml_mprobe(int source, int tag, struct ompi_communicator_t *comm,
                      struct ompi_message_t **message, ompi_status_public_t *status)
{
    probing_t probing = {
        .source = source, .tag = tag, .comm = comm, .message = message, .status = status};
    return probe_until_matched(&probing);
}

/* ---- calls that only look ---- */

#define LOOK(before, name, parameters, ...)                                                        \
    static int name parameters                                                                     \
    {                                                                                              \
        pwr_thread.looks = true;                                                                   \
        int rc = saved.before.name(__VA_ARGS__);                                                   \
        pwr_thread.looks = false;                                                                  \
        return rc;                                                                                 \
    }

LOOK(requests, req_test, (ompi_request_t * request[], int *completed, ompi_status_public_t *status),
     request, completed, status)
LOOK(requests, req_test_any,
     (size_t count, ompi_request_t **all, int *index, int *completed, ompi_status_public_t *status),
     count, all, index, completed, status)
LOOK(requests, req_test_all,
     (size_t count, ompi_request_t **all, int *completed, ompi_status_public_t *statuses), count,
     all, completed, statuses)
LOOK(requests, req_test_some,
     (size_t count, ompi_request_t **all, int *num_over, int *indices,
      ompi_status_public_t *statuses),
     count, all, num_over, indices, statuses)
LOOK(pml, pml_iprobe,
     (int source, int tag, struct ompi_communicator_t *comm, int *matched,
      ompi_status_public_t *status),
     source, tag, comm, matched, status)
LOOK(pml, pml_improbe,
     (int source, int tag, struct ompi_communicator_t *comm, int *matched,
      struct ompi_message_t **message, ompi_status_public_t *status),
     source, tag, comm, matched, message, status)

/* ---- on and off ---- */

/* What stock collectives wait with: X(table, saved one, function). */
#define WAITS(X)                                                                                   \
    X(ompi_request_functions, requests, req_wait)                                                  \
    X(ompi_request_functions, requests, req_wait_any)                                              \
    X(ompi_request_functions, requests, req_wait_all)                                              \
    X(ompi_request_functions, requests, req_wait_some)                                             \
    X(mca_pml, pml, pml_recv)                                                                      \
    X(mca_pml, pml, pml_send)

/* What else applications call. */
#define OTHERS(X)                                                                                  \
    X(ompi_request_functions, requests, req_test)                                                  \
    X(ompi_request_functions, requests, req_test_any)                                              \
    X(ompi_request_functions, requests, req_test_all)                                              \
    X(ompi_request_functions, requests, req_test_some)                                             \
    X(mca_pml, pml, pml_mrecv)                                                                     \
    X(mca_pml, pml, pml_probe)                                                                     \
    X(mca_pml, pml, pml_mprobe)                                                                    \
    X(mca_pml, pml, pml_iprobe)                                                                    \
    X(mca_pml, pml, pml_improbe)

#define PUT(table, before, function)                                                               \
    if (function != (table).function) {                                                            \
        saved.before.function = (table).function;                                                  \
        (table).function = function;                                                               \
    }

/* Only what is still ours: others may have come after us. */
#define PUT_BACK(table, before, function)                                                          \
    if (function == (table).function) {                                                            \
        (table).function = saved.before.function;                                                  \
    }

void pwr_idle_within_start(void)
{
    saved.where = WITHIN;
    WAITS(PUT)
}

void pwr_idle_everywhere_start(const pwr_wait_policy_t *policy, pwr_wait_stats_t *stats)
{
    saved.where = EVERYWHERE;
    saved.policy = *policy;
    saved.policy.longest_ns = 0;
    saved.stats = stats;
    WAITS(PUT)
    OTHERS(PUT)
    pwr_idle_hook(&saved.policy, stats);
}

void pwr_idle_stop(void)
{
    if (EVERYWHERE == saved.where) {
        pwr_idle_unhook();
        OTHERS(PUT_BACK)
    }
    if (NOWHERE != saved.where) {
        WAITS(PUT_BACK)
    }
    saved.where = NOWHERE;
}

/* ---- stock collectives ---- */

pwr_idle_within_t *pwr_idle_enter(pwr_idle_within_t *inner)
{
    pwr_idle_within_t *outer = pwr_thread.within;
    if (NULL == outer) {
        pwr_doorbell_ring(true);
    }
    pwr_thread.within = inner;
    return outer;
}

void pwr_idle_leave(pwr_idle_within_t *outer)
{
    pwr_thread.within = outer;
    if (NULL == outer) {
        pwr_doorbell_ring(false);
    }
}
