/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What was decided about classes of operations, for reports and for later jobs: of communicators
 * that are in use, and, as far as there is room, of those that are gone.
 */
#include "operation_private.h"

#include <pthread.h>

static pwr_decided_t kept[PWR_DECIDED_KEPT];
static unsigned num_decided; /* may exceed what is kept */

static pwr_operations_t *living;
static pthread_mutex_t living_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell_classes(const pwr_operations_t *of,
                         void (*tell)(void *to, const pwr_decided_t *decided), void *to)
{
    for (unsigned i = 0; i < of->num_classed * PWR_SIZE_CLASSES; ++i) {
        const pwr_class_t *classes = of->classes[i / PWR_SIZE_CLASSES];
        const pwr_class_t *class = NULL == classes ? NULL : &classes[i % PWR_SIZE_CLASSES];
        if (NULL == class || !class->audited) {
            continue;
        }
        const pwr_hierarchy_t *h = of->hierarchy;
        const pwr_decided_t decided = {.operation = of->first + i / PWR_SIZE_CLASSES,
                                       .size_class = (int)(i % PWR_SIZE_CLASSES),
                                       .nodes = NULL == h ? 0 : h->num_nodes,
                                       .ranks_per_node = NULL == h ? 0 : h->max_local,
                                       .audit = pwr_audit_result(&class->audit),
                                       .choice = class->choice};
        tell(to, &decided);
    }
}

/* Communicators may be freed in several threads at once. */
static void keep(void *to, const pwr_decided_t *decided)
{
    (void)to;
    unsigned at = __atomic_fetch_add(&num_decided, 1, __ATOMIC_RELAXED);
    if (at < PWR_DECIDED_KEPT) {
        kept[at] = *decided;
    }
}

void pwr_decided_keep(const pwr_operations_t *of)
{
    tell_classes(of, keep, NULL);
}

unsigned pwr_decided(void (*tell)(void *to, const pwr_decided_t *decided), void *to)
{
    unsigned gone = __atomic_load_n(&num_decided, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < gone && i < PWR_DECIDED_KEPT; ++i) {
        tell(to, &kept[i]);
    }
    pthread_mutex_lock(&living_lock);
    for (const pwr_operations_t *of = living; NULL != of; of = of->next) {
        tell_classes(of, tell, to);
    }
    pthread_mutex_unlock(&living_lock);
    return gone > PWR_DECIDED_KEPT ? gone - PWR_DECIDED_KEPT : 0;
}

void pwr_decided_forget(void)
{
    num_decided = 0;
}

/* ---- communicators that are in use ---- */

void pwr_decided_enlist(pwr_operations_t *of)
{
    pthread_mutex_lock(&living_lock);
    of->next = living;
    of->link = &living;
    if (NULL != living) {
        living->link = &of->next;
    }
    living = of;
    pthread_mutex_unlock(&living_lock);
}

void pwr_decided_delist(pwr_operations_t *of)
{
    pthread_mutex_lock(&living_lock);
    if (NULL != of->link) {
        *of->link = of->next;
        if (NULL != of->next) {
            of->next->link = of->link;
        }
        of->link = NULL;
    }
    pthread_mutex_unlock(&living_lock);
}
