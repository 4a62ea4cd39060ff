/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Open MPI's side of messages over a UCP worker (ucp_worker.h): addresses, requests, datatypes.
 *
 * A tag of UCP has, from the top: the communicator's number (24 bits; with pml ucx the same on all
 * ranks), the sender's rank in it (24 bits), and the negated tag of MPI (16 bits).
 *
 * Data with gaps go through a buffer of the message's size.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/ucx.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pwr_ompi/modex.h"
#include "pwr_ompi/packer.h"
#include "pwr_ompi/transport.h"
#include "ucp_worker.h"
#include "ucx_sleep.h"

#include "ompi/datatype/ompi_datatype.h"
#include "opal/class/opal_hash_table.h"

static const char modex_word[] = "ucp";

static struct {
    bool published;
    bool started;
    pwr_ucp_worker_t worker;
    opal_mutex_t lock;
    opal_hash_table_t peers; /* name of a process: its endpoint, or no_way */
    _Atomic unsigned long messages;
} ucx;

static char no_way; /* its address stands for a process that cannot be reached */

/* ---- peers ---- */

static ucp_ep_h connect_to(const opal_proc_t *proc)
{
    size_t bytes = 0;
    void *address = pwr_modex_receive(modex_word, &proc->proc_name, &bytes);
    ucp_ep_h peer = bytes > 1 ? pwr_ucp_connect(&ucx.worker, address) : NULL;
    free(address);
    return peer;
}

/* NULL: there is no way. */
static ucp_ep_h endpoint_of(struct ompi_communicator_t *comm, int rank)
{
    const opal_proc_t *proc = &ompi_comm_peer_lookup(comm, rank)->super;
    uint64_t name;
    void *peer = NULL;
    memcpy(&name, &proc->proc_name, sizeof name);
    OPAL_THREAD_LOCK(&ucx.lock);
    if (OPAL_SUCCESS != opal_hash_table_get_value_uint64(&ucx.peers, name, &peer)) {
        ucp_ep_h found = connect_to(proc);
        peer = NULL == found ? (void *)&no_way : (void *)found;
        opal_hash_table_set_value_uint64(&ucx.peers, name, peer);
    }
    OPAL_THREAD_UNLOCK(&ucx.lock);
    return (void *)&no_way == peer ? NULL : peer;
}

_Static_assert(sizeof(opal_process_name_t) == sizeof(uint64_t), "a name is a key");

bool pwr_ucx_reaches(struct ompi_communicator_t *comm, int peer)
{
    return ucx.started && NULL != endpoint_of(comm, peer);
}

/* ---- requests ---- */

/* Held by its owner until that frees it, and by UCP until it is over. */
typedef struct request {
    ompi_request_t super;
    pwr_ucp_message_t message;
    void *packed; /* NULL: the data has no gaps */
    void *buffer; /* where packed data is to go; NULL: it was sent */
    size_t count;
    ompi_datatype_t *datatype;
} request_t;

static int free_request(ompi_request_t **request)
{
    OMPI_REQUEST_FINI(*request);
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static void destruct(request_t *request)
{
    free(request->packed);
}

static OBJ_CLASS_INSTANCE(request_t, ompi_request_t, NULL, destruct);

static int mpi_error(ucs_status_t status)
{
    return UCS_OK == status                      ? MPI_SUCCESS
           : UCS_ERR_MESSAGE_TRUNCATED == status ? MPI_ERR_TRUNCATE
                                                 : MPI_ERR_INTERN;
}

static void over(pwr_ucp_message_t *message, ucs_status_t status, size_t bytes)
{
    request_t *request =
        (request_t *)((char *)message - offsetof(request_t, message)); /* which it is part of */
    int error = mpi_error(status);
    if (MPI_SUCCESS == error && NULL != request->packed && NULL != request->buffer &&
        OMPI_SUCCESS != pwr_packer_convert(false, request->buffer, request->count,
                                           request->datatype, request->packed, bytes)) {
        error = MPI_ERR_INTERN;
    }
    request->super.req_status.MPI_ERROR = error;
    request->super.req_status._ucount = bytes;
    ompi_request_complete(&request->super, true);
    OBJ_RELEASE(request);
}

static uint64_t tag_of(struct ompi_communicator_t *comm, int sender, int tag)
{
    return (uint64_t)pwr_ompi_comm_id(comm) << 40 | (uint64_t)sender << 16 | (uint16_t)-tag;
}

/* *data: the message as it travels; of data with gaps memory for it, NULL where there is none. */
static request_t *new_request(struct ompi_communicator_t *comm, const void *buffer, size_t count,
                              ompi_datatype_t *datatype, void **data)
{
    request_t *request = OBJ_NEW(request_t);
    if (NULL != request) {
        OMPI_REQUEST_INIT(&request->super, false);
        request->super.req_type = OMPI_REQUEST_COLL;
        request->super.req_free = free_request;
        request->super.req_state = OMPI_REQUEST_ACTIVE;
        request->super.req_status._cancelled = 0;
        request->super.req_mpi_object.comm = comm;
        request->message.over = over;
        request->packed = NULL;
        request->buffer = NULL;
        request->count = count;
        request->datatype = datatype;
        OBJ_RETAIN(request);
        *data = pwr_packer_contiguous(buffer, count, datatype);
        if (NULL == *data) {
            *data = request->packed = malloc(count * datatype->super.size);
        }
    }
    return request;
}

/* UCP has not taken it, or has. */
static int begun(request_t *request, ucs_status_t status, ompi_request_t **out)
{
    if (UCS_OK != status) {
        OBJ_RELEASE(request);
        OBJ_RELEASE(request);
        return OMPI_ERROR;
    }
    atomic_fetch_add_explicit(&ucx.messages, 1, memory_order_relaxed);
    *out = &request->super;
    return OMPI_SUCCESS;
}

unsigned long pwr_ucx_messages(void)
{
    return atomic_load_explicit(&ucx.messages, memory_order_relaxed);
}

int pwr_ucx_isend(const void *buffer, size_t count, ompi_datatype_t *datatype, int peer, int tag,
                  struct ompi_communicator_t *comm, ompi_request_t **out)
{
    ucp_ep_h to = endpoint_of(comm, peer);
    size_t bytes = count * datatype->super.size;
    void *data;
    request_t *request = new_request(comm, buffer, count, datatype, &data);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (NULL != request->packed &&
        OMPI_SUCCESS != pwr_packer_convert(true, buffer, count, datatype, data, bytes)) {
        data = NULL;
    }
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (NULL != data || 0 == count) {
        status = pwr_ucp_send(to, data, bytes, tag_of(comm, ompi_comm_rank(comm), tag),
                              &request->message);
    }
    return begun(request, status, out);
}

int pwr_ucx_irecv(void *buffer, size_t count, ompi_datatype_t *datatype, int peer, int tag,
                  struct ompi_communicator_t *comm, ompi_request_t **out)
{
    size_t bytes = count * datatype->super.size;
    void *data;
    request_t *request = new_request(comm, buffer, count, datatype, &data);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->buffer = buffer;
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (NULL != data || 0 == count) {
        status =
            pwr_ucp_receive(&ucx.worker, data, bytes, tag_of(comm, peer, tag), &request->message);
    }
    return begun(request, status, out);
}

/* ---- up and down ---- */

static int progress(void)
{
    return (int)pwr_ucp_progress(&ucx.worker);
}

const char *pwr_ucx_publish(void)
{
    const char *why = pwr_ucp_open(&ucx.worker);
    const void *address = NULL == why ? (void *)ucx.worker.address : (void *)&no_way;
    size_t bytes = NULL == why ? ucx.worker.address_bytes : 1;
    if (pwr_modex_send(modex_word, PWR_MODEX_JOB, address, bytes) && NULL == why) {
        ucx.published = true;
    } else if (NULL == why) {
        pwr_ucp_close(&ucx.worker);
        why = "processes cannot be told of it";
    }
    return why;
}

bool pwr_ucx_start(void)
{
    if (!ucx.published) {
        return false;
    }
    if (!pwr_pml_is("ucx") || !pwr_ucx_sleep_add(&ucx.worker)) {
        pwr_ucx_stop();
        return false;
    }
    OBJ_CONSTRUCT(&ucx.lock, opal_mutex_t);
    OBJ_CONSTRUCT(&ucx.peers, opal_hash_table_t);
    opal_hash_table_init(&ucx.peers, 64);
    opal_progress_register(progress);
    ucx.started = true;
    return true;
}

void pwr_ucx_stop(void)
{
    if (ucx.started) {
        ucx.started = false;
        pwr_ucx_sleep_remove(ucx.worker.worker);
        opal_progress_unregister(progress);
        OBJ_DESTRUCT(&ucx.peers);
        OBJ_DESTRUCT(&ucx.lock);
    }
    if (ucx.published) {
        ucx.published = false;
        pwr_ucp_close(&ucx.worker);
    }
}
