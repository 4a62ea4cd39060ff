/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls that go to the saved functions: ranks that wait in them give the CPU back, too.
 */
#include "coll_poweraware_stock.h"

#include "pwr_ompi/idle.h"

#define SELF (&mca_coll_poweraware_component)

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

void coll_poweraware_stock_begin(mca_coll_poweraware_module_t *m, coll_poweraware_class_t *class)
{
    m->stock.policy = SELF->wait_policy;
    m->stock.policy.oversubscribed = m->stock.policy.oversubscribed || pwr_idle_is_crowded();
    coll_poweraware_class_begin(class, &m->stock.policy);
    m->stock.outer = pwr_idle_enter(&m->stock.policy);
}

void coll_poweraware_stock_end(mca_coll_poweraware_module_t *m)
{
    pwr_idle_leave(m->stock.outer);
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
