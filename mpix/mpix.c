/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stream communicators (poweraware_mpix.h): what MPI has to do with groups of pwr_gpu/group.h.
 *
 * A communicator keeps what belongs to it in an attribute.  Ranks of a group share a segment of
 * memory, which MPI gives them.  Where one of them cannot, none has a group, and calls go through
 * the host.
 */
#include "poweraware_mpix.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr_gpu/group.h"
#include "pwr_gpu/team.h"

struct poweraware_stream {
    void *stream;
};

typedef struct attached {
    void *stream;
    void *ended;            /* event; NULL: there is none */
    pwr_gpu_group_t *group; /* NULL: none */
    pwr_gpu_team_t *team;   /* NULL: none; neither: through the host */
    MPI_Comm within;        /* of the same ranks, for what is ours */
    MPI_Win memory;         /* MPI_WIN_NULL: none */
    int rank, size;
    int told;
} attached_t;

enum { ALIGNMENT = 64 };

static int keyval = MPI_KEYVAL_INVALID;

/* ---- streams ---- */

int MPIX_Info_set_hex(MPI_Info info, const char *key, const void *value, int value_size)
{
    char text[MPI_MAX_INFO_VAL];
    if (value_size < 0 || 2 * (size_t)value_size + 1 > sizeof text) {
        return MPI_ERR_ARG;
    }
    for (int i = 0; i < value_size; ++i) {
        snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)value)[i]);
    }
    text[2 * value_size] = '\0';
    return MPI_Info_set(info, key, text);
}

static int read_hex(const char *text, void *value, size_t bytes)
{
    unsigned each;
    if (strlen(text) != 2 * bytes) {
        return 0;
    }
    for (size_t i = 0; i < bytes; ++i) {
        if (1 != sscanf(text + 2 * i, "%2x", &each)) {
            return 0;
        }
        ((unsigned char *)value)[i] = (unsigned char)each;
    }
    return 1;
}

/* Into text[MPI_MAX_INFO_VAL + 1]; returns whether there is such a key. */
static int get(MPI_Info info, const char *key, char *text)
{
    int is_there = 0;
#if MPI_VERSION < 4
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &is_there);
#else
    int room = MPI_MAX_INFO_VAL + 1;
    MPI_Info_get_string(info, key, &room, text, &is_there);
#endif
    return is_there;
}

int MPIX_Stream_create(MPI_Info info, MPIX_Stream *stream)
{
    char type[MPI_MAX_INFO_VAL + 1], text[MPI_MAX_INFO_VAL + 1];
    void *value;
    *stream = MPIX_STREAM_NULL;
    if (MPI_INFO_NULL == info || !get(info, "type", type) || !get(info, "value", text) ||
        0 != strcmp("cudaStream_t", type) || !read_hex(text, &value, sizeof value)) {
        return MPI_ERR_ARG;
    }
    *stream = malloc(sizeof **stream);
    if (NULL == *stream) {
        return MPI_ERR_NO_MEM;
    }
    (*stream)->stream = value;
    return MPI_SUCCESS;
}

int MPIX_Stream_free(MPIX_Stream *stream)
{
    free(*stream);
    *stream = MPIX_STREAM_NULL;
    return MPI_SUCCESS;
}

/* ---- communicators ---- */

static int all_agree(const attached_t *a, int mine)
{
    int least = 0;
    return MPI_SUCCESS == MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, a->within) && least;
}

/* So many bytes, zeroed, of all ranks of the communicator; NULL: they do not share a node, or there
   is none. */
static void *share(attached_t *a, size_t bytes_of_all)
{
    MPI_Comm node;
    MPI_Aint bytes = 0;
    void *memory = NULL;
    int unit, on_node = 0;
    MPI_Comm_split_type(a->within, MPI_COMM_TYPE_SHARED, a->rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Comm_free(&node);
    if (!all_agree(a, on_node == a->size)) {
        return NULL; /* on all ranks */
    }
    size_t all = bytes_of_all + ALIGNMENT;
    if (MPI_SUCCESS != MPI_Win_allocate_shared(0 == a->rank ? (MPI_Aint)all : 0, 1, MPI_INFO_NULL,
                                               a->within, &memory, &a->memory)) {
        a->memory = MPI_WIN_NULL;
        return NULL;
    }
    MPI_Win_shared_query(a->memory, 0, &bytes, &unit, &memory);
    if (0 == a->rank) {
        memset(memory, 0, all);
    }
    MPI_Barrier(a->within);
    /* as far into a page on all ranks */
    return (void *)(((uintptr_t)memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* The first rank's last: it has the flags that the others have opened. */
static void drop_group(attached_t *a)
{
    if (0 != a->rank) {
        pwr_gpu_group_free(a->group);
    }
    MPI_Barrier(a->within);
    if (0 == a->rank) {
        pwr_gpu_group_free(a->group);
    }
    a->group = NULL;
}

/* Whether all ranks could; who could not says why, once, where nothing else is left. */
static int all_could(const attached_t *a, int mine, const char *why)
{
    static int told;
    if (!mine && !told && NULL == a->team) {
        told = 1;
        fprintf(stderr, "poweraware: reductions in streams go through the host: %s\n", why);
    }
    return all_agree(a, mine);
}

/* Says so, once, if not. */
static int has_driver(void)
{
    static int told;
    int found = pwr_gpu_driver_find();
    if (!found && !told) {
        told = 1;
        fprintf(stderr, "poweraware: no communicator for a stream: libcuda.so.1 is not loaded, or "
                        "too old\n");
    }
    return found;
}

static void drop_team(attached_t *a)
{
    pwr_gpu_team_close(a->team);
    MPI_Barrier(a->within);
    pwr_gpu_team_free(a->team);
    a->team = NULL;
}

/* Says nothing: without one there is the group. */
static void make_team(attached_t *a, void *shared)
{
    pwr_gpu_member_t members[PWR_GPU_MEMBERS], mine = {.multiprocessors = 0};
    a->team = pwr_gpu_open() ? pwr_gpu_team_new(shared, a->size, a->rank, &mine) : NULL;
    if (!all_agree(a, NULL != a->team) ||
        MPI_SUCCESS != MPI_Allgather(&mine, sizeof mine, MPI_BYTE, members, sizeof mine, MPI_BYTE,
                                     a->within) ||
        !all_agree(a, pwr_gpu_team_join(a->team, members)) ||
        !all_agree(a, pwr_gpu_team_probe(a->team))) {
        drop_team(a);
    }
}

static void make_group(attached_t *a, void *memory)
{
    a->group = pwr_gpu_group_new(memory, a->size, a->rank, a->stream);
    if (!all_could(a, NULL != a->group, pwr_gpu_why()) ||
        !all_could(a, pwr_gpu_group_join(a->group), pwr_gpu_why()) ||
        !all_could(a, pwr_gpu_group_start(a->group), "no thread or stream for the server")) {
        drop_group(a);
    }
}

static void find_ways(attached_t *a)
{
    pwr_gpu_make_event(&a->ended);
    char *memory = share(a, PWR_GPU_TEAM_BYTES + pwr_gpu_group_bytes(a->size));
    if (all_could(a, NULL != memory, "ranks share no memory, as on several nodes")) {
        make_team(a, memory);
        make_group(a, memory + PWR_GPU_TEAM_BYTES);
    }
}

static int detach(MPI_Comm comm, int key, void *value, void *extra)
{
    attached_t *a = value;
    (void)comm;
    (void)key;
    (void)extra;
    if (NULL != a->group || NULL != a->team) {
        pwr_gpu_driver.wait_stream(a->stream);
        MPI_Barrier(a->within);
    }
    if (NULL != a->team) {
        drop_team(a);
    }
    if (NULL != a->group) {
        drop_group(a);
    }
    if (NULL != a->ended) {
        pwr_gpu_driver.destroy_event(a->ended);
    }
    if (MPI_WIN_NULL != a->memory) {
        MPI_Win_free(&a->memory);
    }
    MPI_Comm_free(&a->within);
    free(a);
    return MPI_SUCCESS;
}

static int failed(MPI_Comm comm, int error)
{
    MPI_Comm_call_errhandler(comm, error);
    return error;
}

int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm *stream_comm)
{
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter || MPIX_STREAM_NULL == stream) {
        return failed(comm, is_inter ? MPI_ERR_COMM : MPI_ERR_ARG);
    }
    if (MPI_KEYVAL_INVALID == keyval) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach, &keyval, NULL);
    }
    attached_t *a = malloc(sizeof *a);
    if (NULL == a) {
        return failed(comm, MPI_ERR_NO_MEM);
    }
    *a = (attached_t){.stream = stream->stream, .memory = MPI_WIN_NULL};
    int rc = MPI_Comm_dup(comm, stream_comm);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Comm_dup(comm, &a->within);
    }
    if (MPI_SUCCESS != rc) {
        free(a);
        return rc;
    }
    MPI_Comm_set_errhandler(a->within, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &a->rank);
    MPI_Comm_size(comm, &a->size);
    if (!all_agree(a, has_driver())) {
        MPI_Comm_free(&a->within);
        MPI_Comm_free(stream_comm);
        free(a);
        return failed(comm, MPI_ERR_OTHER);
    }
    find_ways(a);
    return MPI_Comm_set_attr(*stream_comm, keyval, a);
}

/* ---- calls ---- */

static int find_op(MPI_Op op, pwr_gpu_op_t *found)
{
    *found = MPI_SUM == op    ? PWR_GPU_SUM
             : MPI_PROD == op ? PWR_GPU_PROD
             : MPI_MIN == op  ? PWR_GPU_MIN
                              : PWR_GPU_MAX;
    return MPI_SUM == op || MPI_PROD == op || MPI_MIN == op || MPI_MAX == op;
}

static int find_type(MPI_Datatype datatype, pwr_gpu_type_t *found)
{
    const MPI_Datatype sint[] = {MPI_INT,     MPI_INT32_T, MPI_LONG, MPI_LONG_LONG,
                                 MPI_INT64_T, MPI_INTEGER, MPI_AINT};
    const MPI_Datatype uint[] = {MPI_UNSIGNED, MPI_UINT32_T, MPI_UNSIGNED_LONG,
                                 MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T};
    const MPI_Datatype real[] = {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
    int bytes = 0;
    MPI_Type_size(datatype, &bytes);
    if (4 != bytes && 8 != bytes) {
        return 0;
    }
    for (size_t i = 0; i < sizeof sint / sizeof sint[0]; ++i) {
        if (sint[i] == datatype) {
            *found = 8 == bytes ? PWR_GPU_I64 : PWR_GPU_I32;
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof uint / sizeof uint[0]; ++i) {
        if (uint[i] == datatype) {
            *found = 8 == bytes ? PWR_GPU_U64 : PWR_GPU_U32;
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof real / sizeof real[0]; ++i) {
        if (real[i] == datatype) {
            *found = 8 == bytes ? PWR_GPU_F64 : PWR_GPU_F32;
            return 1;
        }
    }
    return 0;
}

/* NULL: it is no stream communicator. */
static attached_t *attached_to(MPI_Comm comm)
{
    attached_t *a = NULL;
    int is_there = 0;
    if (MPI_KEYVAL_INVALID != keyval) {
        MPI_Comm_get_attr(comm, keyval, &a, &is_there);
    }
    return is_there ? a : NULL;
}

/* root < 0: all have the result. */
static int through_host(const attached_t *a, const void *in, void *out, int count,
                        MPI_Datatype datatype, MPI_Op op, int root)
{
    MPI_Aint low, span;
    MPI_Type_get_true_extent(datatype, &low, &span);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(datatype, &lower, &extent);
    size_t bytes = (size_t)(span + extent * (count - 1));
    char *memory = malloc(2 * bytes);
    if (NULL == memory) {
        return MPI_ERR_NO_MEM;
    }
    char *to = memory + bytes;
    pwr_gpu_address_t from = (pwr_gpu_address_t)(uintptr_t)in + (pwr_gpu_address_t)low;
    pwr_gpu_address_t back = (pwr_gpu_address_t)(uintptr_t)out + (pwr_gpu_address_t)low;
    int rc = CUDA_SUCCESS == pwr_gpu_driver.wait_stream(a->stream) &&
                     CUDA_SUCCESS == pwr_gpu_driver.to_host(memory, from, bytes)
                 ? MPI_SUCCESS
                 : MPI_ERR_OTHER;
    /* gaps of the result are those of out */
    if (MPI_SUCCESS == rc && NULL != out &&
        CUDA_SUCCESS != pwr_gpu_driver.to_host(to, back, bytes)) {
        rc = MPI_ERR_OTHER;
    }
    int rc_mpi = root < 0
                     ? MPI_Allreduce(memory - low, to - low, count, datatype, op, a->within)
                     : MPI_Reduce(memory - low, to - low, count, datatype, op, root, a->within);
    rc = MPI_SUCCESS == rc ? rc_mpi : rc;
    /* a copy may return before it is there */
    if (MPI_SUCCESS == rc && NULL != out &&
        (CUDA_SUCCESS != pwr_gpu_driver.to_device(back, to, bytes) ||
         CUDA_SUCCESS != pwr_gpu_driver.wait_stream(NULL))) {
        rc = MPI_ERR_OTHER;
    }
    free(memory);
    return rc;
}

static int on_gpu(attached_t *a, const void *in, void *out, size_t count, pwr_gpu_type_t type,
                  pwr_gpu_op_t op, int root)
{
    bool by_team =
        NULL != a->team && (NULL == a->group || pwr_gpu_team_is_faster(a->team, type, count));
    pwr_gpu_result_t result =
        by_team ? pwr_gpu_team_reduce(a->team, a->stream, in, out, op, type, count, root)
                : pwr_gpu_group_reduce(a->group, in, out, op, type, count);
    if (PWR_GPU_DONE != result && !a->told) {
        a->told = 1;
        fprintf(stderr, "poweraware: reductions in a stream fail: %s\n",
                by_team ? pwr_gpu_why() : pwr_gpu_group_why(a->group));
    }
    return PWR_GPU_DONE == result;
}

static int enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   int root, MPI_Comm comm)
{
    attached_t *a = attached_to(comm);
    pwr_gpu_op_t gpu_op;
    pwr_gpu_type_t type;
    if (NULL == a) {
        return failed(comm, MPI_ERR_COMM);
    }
    if (count < 0) {
        return failed(comm, MPI_ERR_COUNT);
    }
    if (root >= a->size) {
        return failed(comm, MPI_ERR_ROOT);
    }
    if (0 == count) {
        return MPI_SUCCESS;
    }
    const void *in = MPI_IN_PLACE == sendbuf ? recvbuf : sendbuf;
    void *out = root < 0 || root == a->rank ? recvbuf : NULL;
    if ((NULL == a->group && NULL == a->team) || !find_op(op, &gpu_op) ||
        !find_type(datatype, &type)) {
        int rc = through_host(a, in, out, count, datatype, op, root);
        return MPI_SUCCESS == rc ? rc : failed(comm, rc);
    }
    return on_gpu(a, in, out, (size_t)count, type, gpu_op, root) ? MPI_SUCCESS
                                                                 : failed(comm, MPI_ERR_OTHER);
}

int MPIX_Allreduce_enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm)
{
    return enqueue(sendbuf, recvbuf, count, datatype, op, -1, comm);
}

int MPIX_Reduce_enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm)
{
    return root < 0 ? failed(comm, MPI_ERR_ROOT)
                    : enqueue(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int poweraware_stream_comm_wait(MPI_Comm comm)
{
    attached_t *a = attached_to(comm);
    if (NULL == a) {
        return failed(comm, MPI_ERR_COMM);
    }
    bool ok = NULL != a->ended ? pwr_gpu_wait_for_stream(a->stream, a->ended)
                               : CUDA_SUCCESS == pwr_gpu_driver.wait_stream(a->stream);
    return ok ? MPI_SUCCESS : failed(comm, MPI_ERR_OTHER);
}

int poweraware_stream_comm_team(MPI_Comm comm, poweraware_team_t **team, int *blocks)
{
    attached_t *a = attached_to(comm);
    *team = NULL;
    *blocks = 0;
    if (NULL == a) {
        return failed(comm, MPI_ERR_COMM);
    }
    if (NULL != a->team) {
        *team = pwr_gpu_team_on_device(a->team, blocks);
    }
    return MPI_SUCCESS;
}
