/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * NCCL and NVSHMEM (peers.h).
 */
#include "peers.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool all_agree(MPI_Comm comm, bool mine)
{
    int all = mine;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
    return 0 != all;
}

static bool cannot(const char *library, const char *why)
{
    fprintf(stderr, "gpu_collectives: without %s: %s\n", library, why);
    return false;
}

typedef struct wanted {
    const char *name;
    void *function; /* where its address goes */
} wanted_t;

/* wanted ends with a name that is NULL. */
static bool find(const char *what, const char *file, const wanted_t *wanted)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (NULL == library) {
        return cannot(what, dlerror());
    }
    for (; NULL != wanted->name; ++wanted) {
        void *address = dlsym(library, wanted->name);
        if (NULL == address) {
            return cannot(what, dlerror());
        }
        memcpy(wanted->function, &address, sizeof address);
    }
    return true;
}

/* Rank 0's, for all, if it could make one. */
static bool hand_out(MPI_Comm comm, bool made, void *id, int bytes)
{
    return all_agree(comm, made) && MPI_SUCCESS == MPI_Bcast(id, bytes, MPI_BYTE, 0, comm);
}

static void must_be(int rc, const char *what)
{
    if (0 != rc) {
        fprintf(stderr, "gpu_collectives: %s: error %d\n", what, rc);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* ---- NCCL, as in nccl.h ---- */

enum { NCCL_DOUBLE = 8, NCCL_SUM = 0 };
typedef struct nccl_id {
    char bytes[128];
} nccl_id_t;

static struct {
    void *comm;
    int (*get_id)(nccl_id_t *id);
    int (*init)(void **comm, int num, nccl_id_t id, int rank);
    int (*allreduce)(const void *in, void *out, size_t count, int type, int op, void *comm,
                     void *stream);
    int (*destroy)(void *comm);
} nccl;

static bool nccl_find(void)
{
    const wanted_t wanted[] = {{"ncclGetUniqueId", &nccl.get_id},
                               {"ncclCommInitRank", &nccl.init},
                               {"ncclAllReduce", &nccl.allreduce},
                               {"ncclCommDestroy", &nccl.destroy},
                               {NULL, NULL}};
    return find("NCCL", "libnccl.so.2", wanted);
}

bool nccl_open(MPI_Comm comm)
{
    nccl_id_t id = {{0}};
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (!all_agree(comm, nccl_find()) ||
        !hand_out(comm, 0 != rank || 0 == nccl.get_id(&id), &id, sizeof id)) {
        return false;
    }
    bool ok = 0 == nccl.init(&nccl.comm, size, id, rank);
    return all_agree(comm, ok || cannot("NCCL", "ncclCommInitRank (NCCL_DEBUG=WARN says more)"));
}

void nccl_allreduce(pwr_gpu_address_t in, pwr_gpu_address_t out, size_t count, void *stream)
{
    must_be(nccl.allreduce((const void *)(uintptr_t)in, (void *)(uintptr_t)out, count, NCCL_DOUBLE,
                           NCCL_SUM, nccl.comm, stream),
            "ncclAllReduce");
}

void nccl_close(void)
{
    nccl.destroy(nccl.comm);
}

/* ---- NVSHMEM, as in nvshmemx_api.h, version 1 of these structures ---- */

enum { NVSHMEM_WITH_UNIQUE_ID = 1 << 3, NVSHMEM_TEAM_WORLD = 0 };
#define NVSHMEM_VERSION_OF(structure) ((1 << 16) + (int)sizeof(structure))

typedef struct nvshmem_id {
    int version;
    char bytes[124];
} nvshmem_id_t;

typedef struct nvshmem_by_id {
    int version;
    nvshmem_id_t *id;
    int rank, num;
} nvshmem_by_id_t;

typedef struct nvshmem_arguments {
    int version;
    nvshmem_by_id_t by_id;
    char rest[96];
} nvshmem_arguments_t;

typedef struct nvshmem_attributes {
    int version;
    void *comm;
    nvshmem_arguments_t arguments;
} nvshmem_attributes_t;

_Static_assert(128 == sizeof(nvshmem_id_t) && 144 == sizeof(nvshmem_attributes_t), "");

static struct {
    void *buffers[2];
    int (*get_id)(nvshmem_id_t *id);
    int (*set_attributes)(int rank, int num, const nvshmem_id_t *id, nvshmem_attributes_t *a);
    int (*init)(unsigned flags, nvshmem_attributes_t *attributes);
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    int (*sum)(int team, double *out, const double *in, size_t count, void *stream);
    void (*finalize)(void);
} nvshmem;

static bool nvshmem_find(void)
{
    const wanted_t wanted[] = {{"nvshmemx_get_uniqueid", &nvshmem.get_id},
                               {"nvshmemx_set_attr_uniqueid_args", &nvshmem.set_attributes},
                               {"nvshmemx_hostlib_init_attr", &nvshmem.init},
                               {"nvshmem_malloc", &nvshmem.allocate},
                               {"nvshmem_free", &nvshmem.release},
                               {"nvshmemx_double_sum_reduce_on_stream", &nvshmem.sum},
                               {"nvshmemx_hostlib_finalize", &nvshmem.finalize},
                               {NULL, NULL}};
    return find("NVSHMEM", "libnvshmem_host.so.3", wanted);
}

bool nvshmem_open(MPI_Comm comm, size_t bytes, pwr_gpu_address_t *in, pwr_gpu_address_t *out)
{
    nvshmem_id_t id = {.version = NVSHMEM_VERSION_OF(nvshmem_id_t)};
    nvshmem_attributes_t attributes = {
        .version = NVSHMEM_VERSION_OF(nvshmem_attributes_t),
        .arguments = {.version = NVSHMEM_VERSION_OF(nvshmem_arguments_t),
                      .by_id = {.version = NVSHMEM_VERSION_OF(nvshmem_by_id_t)}}};
    char heap[32];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(heap, sizeof heap, "%zu", 3 * bytes + (64u << 20));
    setenv("NVSHMEM_SYMMETRIC_SIZE", heap, 0);
    if (!all_agree(comm, nvshmem_find()) ||
        !hand_out(comm, 0 != rank || 0 == nvshmem.get_id(&id), &id, sizeof id)) {
        return false;
    }
    bool ok = 0 == nvshmem.set_attributes(rank, size, &id, &attributes) &&
              0 == nvshmem.init(NVSHMEM_WITH_UNIQUE_ID, &attributes);
    if (!all_agree(comm, ok || cannot("NVSHMEM", "nvshmemx_hostlib_init_attr"))) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        nvshmem.buffers[i] = nvshmem.allocate(bytes);
        ok = ok && NULL != nvshmem.buffers[i];
    }
    *in = (pwr_gpu_address_t)(uintptr_t)nvshmem.buffers[0];
    *out = (pwr_gpu_address_t)(uintptr_t)nvshmem.buffers[1];
    return all_agree(comm, ok || cannot("NVSHMEM", "nvshmem_malloc"));
}

void nvshmem_allreduce(pwr_gpu_address_t in, pwr_gpu_address_t out, size_t count, void *stream)
{
    must_be(nvshmem.sum(NVSHMEM_TEAM_WORLD, (double *)(uintptr_t)out, (const double *)(uintptr_t)in,
                        count, stream),
            "nvshmemx_double_sum_reduce_on_stream");
}

void nvshmem_close(void)
{
    for (int i = 0; i < 2; ++i) {
        nvshmem.release(nvshmem.buffers[i]);
    }
    nvshmem.finalize();
}
