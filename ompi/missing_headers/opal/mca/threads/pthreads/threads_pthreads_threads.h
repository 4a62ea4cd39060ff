/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stand-in for a header that Open MPI 5.0 and 6.0 never install (see threads_pthreads_mutex.h).
 */
#ifndef PWR_MISSING_THREADS_PTHREADS_THREADS_H
#define PWR_MISSING_THREADS_PTHREADS_THREADS_H

#include "opal_config.h"

typedef void(opal_threads_pthreads_yield_fn_t)(void);
OPAL_DECLSPEC extern opal_threads_pthreads_yield_fn_t *opal_threads_pthreads_yield_fn;

static inline void opal_thread_yield(void)
{
    opal_threads_pthreads_yield_fn();
}

#endif
