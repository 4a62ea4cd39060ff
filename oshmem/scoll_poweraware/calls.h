/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The calls of OpenSHMEM that wait or let others go on: one row each.
 */
#ifndef SCOLL_POWERAWARE_CALLS_H
#define SCOLL_POWERAWARE_CALLS_H

#include "pwr_ompi/compat.h"

#include "pwr_ompi/process.h"

#include "oshmem_config.h"

#include "oshmem/mca/atomic/atomic.h"
#include "oshmem/mca/spml/spml.h"

/* What a call may do. */
enum {
    SCOLL_POWERAWARE_WAITS = 1,  /* for other processes */
    SCOLL_POWERAWARE_LETS_GO = 2 /* others of the node may wait for it, with nothing that tells them */
};

/* A put of so many bytes is buffered, and does not wait. */
enum { SCOLL_POWERAWARE_SENT_AT_ONCE = 1024 };

/* X(name, what it may do, the PE that it is about, bytes that it moves, parameters, arguments): of
   the spml, which moves data and waits for them.  Others of its functions neither wait nor let
   others go on. */
#define SCOLL_POWERAWARE_SPML_CALLS(X)                                                             \
    X(put, (bytes > SCOLL_POWERAWARE_SENT_AT_ONCE ? WAITS : 0) | LETS_GO, pe, bytes,                                                             \
      (shmem_ctx_t ctx, void *to, size_t bytes, void *from, int pe), (ctx, to, bytes, from, pe))   \
    X(put_nb, LETS_GO, pe, bytes,                                                                  \
      (shmem_ctx_t ctx, void *to, size_t bytes, void *from, int pe, void **handle),                \
      (ctx, to, bytes, from, pe, handle))                                                          \
    X(get, WAITS, pe, bytes, (shmem_ctx_t ctx, void *to, size_t bytes, void *from, int pe),        \
      (ctx, to, bytes, from, pe))                                                                  \
    X(wait, WAITS, NO_PE, 0, (void *address, int compare, void *value, int type),                  \
      (address, compare, value, type))                                                             \
    X(fence, WAITS | LETS_GO, NO_PE, 0, (shmem_ctx_t ctx), (ctx))                                  \
    X(quiet, WAITS | LETS_GO, NO_PE, 0, (shmem_ctx_t ctx), (ctx))

/* The same of the atomic operations; value: of so many bytes. */
#define SCOLL_POWERAWARE_ATOMIC_CALLS(X)                                                           \
    X(add, SCOLL_POWERAWARE_UPDATE)                                                                \
    X(and, SCOLL_POWERAWARE_UPDATE)                                                                \
    X(or, SCOLL_POWERAWARE_UPDATE)                                                                 \
    X(xor, SCOLL_POWERAWARE_UPDATE)                                                                \
    X(fadd, SCOLL_POWERAWARE_FETCH)                                                                \
    X(fand, SCOLL_POWERAWARE_FETCH)                                                                \
    X(for, SCOLL_POWERAWARE_FETCH)                                                                 \
    X(fxor, SCOLL_POWERAWARE_FETCH)                                                                \
    X(swap, SCOLL_POWERAWARE_FETCH)                                                                \
    X(cswap, SCOLL_POWERAWARE_COMPARE)                                                             \
    SCOLL_POWERAWARE_SET(X)

#define SCOLL_POWERAWARE_UPDATE                                                                    \
    (shmem_ctx_t ctx, void *at, uint64_t value, size_t bytes, int pe), (ctx, at, value, bytes, pe)
#define SCOLL_POWERAWARE_FETCH                                                                     \
    (shmem_ctx_t ctx, void *at, void *before, uint64_t value, size_t bytes, int pe),               \
        (ctx, at, before, value, bytes, pe)
#define SCOLL_POWERAWARE_COMPARE                                                                   \
    (shmem_ctx_t ctx, void *at, uint64_t *before, uint64_t expected, uint64_t value, size_t bytes, \
     int pe),                                                                                      \
        (ctx, at, before, expected, value, bytes, pe)
/* 4.1 and 5.0 set by a swap. */
#if OMPI_MAJOR_VERSION >= 6
#define SCOLL_POWERAWARE_SET(X) X(set, SCOLL_POWERAWARE_UPDATE)
#else
#define SCOLL_POWERAWARE_SET(X)
#endif

typedef enum scoll_poweraware_call {
#define SCOLL_POWERAWARE_CALL(name, ...) SCOLL_POWERAWARE_##name,
    SCOLL_POWERAWARE_SPML_CALLS(SCOLL_POWERAWARE_CALL)
        SCOLL_POWERAWARE_ATOMIC_CALLS(SCOLL_POWERAWARE_CALL)
#undef SCOLL_POWERAWARE_CALL
            SCOLL_POWERAWARE_NUM_CALLS
} scoll_poweraware_call_t;

extern const char *const scoll_poweraware_names[SCOLL_POWERAWARE_NUM_CALLS]; /* "shmem_put" */

/* How calls are watched and wait; set before the first one. */
typedef struct scoll_poweraware_ways {
    const pwr_scheme_t *scheme;
    unsigned first_operation; /* number of the process */
    bool counts;              /* all calls, for a report */
    bool sleeps;              /* who waits */
    bool levers;              /* waits move them, where there are any */
} scoll_poweraware_ways_t;
extern scoll_poweraware_ways_t scoll_poweraware_ways;

/* From now on the calls above are ours, until they are given back; once per process, when spml and
   atomics are selected. */
void scoll_poweraware_take_calls(void);
void scoll_poweraware_give_back_calls(void);

#endif
