/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What offers and collectives of this library share: one context, in it a stream, an event and the
 * kernels.  Functions are called with the lock, unless they take it.
 */
#ifndef PWR_GPU_ENGINE_H
#define PWR_GPU_ENGINE_H

#include "kernels/kernels.h"
#include "pwr_gpu/offer.h"
#include "pwr_gpu/pinned.h"

enum { PWR_GPU_KERNELS = 4 }; /* of a module */
typedef struct pwr_gpu_kernels {
    bool tried;                    /* to load them */
    void *kernel[PWR_GPU_KERNELS]; /* NULL: there is none */
} pwr_gpu_kernels_t;

typedef struct pwr_gpu_engine {
    void *context; /* NULL: not there yet */
    unsigned long long context_id;
    void *stream;
    void *ended; /* event */
    pwr_gpu_uuid_t device;
    uint64_t process;
    pwr_gpu_kernels_t reductions[PWR_GPU_NUM_TYPES], copies;
    pwr_gpu_kernels_t teams[PWR_GPU_NUM_TYPES], probe;
} pwr_gpu_engine_t;

extern pwr_gpu_engine_t pwr_gpu_engine;

void pwr_gpu_lock(void);
void pwr_gpu_unlock(void);

/* Takes the lock, and makes the engine's context the current one.  Returns whether there is one;
   pwr_gpu_leave in any case. */
bool pwr_gpu_enter(void);
void pwr_gpu_leave(bool entered);

/* In the context, which is current. */
bool pwr_gpu_engine_open(void *context);
/* Whether the engine's context has ended, and this is another one at its address: then all is
   forgotten. */
bool pwr_gpu_engine_ended(void *context);

/* A stream of the context that is current, and an event for its end (pwr_gpu_make_event). */
bool pwr_gpu_make_stream(void **stream, void **ended);

/* Makes memory of the CPU known to all contexts, by the one that is current.  Returns its address
   there; 0: it cannot be. */
pwr_gpu_address_t pwr_gpu_register_host(void *memory, size_t bytes);

/* Whether rc says so; if not, why. */
bool pwr_gpu_succeeds(int rc, const char *what);

/* Once; may wait for the GPU.  names: [PWR_GPU_KERNELS], NULL where there are less. */
void pwr_gpu_load(pwr_gpu_kernels_t *kernels, const char *ptx, const char *const names[]);

/* One thread per item, up to so many blocks. */
bool pwr_gpu_launch(void *stream, void *kernel, pwr_gpu_table_t *table, int num_in, int num_out,
                    unsigned long long vectors, unsigned long long count, unsigned most_blocks,
                    unsigned long long items);

/* Addresses of buffers that are offered, inputs and outputs in the order of the offers: all, or of
   the inputs that of offers[own] alone, the others 0 (own >= 0).  Memory of another GPU can be
   opened where this one reaches it.  Returns whether all can. */
enum { PWR_GPU_ALL_INPUTS = -1 };
bool pwr_gpu_fill(pwr_gpu_table_t *table, const pwr_gpu_offer_t *const *offers, int num, int own,
                  int *num_in, int *num_out);
/* Address of a byte of such memory in the context, which is current; 0: there is none. */
pwr_gpu_address_t pwr_gpu_pinned_address(pwr_gpu_pinned_t *pinned, const char *at);
/* How a call ends that has entered, and may have put something into the engine's stream: waits for
   it, closes what is not wanted any more, leaves.  Returns what came of it. */
pwr_gpu_result_t pwr_gpu_finish(bool entered, pwr_gpu_result_t result);

#endif
