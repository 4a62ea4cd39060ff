/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * UCP, as far as it is needed for messages by tag and for sleep.
 */
#include "ucp_worker.h"

#include <dlfcn.h>
#include <pthread.h>

#define UCP_FUNCTIONS(F)                                                                           \
    F(ucp_init_version)                                                                            \
    F(ucp_cleanup)                                                                                 \
    F(ucp_worker_create)                                                                           \
    F(ucp_worker_destroy)                                                                          \
    F(ucp_worker_get_address)                                                                      \
    F(ucp_worker_release_address)                                                                  \
    F(ucp_worker_get_efd)                                                                          \
    F(ucp_worker_arm)                                                                              \
    F(ucp_worker_progress)                                                                         \
    F(ucp_ep_create)                                                                               \
    F(ucp_tag_send_nbx)                                                                            \
    F(ucp_tag_recv_nbx)                                                                            \
    F(ucp_request_free)                                                                            \
    F(ucs_status_string)

#define DECLARE(function) __typeof__(&function) function;
static struct {
    UCP_FUNCTIONS(DECLARE)
} ucp;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *why_not_loaded;

/* Never unloaded: it has threads and handlers of its own. */
static void load(void)
{
    void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (NULL == library) {
        why_not_loaded = "libucp.so.0 cannot be loaded";
        return;
    }
#define FIND(function)                                                                             \
    *(void **)&ucp.function = dlsym(library, #function);                                           \
    if (NULL == ucp.function) {                                                                    \
        why_not_loaded = "libucp has no " #function;                                               \
        return;                                                                                    \
    }
    UCP_FUNCTIONS(FIND)
}

/* ---- up and down ---- */

static ucs_status_t open_context(pwr_ucp_worker_t *worker)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
        .mt_workers_shared = 1,
    };
    return ucp.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL, &worker->context);
}

/* Wakes for receives and for the end of sends: both are what an MPI process waits for. */
static ucs_status_t open_worker(pwr_ucp_worker_t *worker)
{
    const ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS,
        .thread_mode = UCS_THREAD_MODE_MULTI,
        .events = UCP_WAKEUP_TAG_SEND | UCP_WAKEUP_TAG_RECV | UCP_WAKEUP_TX | UCP_WAKEUP_RX,
    };
    return ucp.ucp_worker_create(worker->context, &params, &worker->worker);
}

const char *pwr_ucp_open(pwr_ucp_worker_t *worker)
{
    *worker = (pwr_ucp_worker_t){.fd = -1};
    pthread_once(&once, load);
    if (NULL != why_not_loaded) {
        return why_not_loaded;
    }
    ucs_status_t status = open_context(worker);
    if (UCS_OK == status) {
        status = open_worker(worker);
    }
    if (UCS_OK == status) {
        status = ucp.ucp_worker_get_efd(worker->worker, &worker->fd);
    }
    if (UCS_OK == status) {
        status =
            ucp.ucp_worker_get_address(worker->worker, &worker->address, &worker->address_bytes);
    }
    if (UCS_OK != status) {
        pwr_ucp_close(worker);
        return ucp.ucs_status_string(status);
    }
    return NULL;
}

bool pwr_ucp_adopt(pwr_ucp_worker_t *worker, ucp_worker_h made)
{
    *worker = (pwr_ucp_worker_t){.worker = made, .fd = -1};
    pthread_once(&once, load);
    return NULL == why_not_loaded && UCS_OK == ucp.ucp_worker_get_efd(made, &worker->fd) &&
           worker->fd >= 0;
}

/* Endpoints go with their worker. */
void pwr_ucp_close(pwr_ucp_worker_t *worker)
{
    if (NULL != worker->address) {
        ucp.ucp_worker_release_address(worker->worker, worker->address);
    }
    if (NULL != worker->worker) {
        ucp.ucp_worker_destroy(worker->worker);
    }
    if (NULL != worker->context) {
        ucp.ucp_cleanup(worker->context);
    }
    *worker = (pwr_ucp_worker_t){.fd = -1};
}

ucp_ep_h pwr_ucp_connect(const pwr_ucp_worker_t *worker, const void *address)
{
    ucp_ep_h peer;
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address = address,
    };
    return UCS_OK == ucp.ucp_ep_create(worker->worker, &params, &peer) ? peer : NULL;
}

/* ---- messages ---- */

static void sent(void *request, ucs_status_t status, void *arg)
{
    pwr_ucp_message_t *message = arg;
    ucp.ucp_request_free(request);
    message->over(message, status, 0);
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    pwr_ucp_message_t *message = arg;
    size_t bytes = UCS_OK == status ? info->length : 0;
    ucp.ucp_request_free(request);
    message->over(message, status, bytes);
}

ucs_status_t pwr_ucp_send(ucp_ep_h peer, const void *buffer, size_t bytes, uint64_t tag,
                          pwr_ucp_message_t *message)
{
    const ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = sent,
        .user_data = message,
    };
    ucs_status_ptr_t request = ucp.ucp_tag_send_nbx(peer, buffer, bytes, tag, &params);
    if (NULL == request) { /* over, and nobody was told */
        message->over(message, UCS_OK, 0);
    }
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
}

/* Some versions of UCX (1.13) tell the length of a message that has come already to a callback
   only. */
ucs_status_t pwr_ucp_receive(const pwr_ucp_worker_t *worker, void *buffer, size_t bytes,
                             uint64_t tag, pwr_ucp_message_t *message)
{
    const ucp_request_param_t params = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv = received,
        .user_data = message,
    };
    ucs_status_ptr_t request =
        ucp.ucp_tag_recv_nbx(worker->worker, buffer, bytes, tag, UINT64_MAX, &params);
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
}

unsigned pwr_ucp_progress(const pwr_ucp_worker_t *worker)
{
    return ucp.ucp_worker_progress(worker->worker);
}

bool pwr_ucp_arm(const pwr_ucp_worker_t *worker)
{
    return UCS_OK == ucp.ucp_worker_arm(worker->worker);
}
