/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Components of Open MPI that use UCX by themselves give the CPU back.
 *
 * osc/ucx and spml/ucx make their workers without wake-up, and loop over ucp_worker_progress.  Ours
 * take the places of four functions of UCX in the objects that have these and what they call
 * (redirect.h):
 *
 *   ucp_init_version      asks for wake-up, too, where one-sided calls are asked for
 *   ucp_worker_create     puts the worker among those on which a thread sleeps (ucx_sleep.h)
 *   ucp_worker_destroy    takes it away
 *   ucp_worker_progress   who calls it in a loop has just looked, in vain: idle_loop.c
 *
 * From 5.0 on these objects are Open MPI's own libraries.  pml/ucx makes the same calls there: its
 * context stays as it is, and of its progress a look at a variable of the thread is left.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/ucx.h"

#include <stdatomic.h>

#include "idle_private.h"
#include "redirect.h"
#include "ucx_sleep.h"

static struct {
    __typeof__(&ucp_init_version) init;
    __typeof__(&ucp_worker_create) create;
    __typeof__(&ucp_worker_destroy) destroy;
    __typeof__(&ucp_worker_progress) progress;
} saved;

/* ---- what they have made ---- */

enum { ROOM = 16 }; /* components make one each, and threads one more */

static ucp_context_h contexts[ROOM]; /* with wake-up */
static ucp_worker_h workers[ROOM];   /* that wake */
static size_t num_contexts, num_workers;

static bool has_wakeup(ucp_context_h context)
{
    for (size_t i = 0; i < num_contexts; ++i) {
        if (context == contexts[i]) {
            return true;
        }
    }
    return false;
}

static void add_worker(ucp_worker_h made)
{
    pwr_ucp_worker_t worker;
    if (num_workers < ROOM && pwr_ucp_adopt(&worker, made) && pwr_ucx_sleep_add(&worker)) {
        workers[num_workers++] = made;
    }
}

static void remove_worker(ucp_worker_h worker)
{
    for (size_t i = 0; i < num_workers; ++i) {
        if (worker == workers[i]) {
            pwr_ucx_sleep_remove(worker);
            workers[i] = workers[--num_workers];
            return;
        }
    }
}

/* ---- instead of UCX's ---- */

/* The structure is of the caller's version of UCX, which may be longer than ours: it stays where it
   is. */
static ucs_status_t init(unsigned major, unsigned minor, const ucp_params_t *params,
                         const ucp_config_t *config, ucp_context_h *context)
{
    ucp_params_t *asked = (ucp_params_t *)(uintptr_t)params;
    uint64_t features = params->features;
    bool one_sided = 0 != (UCP_PARAM_FIELD_FEATURES & params->field_mask) &&
                     0 != (UCP_FEATURE_RMA & features) && !opal_using_threads();
    if (one_sided) {
        asked->features |= UCP_FEATURE_WAKEUP;
    }
    ucs_status_t status = saved.init(major, minor, params, config, context);
    if (one_sided) {
        asked->features = features;
    }
    if (one_sided && UCS_OK == status && num_contexts < ROOM) {
        contexts[num_contexts++] = *context;
    }
    return status;
}

static ucs_status_t create(ucp_context_h context, const ucp_worker_params_t *params,
                           ucp_worker_h *worker)
{
    ucs_status_t status = saved.create(context, params, worker);
    if (UCS_OK == status && has_wakeup(context)) {
        add_worker(*worker);
    }
    return status;
}

static void destroy(ucp_worker_h worker)
{
    remove_worker(worker);
    saved.destroy(worker);
}

static unsigned progress_once(ucp_worker_h worker)
{
    unsigned moved = saved.progress(worker);
    if (0 != moved) {
        pwr_ucx_sleep_moved();
    }
    return moved;
}

static unsigned progress_in_loop(pwr_idle_loop_t *loop, ucp_worker_h worker)
{
    unsigned moved = 0;
    do {
        pwr_idle_loop_count(loop);
        unsigned more = progress_once(worker);
        if (0 != more) {
            pwr_idle_loop_moved(loop);
        }
        moved += more;
    } while (pwr_idle_loop_rests(loop));
    return moved;
}

static unsigned progress(ucp_worker_h worker)
{
    pwr_idle_loop_t *loop = pwr_thread.loop;
    return NULL == loop ? progress_once(worker) : progress_in_loop(loop, worker);
}

/* ---- on and off ---- */

#define IN(object)                                                                                  \
    {object, "ucp_init_version", (void *)init, (void **)&saved.init, NULL, NULL, NULL},             \
        {object, "ucp_worker_create", (void *)create, (void **)&saved.create, NULL, NULL, NULL},    \
        {object, "ucp_worker_destroy", (void *)destroy, (void **)&saved.destroy, NULL, NULL, NULL}, \
    {                                                                                               \
        object, "ucp_worker_progress", (void *)progress, (void **)&saved.progress, NULL, NULL,      \
            NULL                                                                                    \
    }

/* As Debian's packages and plain builds of 4.1 to 6.0 have them. */
static pwr_redirect_t redirects[] = {
    IN("mca_osc_ucx"), IN("libmca_common_ucx"), IN("libmpi"),         IN("libopen_mpi"),
    IN("libopen-pal"), IN("mca_spml_ucx"),      IN("mca_atomic_ucx"), IN("liboshmem"),
};

enum { NUM_REDIRECTS = sizeof redirects / sizeof redirects[0] };

/* From 5.0 on, calls hold locks that other threads need: they poll there. */
static int users; /* components that have started and not stopped */
static bool has_room;

void pwr_ucx_users_start(const pwr_env_t *env)
{
    enum { OF_A_WORKER = 2 }; /* descriptors that UCX opens so that it can be slept for */
    if (0 == users++) {
        has_room = pwr_env_may_keep(env, OF_A_WORKER);
    }
    pwr_ucx_users_renew();
}

void pwr_ucx_users_renew(void)
{
    if (!has_room || (OMPI_MAJOR_VERSION >= 5 && opal_using_threads())) {
        return;
    }
    pwr_redirect_all(redirects, NUM_REDIRECTS);
}

void pwr_ucx_users_stop(void)
{
    if (0 != --users) {
        return;
    }
    pwr_redirect_undo(redirects, NUM_REDIRECTS);
    while (0 != num_workers) {
        remove_worker(workers[0]);
    }
    num_contexts = 0;
}

bool pwr_ucx_users_wake(void)
{
    return 0 != num_workers;
}
