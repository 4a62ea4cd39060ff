/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls that go to the saved functions: ranks that wait in them give the CPU back, too.
 */
#include "coll_poweraware_stock.h"

#include <stddef.h>
#include <stdlib.h>

#include "coll_poweraware_hang.h"
#include "pwr_ompi/idle.h"

/* ---- the functions that were selected before us ---- */

typedef const mca_coll_base_comm_coll_t saved_t;
typedef const coll_poweraware_args_t args_t;
typedef struct ompi_communicator_t comm_t;

static int stock_allgather(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, allgather, a->sbuf, (pwr_count_t)a->scount, a->sdtype,
                                      a->rbuf, (pwr_count_t)a->rcount, a->rdtype, comm);
}

static int stock_allgatherv(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, allgatherv, a->sbuf, (pwr_count_t)a->scount, a->sdtype,
                                      a->rbuf, a->rcounts, a->rdispls, a->rdtype, comm);
}

static int stock_allreduce(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, allreduce, a->sbuf, a->rbuf, (pwr_count_t)a->rcount,
                                      a->rdtype, a->op, comm);
}

static int stock_alltoall(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, alltoall, a->sbuf, (pwr_count_t)a->scount, a->sdtype,
                                      a->rbuf, (pwr_count_t)a->rcount, a->rdtype, comm);
}

static int stock_alltoallv(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, alltoallv, a->sbuf, a->scounts, a->sdispls, a->sdtype,
                                      a->rbuf, a->rcounts, a->rdispls, a->rdtype, comm);
}

static int stock_alltoallw(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, alltoallw, a->sbuf, a->scounts, a->sdispls, a->sdtypes,
                                      a->rbuf, a->rcounts, a->rdispls, a->rdtypes, comm);
}

static int stock_barrier(saved_t *s, args_t *a, comm_t *comm)
{
    (void)a;
    return COLL_POWERAWARE_CALL_SAVED(s, barrier, comm);
}

static int stock_bcast(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, bcast, a->rbuf, (pwr_count_t)a->rcount, a->rdtype, a->root,
                                      comm);
}

static int stock_gather(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, gather, a->sbuf, (pwr_count_t)a->scount, a->sdtype,
                                      a->rbuf, (pwr_count_t)a->rcount, a->rdtype, a->root, comm);
}

static int stock_reduce(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, reduce, a->sbuf, a->rbuf, (pwr_count_t)a->rcount,
                                      a->rdtype, a->op, a->root, comm);
}

static int stock_reduce_scatter(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, reduce_scatter, a->sbuf, a->rbuf, a->rcounts, a->rdtype,
                                      a->op, comm);
}

static int stock_reduce_scatter_block(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, reduce_scatter_block, a->sbuf, a->rbuf,
                                      (pwr_count_t)a->rcount, a->rdtype, a->op, comm);
}

static int stock_scatter(saved_t *s, args_t *a, comm_t *comm)
{
    return COLL_POWERAWARE_CALL_SAVED(s, scatter, a->sbuf, (pwr_count_t)a->scount, a->sdtype,
                                      a->rbuf, (pwr_count_t)a->rcount, a->rdtype, a->root, comm);
}

#define STOCK_ROW(constant, name) [COLL_POWERAWARE_##constant] = stock_##name,
static int (*const functions[COLL_POWERAWARE_NUM_COLLECTIVES])(saved_t *, args_t *, comm_t *) = {
    COLL_POWERAWARE_HANDLED(STOCK_ROW)};

/* ---- around them ---- */

static mca_coll_poweraware_module_t *module_of(pwr_idle_within_t *within)
{
    return (mca_coll_poweraware_module_t *)((char *)within -
                                            offsetof(mca_coll_poweraware_module_t, stock.within));
}

/* Out of memory: then it waits on without a word. */
static void lose(pwr_idle_within_t *within, ompi_request_t **requests, size_t num_requests,
                 uint64_t lasted_ns)
{
    mca_coll_poweraware_module_t *m = module_of(within);
    coll_poweraware_patience_t *patience = m->stock.patience;
    if (NULL == patience) {
        patience = malloc(sizeof *patience);
        if (NULL == patience) {
            m->stock.policy.longest_ns = 0;
            return;
        }
        coll_poweraware_patience_begin(patience, m, &m->stock.policy, NULL);
        m->stock.patience = patience;
    }
    patience->requests = requests;
    patience->num_requests = num_requests;
    coll_poweraware_patience_lose(patience, lasted_ns);
    within->policy = patience->policy;
}

static void found(pwr_idle_within_t *within)
{
    mca_coll_poweraware_module_t *m = module_of(within);
    within->policy = &m->stock.policy;
    if (NULL != m->stock.patience) {
        coll_poweraware_patience_end(m->stock.patience);
        free(m->stock.patience);
        m->stock.patience = NULL;
    }
}

static unsigned roll_kind(int what)
{
    return what < COLL_POWERAWARE_ROLL_OTHER ? (unsigned)what : COLL_POWERAWARE_ROLL_OTHER;
}

void coll_poweraware_stock_begin(mca_coll_poweraware_module_t *m, coll_poweraware_class_t *class)
{
    pwr_roll_t *roll = coll_poweraware_roll(m);
    if (NULL != roll) {
        pwr_roll_begin(roll, roll_kind(m->what));
    }
    m->stock.policy = coll_poweraware_wait_policy();
    coll_poweraware_class_begin(class, &m->stock.policy);
    m->stock.within = (pwr_idle_within_t){.policy = &m->stock.policy, .lost = lose, .found = found};
    m->stock.outer = pwr_idle_enter(&m->stock.within);
}

void coll_poweraware_stock_end(mca_coll_poweraware_module_t *m)
{
    pwr_roll_t *roll = coll_poweraware_roll(m);
    pwr_idle_leave(m->stock.outer);
    if (NULL != roll) {
        pwr_roll_end(roll);
    }
}

int coll_poweraware_stock_run(mca_coll_poweraware_module_t *m,
                              coll_poweraware_collective_t collective,
                              coll_poweraware_class_t *class, args_t *args, comm_t *comm)
{
    coll_poweraware_stock_begin(m, class);
    int rc = functions[collective](&m->saved, args, comm);
    coll_poweraware_stock_end(m);
    return rc;
}
