/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Buffers that several processes have in the memory of one GPU, and let each other open.
 *
 * Each process offers its buffers: what is needed to open their memory elsewhere (CUDA IPC).  One
 * of them, the leader, gets all offers, opens what it has not opened before, launches a kernel,
 * and waits for its end (reduce.h, copy.h).  Without MPS kernels of several processes never run at
 * the same time: so one kernel for all is what a GPU does at once, and no process waits for
 * another's turn.
 *
 * Opened memory stays open, because to open it takes longer (70 us) than the kernel (4 us).  It is
 * closed when its owner says that some of its memory has been freed since (forget), or when there
 * is too much of it.  A process can open only memory that was offered to it.
 *
 * These functions take a lock: threads may call them.  Buffers are complete when a call begins, as
 * MPI wants it; results are when it ends.
 */
#ifndef PWR_GPU_OFFER_H
#define PWR_GPU_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr_gpu/driver.h"
#include "pwr_gpu/elements.h"

typedef struct pwr_gpu_buffer {
    pwr_gpu_handle_t handle;
    pwr_gpu_address_t base; /* of the allocation in its process */
    uint64_t allocation;    /* no other of the process ever has the same; 0: no buffer */
    uint64_t offset;        /* in it, bytes */
} pwr_gpu_buffer_t;

typedef struct pwr_gpu_offer {
    uint64_t process; /* no other has the same */
    pwr_gpu_uuid_t device;
    uint32_t forget; /* not 0: allocations offered before may be gone */
    pwr_gpu_buffer_t in, out;
} pwr_gpu_offer_t;

/* Waits until the default stream of the context that offers is idle: who copies by it has this
   order, and programs have come to rely on it. */
void pwr_gpu_settle(void);

typedef enum pwr_gpu_result {
    PWR_GPU_DONE,
    PWR_GPU_CANNOT, /* nothing is changed; pwr_gpu_why says why */
    PWR_GPU_FAILED  /* outputs may be changed */
} pwr_gpu_result_t;

typedef enum pwr_gpu_offered {
    PWR_GPU_OFFERED,
    PWR_GPU_NOT_YET, /* memory that comes for the first time */
    PWR_GPU_NEVER    /* it cannot be opened by others; pwr_gpu_why says why */
} pwr_gpu_offered_t;

/* The offer of this process.  in, out: addresses in the memory of one GPU; NULL: there is no input,
   or no result here, but not both.  Memory is offered when it comes for the second time, unless it
   is known to last: to open and close what is allocated for one call takes milliseconds. */
pwr_gpu_offered_t pwr_gpu_offer(pwr_gpu_offer_t *offer, const void *in, void *out, bool lasts);

/* Whether the buffers of num offers are in the memory of several GPUs. */
bool pwr_gpu_are_several(const pwr_gpu_offer_t *const *offers, int num);

/* Whether kernels of this process can use these buffers; NULL: none, but not both. */
bool pwr_gpu_can_use(const void *in, const void *out);

/* Opened memory that is not wanted any more: whether there is some, and to close it.  That waits
   for all streams of the context, so none of them may wait for what the caller does next. */
bool pwr_gpu_must_close(void);
void pwr_gpu_close(void);

/* Makes ready for offers from the context that is current.  Returns whether there is one, and no
   other before it. */
bool pwr_gpu_open(void);

/* An event of the context that is current, for which a thread can sleep.  Returns whether there is
   one (pwr_gpu_why). */
bool pwr_gpu_make_event(void **event);
/* Waits for what is in a stream, with such an event of its context: polls for as long as that is
   cheaper than to sleep.  false: something in it has failed (pwr_gpu_why). */
bool pwr_gpu_wait_for_stream(void *stream, void *event);

/* Of the latest call of this thread that could not: one line, for the user. */
enum { PWR_GPU_WHY_MAX = 160 };
const char *pwr_gpu_why(void);
/* For those that this library is made of. */
void pwr_gpu_because(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
