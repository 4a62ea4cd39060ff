/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stand-in for a header that Open MPI 5.0 and 6.0 never install (see threads_pthreads_mutex.h).
 */
#ifndef PWR_MISSING_THREADS_PTHREADS_TSD_H
#define PWR_MISSING_THREADS_PTHREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_get(opal_tsd_key_t key, void **value)
{
    *value = pthread_getspecific(key);
    return 0;
}

#endif
