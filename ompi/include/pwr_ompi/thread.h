/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a thread is in, as far as waits and operations ask.
 */
#ifndef PWR_OMPI_THREAD_H
#define PWR_OMPI_THREAD_H

#include <stdbool.h>

struct pwr_idle_loop;   /* idle.h */
struct pwr_idle_within; /* idle.h */

typedef struct pwr_thread {
    struct pwr_idle_within *within; /* a stock collective; NULL: none */
    struct pwr_idle_loop *loop;     /* a call that loops over opal_progress; NULL: none */
    unsigned operations;            /* User-level threads that share a thread are counted together,
                                       and one that has moved to another thread is missed there: so
                                       only what this rank alone sees depends on it, levers and
                                       accounts. */
    bool waits;                     /* in pwr_idle_wait, which gives the CPU back by itself */
    bool looks;                     /* in a call that must not block */
} pwr_thread_t;

/* In one place, as each operation and each pass of opal_progress ask: one cache line. Initial-exec:
   a call of the loader's function would take each time a few nanoseconds and six more lines; so few
   bytes fit what the loader keeps free. */
extern _Thread_local pwr_thread_t pwr_thread __attribute__((tls_model("initial-exec")));

#endif
