/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Looking out for waits that last too long (private to ompi/operation).
 */
#ifndef PWR_OMPI_OPERATION_HANG_H
#define PWR_OMPI_OPERATION_HANG_H

#include "pwr_ompi/hang.h"
#include "pwr_ompi/operation.h"

/* One wait: by policy, which gives up when the wait has lasted too long.  Then expired, and wait
   again by policy; when it is over at last, end. */
typedef struct pwr_hang_watch {
    pwr_operation_t *operation;
    const pwr_awaited_t *awaited;
    const pwr_wait_policy_t *policy; /* changes */
    uint64_t began_ns;               /* 0: not known yet */
    int limits;                      /* that were reached */
    pwr_hang_t *kept;                /* NULL: there is no record of it */
    pwr_wait_policy_t deepest;
} pwr_hang_watch_t;

static inline void pwr_hang_watch_begin(pwr_hang_watch_t *watch, pwr_operation_t *operation,
                                        const pwr_awaited_t *awaited,
                                        const pwr_wait_policy_t *policy)
{
    watch->operation = operation;
    watch->awaited = awaited;
    watch->policy = policy;
    watch->began_ns = 0;
    watch->limits = 0;
}
/* The wait was given up once more, after lasted_ns at least. */
void pwr_hang_watch_expired(pwr_hang_watch_t *watch, uint64_t lasted_ns);
void pwr_hang_watch_forget(pwr_hang_watch_t *watch);
static inline void pwr_hang_watch_end(pwr_hang_watch_t *watch)
{
    if (0 != watch->limits) {
        pwr_hang_watch_forget(watch);
    }
}

/* hang_text.c: one line to the user. */
void pwr_hang_say(int level, const pwr_hang_t *hang, int my_rank, bool sleeps);
bool pwr_hang_someone_misses(const pwr_hang_t *hang);
/* Whether it names somebody but those who work. */
bool pwr_hang_tells(const pwr_hang_t *hang);

#endif
