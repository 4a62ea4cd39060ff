/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Selected after scoll/basic and scoll/mpi, whose alltoall it keeps for what it cannot do.
 */
#include "module.h"

#include <limits.h>

#include "calls.h"

#include "ompi/datatype/ompi_datatype.h"
#include "oshmem/constants.h"
#include "oshmem/proc/proc.h"

typedef struct module {
    mca_scoll_base_module_t super;
    mca_scoll_base_module_alltoall_fn_t alltoall; /* what was there before us */
    mca_scoll_base_module_t *alltoall_module;
} module_t;

static void construct(module_t *module)
{
    module->alltoall = NULL;
    module->alltoall_module = NULL;
}

static void destruct(module_t *module)
{
    if (NULL != module->alltoall_module) {
        OBJ_RELEASE(module->alltoall_module);
    }
}

static OBJ_CLASS_INSTANCE(module_t, mca_scoll_base_module_t, construct, destruct);

/* ---- alltoall, alltoalls ---- */

/* What goes from one PE to another: elements of size bytes, every stride-th one.  The next PE's
   follow without a gap but the stride's. */
static int make_block(size_t elements, size_t size, ptrdiff_t stride, ompi_datatype_t **block)
{
    ompi_datatype_t *apart = NULL;
    ptrdiff_t bytes = stride * (ptrdiff_t)size;
    *block = NULL;
    int rc = ompi_datatype_create_hvector((int)elements, (int)size, bytes, MPI_BYTE, &apart);
    if (OMPI_SUCCESS == rc) {
        rc = ompi_datatype_create_resized(apart, 0, (ptrdiff_t)elements * bytes, block);
        ompi_datatype_destroy(&apart);
    }
    return OMPI_SUCCESS == rc ? ompi_datatype_commit(block) : rc;
}

static int exchange(ompi_communicator_t *comm, void *to, ompi_datatype_t *to_block, const void *from,
                    ompi_datatype_t *from_block, size_t count)
{
    return comm->c_coll->coll_alltoall(from, (pwr_count_t)count, from_block, to, (pwr_count_t)count,
                                       to_block, comm, comm->c_coll->coll_alltoall_module);
}

static int exchange_strided(ompi_communicator_t *comm, void *to, ptrdiff_t to_stride,
                            const void *from, ptrdiff_t from_stride, size_t elements, size_t size)
{
    ompi_datatype_t *to_block = NULL, *from_block = NULL;
    int rc = make_block(elements, size, to_stride, &to_block);
    rc = OMPI_SUCCESS == rc ? make_block(elements, size, from_stride, &from_block) : rc;
    rc = OMPI_SUCCESS == rc ? exchange(comm, to, to_block, from, from_block, 1) : rc;
    if (NULL != from_block) {
        ompi_datatype_destroy(&from_block);
    }
    if (NULL != to_block) {
        ompi_datatype_destroy(&to_block);
    }
    return rc;
}

static int saved_alltoall(module_t *module, oshmem_group_t *group, void *to, const void *from,
                          ptrdiff_t to_stride, ptrdiff_t from_stride, size_t elements, size_t size,
                          long *sync, int algorithm)
{
    group->g_scoll.scoll_alltoall_module = module->alltoall_module;
    int rc = module->alltoall(group, to, from, to_stride, from_stride, elements, size, sync,
                              algorithm);
    group->g_scoll.scoll_alltoall_module = &module->super;
    return rc;
}

/* All PEs of a set have equal elements and sizes, and take the same way; strides may differ. */
static int alltoall(struct oshmem_group_t *group, void *to, const void *from, ptrdiff_t to_stride,
                    ptrdiff_t from_stride, size_t elements, size_t size, long *sync, int algorithm)
{
    module_t *module = (module_t *)group->g_scoll.scoll_alltoall_module;
    size_t most = INT_MAX / 64 / (size_t)group->proc_count;
    if (NULL == group->ompi_comm || elements * size > most) {
        return saved_alltoall(module, group, to, from, to_stride, from_stride, elements, size, sync,
                              algorithm);
    }
    if (0 == elements) {
        return OSHMEM_SUCCESS;
    }
    if (1 == to_stride && 1 == from_stride) {
        return exchange(group->ompi_comm, to, MPI_BYTE, from, MPI_BYTE, elements * size);
    }
    return exchange_strided(group->ompi_comm, to, to_stride, from, from_stride, elements, size);
}

/* ---- selected ---- */

static int enable(mca_scoll_base_module_t *base, oshmem_group_t *group)
{
    module_t *module = (module_t *)base;
    if (NULL == group->g_scoll.scoll_alltoall) {
        return OSHMEM_ERROR;
    }
    module->alltoall = group->g_scoll.scoll_alltoall;
    module->alltoall_module = group->g_scoll.scoll_alltoall_module;
    OBJ_RETAIN(module->alltoall_module);
    if (group == oshmem_group_all) {
        scoll_poweraware_take_calls();
    }
    return OSHMEM_SUCCESS;
}

mca_scoll_base_module_t *scoll_poweraware_module_new(void)
{
    module_t *module = OBJ_NEW(module_t);
    if (NULL == module) {
        return NULL;
    }
    module->super.scoll_alltoall = alltoall;
    module->super.scoll_module_enable = enable;
    return &module->super;
}
