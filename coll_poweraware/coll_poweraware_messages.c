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
#include "coll_poweraware_words.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"

static void note(coll_poweraware_call_t *call, int rc)
{
    call->error = OMPI_SUCCESS == call->error ? rc : call->error;
}

static coll_poweraware_message_t *next_message(const coll_poweraware_call_t *call)
{
    return coll_poweraware_message(call, call->lane, call->posted[call->lane]);
}

static int try_recv(coll_poweraware_call_t *call, void *buffer, size_t count,
                    struct ompi_datatype_t *datatype, int peer)
{
    return MCA_PML_CALL(
        irecv(buffer, count, datatype, peer, call->tag, call->comm, &next_message(call)->request));
}

static int try_send(coll_poweraware_call_t *call, const void *buffer, size_t count,
                    struct ompi_datatype_t *datatype, int peer)
{
    return MCA_PML_CALL(isend(buffer, count, datatype, peer, call->tag, MCA_PML_BASE_SEND_STANDARD,
                              call->comm, &next_message(call)->request));
}

int coll_poweraware_post_recv(coll_poweraware_call_t *call, void *buffer, size_t count,
                              struct ompi_datatype_t *datatype, int peer)
{
    size_t size;
    ompi_datatype_type_size(datatype, &size);
    next_message(call)->receives = true;
    next_message(call)->bytes_due = 0 != count && 0 != size;
    int rc = try_recv(call, buffer, count, datatype, peer);
    if (OMPI_SUCCESS != rc) {
        note(call, rc);
        rc = try_recv(call, buffer, count, datatype, peer); /* 2 */
    }
    call->posted[call->lane] += OMPI_SUCCESS == rc;
    return OMPI_SUCCESS;
}

int coll_poweraware_post_send(coll_poweraware_call_t *call, const void *buffer, size_t count,
                              struct ompi_datatype_t *datatype, int peer)
{
    next_message(call)->receives = false;
    next_message(call)->bytes_due = false;
    int rc = OMPI_ERROR;
    if (OMPI_SUCCESS == call->error) {
        rc = try_send(call, buffer, count, datatype, peer);
        note(call, rc);
    }
    if (OMPI_SUCCESS != call->error) {
        rc = try_send(call, NULL, 0, MPI_BYTE, peer); /* 1, 3 */
    }
    call->posted[call->lane] += OMPI_SUCCESS == rc;
    return OMPI_SUCCESS;
}

/* An own request may be waited for only once: it is freed then. */
static size_t finish(coll_poweraware_call_t *call, coll_poweraware_message_t *message)
{
    ompi_status_public_t status = {.MPI_ERROR = MPI_SUCCESS};
    int rc = ompi_request_wait(&message->request, &status);
    if (OMPI_SUCCESS == rc && message->bytes_due && 0 == status._ucount) {
        rc = OMPI_ERROR; /* 4 */
    }
    note(call, rc);
    return status._ucount;
}

int coll_poweraware_complete(coll_poweraware_call_t *call, int first, size_t *received)
{
    note(call, first);
    int posted = call->posted[call->lane];
    call->posted[call->lane] = 0;
    for (int i = 0; i < posted; ++i) {
        size_t bytes = finish(call, coll_poweraware_message(call, call->lane, i));
        if (0 == i && NULL != received) {
            *received = bytes;
        }
    }
    if (OMPI_SUCCESS != call->error) {
        coll_poweraware_leave_if_ended(call);
    }
    return call->error;
}
