/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages through the PML, and what becomes of a call when the PML fails.
 *
 * A message that never comes leaves its receiver waiting for ever, and one that nobody receives is
 * taken for a message of the next call.  So a call that failed goes on with all of its messages:
 * 1. where a message cannot be sent, an empty one is sent in its place;
 * 2. where one cannot be received, that is tried again (into an empty buffer would be no better: a
 *    message that is cut off is not safe with ob1's single copy);
 * 3. after either, everything that this rank sends in this call is empty;
 * 4. an empty message where bytes were due fails the call of the receiver, too.
 * If that fails as well, the peer waits; nobody here could tell it.
 */
#include "primitives/primitives.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/ucx.h"

static coll_poweraware_message_t *next_message(const coll_poweraware_call_t *call)
{
    return coll_poweraware_message(call, call->lane, call->posted[call->lane]);
}

/* Over our UCP worker, or through the PML?  All depends on what both sides know. */
static bool goes_by_ucx(const coll_poweraware_call_t *call, size_t bytes, int peer)
{
    size_t least = call->settings->ucx_min_bytes;
    return 0 != least && bytes >= least && peer != ompi_comm_rank(call->comm) &&
           pwr_ucx_reaches(call->comm, peer);
}

static coll_poweraware_message_t *describe(const coll_poweraware_call_t *call, size_t count,
                                           const struct ompi_datatype_t *datatype, int peer)
{
    size_t bytes = count * datatype->super.size;
    coll_poweraware_message_t *message = next_message(call);
    message->peer = peer;
    message->bytes_due = 0 != bytes;
    message->by_ucx = goes_by_ucx(call, bytes, peer);
    return message;
}

static int try_recv(const coll_poweraware_call_t *call, coll_poweraware_message_t *message,
                    void *buffer, size_t count, struct ompi_datatype_t *datatype)
{
    if (message->by_ucx) {
        return pwr_ucx_irecv(buffer, count, datatype, message->peer, call->tag, call->comm,
                             &message->request);
    }
    return MCA_PML_CALL(
        irecv(buffer, count, datatype, message->peer, call->tag, call->comm, &message->request));
}

static int try_send(const coll_poweraware_call_t *call, coll_poweraware_message_t *message,
                    const void *buffer, size_t count, struct ompi_datatype_t *datatype)
{
    if (message->by_ucx) {
        return pwr_ucx_isend(buffer, count, datatype, message->peer, call->tag, call->comm,
                             &message->request);
    }
    bool before = pwr_doorbell_ring(true);
    int rc = MCA_PML_CALL(isend(buffer, count, datatype, message->peer, call->tag,
                                MCA_PML_BASE_SEND_STANDARD, call->comm, &message->request));
    pwr_doorbell_ring(before);
    return rc;
}

void coll_poweraware_post_recv(coll_poweraware_call_t *call, void *buffer, size_t count,
                               struct ompi_datatype_t *datatype, int peer)
{
    coll_poweraware_message_t *message = describe(call, count, datatype, peer);
    message->receives = true;
    int rc = try_recv(call, message, buffer, count, datatype);
    if (OMPI_SUCCESS != rc) {
        coll_poweraware_note_error(call, rc);
        rc = try_recv(call, message, buffer, count, datatype); /* 2 */
    }
    call->posted[call->lane] += OMPI_SUCCESS == rc;
}

void coll_poweraware_post_send(coll_poweraware_call_t *call, const void *buffer, size_t count,
                               struct ompi_datatype_t *datatype, int peer)
{
    coll_poweraware_message_t *message = describe(call, count, datatype, peer);
    message->receives = false;
    int rc = OMPI_ERROR;
    if (OMPI_SUCCESS == call->error) {
        rc = try_send(call, message, buffer, count, datatype);
        coll_poweraware_note_error(call, rc);
    }
    if (OMPI_SUCCESS != call->error) {
        rc = try_send(call, message, NULL, 0, MPI_BYTE); /* 1, 3 */
    }
    call->posted[call->lane] += OMPI_SUCCESS == rc;
}

/* ---- waiting for them ---- */

/* What of a call's messages is not over yet. */
typedef struct open_messages {
    const coll_poweraware_call_t *call;
    int first; /* that is not over, posted if all are */
    int posted;
} open_messages_t;

static bool all_are_over(void *arg)
{
    open_messages_t *open = arg;
    while (open->first < open->posted &&
           pwr_ompi_request_is_over(
               coll_poweraware_message(open->call, open->call->lane, open->first)->request)) {
        ++open->first;
    }
    return open->first == open->posted;
}

/* What comes over UCX does, unless other threads may be in the event loop, too. */
static bool wakes(const coll_poweraware_call_t *call, const coll_poweraware_message_t *message)
{
    return message->by_ucx ? !opal_using_threads()
                           : pwr_idle_is_woken_by(call->comm, message->peer);
}

static bool all_wake(const open_messages_t *open)
{
    for (int i = open->first; i < open->posted; ++i) {
        const coll_poweraware_message_t *message =
            coll_poweraware_message(open->call, open->call->lane, i);
        if (!pwr_ompi_request_is_over(message->request) && !wakes(open->call, message)) {
            return false;
        }
    }
    return true;
}

static void missing(const void *arg, pwr_missing_fn_t tell, void *to)
{
    const open_messages_t *open = arg;
    for (int i = 0; i < open->posted; ++i) {
        const coll_poweraware_message_t *message =
            coll_poweraware_message(open->call, open->call->lane, i);
        if (!pwr_ompi_request_is_complete(message->request)) {
            tell(to, message->peer, message->receives);
        }
    }
}

static void wait_for_all(const coll_poweraware_call_t *call, int posted)
{
    open_messages_t open = {.call = call, .posted = posted};
    bool over = all_are_over(&open);
    const pwr_awaited_t awaited = {
        .site = 0 == call->lane ? PWR_SITE_MESSAGES : PWR_SITE_LANE_MESSAGES,
        .over = all_are_over,
        .arg = &open,
        .woken = !over && all_wake(&open),
        .missing = missing,
    };
    (void)pwr_operation_wait(call->operation, &awaited);
}

/* An own request may be waited for only once: it is freed then, and after an error here. */
static void finish(coll_poweraware_call_t *call, coll_poweraware_message_t *message)
{
    ompi_status_public_t status = {.MPI_ERROR = MPI_SUCCESS};
    int rc = ompi_request_wait(&message->request, &status);
    if (OMPI_SUCCESS == rc && message->receives && message->bytes_due && 0 == status._ucount) {
        rc = OMPI_ERROR; /* 4 */
    }
    if (MPI_REQUEST_NULL != message->request && pwr_ompi_request_is_complete(message->request)) {
        ompi_request_free(&message->request);
    }
    coll_poweraware_note_error(call, rc);
}

int coll_poweraware_complete(coll_poweraware_call_t *call, int first)
{
    coll_poweraware_note_error(call, first);
    int posted = call->posted[call->lane];
    if (0 != posted) {
        wait_for_all(call, posted);
        call->posted[call->lane] = 0;
    }
    for (int i = 0; i < posted; ++i) {
        finish(call, coll_poweraware_message(call, call->lane, i));
    }
    if (OMPI_SUCCESS != call->error) {
        coll_poweraware_leave_if_ended(call);
    }
    return call->error;
}

/* ---- when the communicator has ended ---- */

static bool cancel_lane(coll_poweraware_call_t *call, int lane)
{
    bool all_over = true;
    for (int i = 0; i < call->posted[lane]; ++i) {
        const coll_poweraware_message_t *message = coll_poweraware_message(call, lane, i);
        ompi_request_t *request = message->request;
        if (message->receives && !pwr_ompi_request_is_complete(request)) {
            ompi_request_cancel(request);
            opal_progress();
        }
        all_over = all_over && pwr_ompi_request_is_complete(request);
        ompi_request_free(&request); /* now, or as soon as it is over */
    }
    call->posted[lane] = 0;
    return all_over;
}

bool coll_poweraware_cancel_messages(coll_poweraware_call_t *call)
{
    bool all_over = true;
    for (int lane = 0; lane < COLL_POWERAWARE_LANES; ++lane) {
        all_over = cancel_lane(call, lane) && all_over;
    }
    return all_over;
}
