/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Data of the GPU in memory of the CPU (staging.h).
 *
 * 1. What a side of the call names, as parts: so many elements of a datatype at a place.
 * 2. Memory for all from the lowest to the highest byte of these.
 * 3. Parts are copied in before the call, block by block, and those received back afterwards.
 */
#include "staging.h"

#include <stdatomic.h>

#include "device.h"
#include "pwr_ompi/process.h"

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"

/* ---- 1. parts ---- */

typedef void part_t(coll_poweraware_staging_t *staging, coll_poweraware_staged_t *side,
                    struct ompi_datatype_t *datatype, size_t count, ptrdiff_t at);

static ptrdiff_t extent_of(const struct ompi_datatype_t *datatype)
{
    return datatype->super.ub - datatype->super.lb;
}

static void each_of(coll_poweraware_staging_t *s, coll_poweraware_staged_t *side, part_t *f,
                    pwr_counts_t counts, pwr_displs_t displs, struct ompi_datatype_t *datatype,
                    struct ompi_datatype_t *const *datatypes)
{
    for (int i = 0; i < ompi_comm_size(s->comm); ++i) {
        struct ompi_datatype_t *its = NULL != datatypes ? datatypes[i] : datatype;
        ptrdiff_t unit = NULL != datatypes ? 1 : extent_of(datatype);
        f(s, side, its, pwr_ompi_count(counts, i), (ptrdiff_t)pwr_ompi_displ(displs, i) * unit);
    }
}

static void parts_sent(coll_poweraware_staging_t *s, part_t *f)
{
    const coll_poweraware_args_t *a = &s->args;
    coll_poweraware_staged_t *side = &s->send;
    size_t size = (size_t)ompi_comm_size(s->comm);
    switch (s->collective) {
    case COLL_POWERAWARE_ALLGATHER:
    case COLL_POWERAWARE_ALLGATHERV:
    case COLL_POWERAWARE_GATHER:
        f(s, side, a->sdtype, a->scount, 0);
        break;
    case COLL_POWERAWARE_ALLTOALL:
    case COLL_POWERAWARE_SCATTER: /* the root's: others are not asked for theirs */
        f(s, side, a->sdtype, a->scount * size, 0);
        break;
    case COLL_POWERAWARE_ALLTOALLV:
    case COLL_POWERAWARE_ALLTOALLW:
        each_of(s, side, f, a->scounts, a->sdispls, a->sdtype, a->sdtypes);
        break;
    case COLL_POWERAWARE_REDUCE_SCATTER:
        f(s, side, a->rdtype, coll_poweraware_sum_of(a->rcounts, s->comm), 0);
        break;
    case COLL_POWERAWARE_REDUCE_SCATTER_BLOCK:
        f(s, side, a->rdtype, a->rcount * size, 0);
        break;
    default: /* reductions with one block */
        f(s, side, a->rdtype, a->rcount, 0);
    }
}

static void parts_received(coll_poweraware_staging_t *s, part_t *f)
{
    const coll_poweraware_args_t *a = &s->args;
    coll_poweraware_staged_t *side = &s->receive;
    bool in_place = MPI_IN_PLACE == a->sbuf;
    size_t size = (size_t)ompi_comm_size(s->comm);
    switch (s->collective) {
    case COLL_POWERAWARE_ALLGATHER:
    case COLL_POWERAWARE_ALLTOALL:
    case COLL_POWERAWARE_GATHER:
        f(s, side, a->rdtype, a->rcount * size, 0);
        break;
    case COLL_POWERAWARE_ALLGATHERV:
    case COLL_POWERAWARE_ALLTOALLV:
    case COLL_POWERAWARE_ALLTOALLW:
        each_of(s, side, f, a->rcounts, a->rdispls, a->rdtype, a->rdtypes);
        break;
    case COLL_POWERAWARE_REDUCE_SCATTER:
        f(s, side, a->rdtype,
          in_place ? coll_poweraware_sum_of(a->rcounts, s->comm)
                   : pwr_ompi_count(a->rcounts, ompi_comm_rank(s->comm)),
          0);
        break;
    case COLL_POWERAWARE_REDUCE_SCATTER_BLOCK:
        f(s, side, a->rdtype, in_place ? a->rcount * size : a->rcount, 0);
        break;
    default:
        f(s, side, a->rdtype, a->rcount, 0);
    }
}

/* Arguments that mean something here. */
static bool is_root(const coll_poweraware_staging_t *s)
{
    return ompi_comm_rank(s->comm) == s->args.root;
}

static bool sends(const coll_poweraware_staging_t *s)
{
    return NULL != s->args.sbuf && MPI_IN_PLACE != s->args.sbuf &&
           (COLL_POWERAWARE_SCATTER != s->collective || is_root(s));
}

static bool receives(const coll_poweraware_staging_t *s)
{
    bool at_root =
        COLL_POWERAWARE_GATHER == s->collective || COLL_POWERAWARE_REDUCE == s->collective;
    return NULL != s->args.rbuf && MPI_IN_PLACE != s->args.rbuf && (!at_root || is_root(s));
}

/* ---- 2. memory ---- */

static void widen(coll_poweraware_staging_t *s, coll_poweraware_staged_t *side,
                  struct ompi_datatype_t *datatype, size_t count, ptrdiff_t at)
{
    ptrdiff_t gap = 0;
    ptrdiff_t span = 0 == count ? 0 : opal_datatype_span(&datatype->super, count, &gap);
    bool is_first = side->low == side->high;
    (void)s;
    if (span <= 0) {
        return;
    }
    side->low = is_first || at + gap < side->low ? at + gap : side->low;
    side->high = is_first || at + gap + span > side->high ? at + gap + span : side->high;
}

/* ---- 3. copies ---- */

static void note(coll_poweraware_staging_t *s, int rc)
{
    s->rc = OMPI_SUCCESS == s->rc ? rc : s->rc;
}

static void read_block(coll_poweraware_staging_t *s, const coll_poweraware_staged_t *side,
                       char *device, size_t bytes)
{
    note(s,
         pwr_device_memory_read(side->memory + (device - side->device - side->low), device, bytes));
}

static void write_block(coll_poweraware_staging_t *s, const coll_poweraware_staged_t *side,
                        char *device, size_t bytes)
{
    note(s, pwr_device_memory_write(device, side->memory + (device - side->device - side->low),
                                    bytes));
}

typedef void block_t(coll_poweraware_staging_t *staging, const coll_poweraware_staged_t *side,
                     char *device, size_t bytes);

static void each_block(coll_poweraware_staging_t *s, const coll_poweraware_staged_t *side,
                       struct ompi_datatype_t *datatype, size_t count, ptrdiff_t at, block_t *f)
{
    enum { BLOCKS = 32 };
    opal_convertor_t convertor;
    char *from = side->device + at;
    int done = 0 == count || 0 == datatype->super.size;
    if (!done && opal_datatype_is_contiguous_memory_layout(&datatype->super, count)) {
        f(s, side, from + datatype->super.true_lb, count * datatype->super.size);
        return;
    }
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (!done && OPAL_SUCCESS != opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor,
                                                                          &datatype->super, count,
                                                                          from, 0, &convertor)) {
        note(s, OMPI_ERROR);
        done = 1;
    }
    while (!done) {
        struct iovec blocks[BLOCKS];
        uint32_t num = BLOCKS;
        size_t bytes = SIZE_MAX;
        done = opal_convertor_raw(&convertor, blocks, &num, &bytes);
        for (uint32_t i = 0; i < num; ++i) {
            f(s, side, blocks[i].iov_base, blocks[i].iov_len);
        }
    }
    OBJ_DESTRUCT(&convertor);
}

static void copy_in(coll_poweraware_staging_t *s, coll_poweraware_staged_t *side,
                    struct ompi_datatype_t *datatype, size_t count, ptrdiff_t at)
{
    each_block(s, side, datatype, count, at, read_block);
}

static void copy_back(coll_poweraware_staging_t *s, coll_poweraware_staged_t *side,
                      struct ompi_datatype_t *datatype, size_t count, ptrdiff_t at)
{
    each_block(s, side, datatype, count, at, write_block);
}

static void say_once(bool locked)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set_explicit(&said, memory_order_relaxed)) {
        pwr_say(2, "data on the GPU go through memory of the CPU, page-locked: %s",
                locked ? "yes" : "no");
    }
}

typedef void side_t(coll_poweraware_staging_t *staging, part_t *f);

/* Returns what the call is given for the buffer. */
static char *stage_side(coll_poweraware_staging_t *s, coll_poweraware_staged_t *side, side_t *parts,
                        const void *buffer)
{
    parts(s, widen);
    if (side->low == side->high || !pwr_device_memory_is((const char *)buffer + side->low)) {
        return (char *)buffer;
    }
    side->device = (char *)buffer;
    bool locked;
    side->memory = pwr_device_memory_stage(buffer, (size_t)(side->high - side->low), &locked);
    if (NULL == side->memory) {
        note(s, OMPI_ERR_OUT_OF_RESOURCE);
        s->cannot = true;
        return (char *)buffer;
    }
    say_once(locked);
    parts(s, copy_in);
    return side->memory - side->low;
}

bool coll_poweraware_stage(coll_poweraware_staging_t *s, mca_coll_poweraware_module_t *m,
                           coll_poweraware_collective_t collective,
                           const coll_poweraware_algorithm_t *algorithm,
                           coll_poweraware_args_t *args)
{
    if (COLL_POWERAWARE_BARRIER == collective ||
        (NULL == algorithm && pwr_device_memory_is_stocks())) {
        return false;
    }
    *s = (coll_poweraware_staging_t){.comm = m->comm, .collective = collective, .args = *args};
    if (sends(s)) {
        args->sbuf = stage_side(s, &s->send, parts_sent, args->sbuf);
    }
    if (receives(s)) {
        args->rbuf = stage_side(s, &s->receive, parts_received, args->rbuf);
    }
    bool staged = NULL != s->send.device || NULL != s->receive.device;
    if (staged) {
        coll_poweraware_want_gpu(m, collective);
    }
    return staged;
}

int coll_poweraware_unstage(coll_poweraware_staging_t *s, int rc)
{
    /* the root of a Bcast has sent what is there */
    bool is_sender = COLL_POWERAWARE_BCAST == s->collective && is_root(s);
    if (NULL != s->receive.memory && !is_sender) {
        parts_received(s, copy_back);
    }
    pwr_device_memory_unstage(s->send.memory);
    pwr_device_memory_unstage(s->receive.memory);
    return OMPI_SUCCESS == rc ? s->rc : rc;
}
