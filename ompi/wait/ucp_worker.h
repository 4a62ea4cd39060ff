/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A UCP worker on which a process can sleep, and messages over it: UCX's side of ucx.h, without
 * Open MPI.
 *
 * libucp is loaded when the first worker is created, not linked: a process without UCX runs as
 * before.
 */
#ifndef PWR_UCP_WORKER_H
#define PWR_UCP_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ucp/api/ucp.h>

typedef struct pwr_ucp_worker {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address; /* for others' pwr_ucp_connect */
    size_t address_bytes;
    int fd; /* becomes readable when an armed worker has something to do */
} pwr_ucp_worker_t;

/* A message under way, part of whatever its owner keeps of it. */
typedef struct pwr_ucp_message {
    /* Its end, told by the owner's function.  bytes: received, 0 for one that was sent.  Called by
       pwr_ucp_progress, or before the function that began the message returns. */
    void (*over)(struct pwr_ucp_message *message, ucs_status_t status, size_t bytes);
} pwr_ucp_message_t;

/* Any threads may use it.  NULL, or why there is none. */
const char *pwr_ucp_open(pwr_ucp_worker_t *worker);
/* One that others have made, and destroy: only arm is for it.  False: it cannot wake. */
bool pwr_ucp_adopt(pwr_ucp_worker_t *worker, ucp_worker_h made);
/* Messages under way are lost, here and at the peers. */
void pwr_ucp_close(pwr_ucp_worker_t *worker);

/* NULL: UCX knows no way to that worker. */
ucp_ep_h pwr_ucp_connect(const pwr_ucp_worker_t *worker, const void *address);

/* Begin a message of bytes at buffer, which stays until it is over.  Messages of one tag and sender
   are received in the order in which they were sent.  After an error, over is not called. */
ucs_status_t pwr_ucp_send(ucp_ep_h peer, const void *buffer, size_t bytes, uint64_t tag,
                          pwr_ucp_message_t *message);
ucs_status_t pwr_ucp_receive(const pwr_ucp_worker_t *worker, void *buffer, size_t bytes,
                             uint64_t tag, pwr_ucp_message_t *message);
/* Returns how much moved. */
unsigned pwr_ucp_progress(const pwr_ucp_worker_t *worker);

/* True: the process may sleep on fd, which wakes it for everything that pwr_ucp_progress has not
   seen yet.  False: there is something to do. */
bool pwr_ucp_arm(const pwr_ucp_worker_t *worker);

#endif
