/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions by one kernel, of buffers that several processes have in the memory of one GPU.
 *
 * Each process offers its buffers: what is needed to open their memory elsewhere (CUDA IPC).  One
 * of them, the leader, gets all offers, opens what it has not opened before, launches the kernel,
 * and waits for its end.  Without MPS kernels of several processes never run at the same time: so
 * one kernel for all is what a GPU does at once, and no process waits for another's turn.
 *
 * Opened memory stays open, because to open it takes longer (70 us) than the kernel (4 us).  It is
 * closed when its owner says that some of its memory has been freed since (forget), or when there
 * is too much of it.  A process can open only memory that was offered to it.
 *
 * These functions take a lock: threads may call them.  Buffers are complete when a call begins, as
 * MPI wants it; results are when it ends.
 */
#ifndef PWR_GPU_REDUCE_H
#define PWR_GPU_REDUCE_H

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

/* The offer of this process.  in, out: addresses in the memory of one GPU; out NULL: there is no
   result here.  Memory is offered when it comes for the second time, unless it is known to last: to
   open and close what is allocated for one call takes milliseconds. */
pwr_gpu_offered_t pwr_gpu_offer(pwr_gpu_offer_t *offer, const void *in, void *out, bool lasts);

/* As leader: out of all offers that have one = in of offers[0] op in of offers[1] op ...
   offers: [num], among them this process's own; count elements of type in each buffer.
   spin_ns: how long to poll for the end before this thread sleeps. */
pwr_gpu_result_t pwr_gpu_reduce(const pwr_gpu_offer_t *const *offers, int num, pwr_gpu_op_t op,
                                pwr_gpu_type_t type, size_t count, uint64_t spin_ns);

/* The same, at the end of a stream of this process's context: returns when it is there.  offers may
   change then.  Never waits for the GPU, as long as kernels are loaded: a stream may wait for what
   the caller does next.  So it closes nothing, which does wait; pwr_gpu_must_close says whether
   something is to be closed, and pwr_gpu_close does, when no stream of the context waits so. */
pwr_gpu_result_t pwr_gpu_reduce_on(void *stream, const pwr_gpu_offer_t *const *offers, int num,
                                   pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count);
bool pwr_gpu_must_close(void);
void pwr_gpu_close(void);
/* Loads all kernels, which may wait for the GPU.  Returns whether there are all. */
bool pwr_gpu_load_all(void);

/* Makes ready for offers from the context that is current.  Returns whether there is one, and no
   other before it. */
bool pwr_gpu_open(void);

/* Of the latest call of this thread that could not: one line, for the user. */
enum { PWR_GPU_WHY_MAX = 160 };
const char *pwr_gpu_why(void);
/* For those that this library is made of. */
void pwr_gpu_because(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
