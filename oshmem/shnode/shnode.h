/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * shnode: collectives, put, get and queries of OpenSHMEM that know which PEs share a node.
 *
 *   shmem_init();
 *   int *data = shmem_malloc(bytes);
 *   shnode_init();
 *   shnode_create_team(data);
 *   shnode_int_sum_to_all(sums, data, count);
 *   shnode_finalize();
 *   shmem_finalize();
 *
 * The interface is that of Rahman, Ozog and Dinan (2017), with more collectives and types.  It
 * needs OpenSHMEM 1.4 alone. A team is the PEs of one node; the lowest one leads.  Collectives are
 * of all PEs, and all PEs call them with the same arguments, in the same order.  target and source
 * are symmetric.  Counts are elements.  One thread of a PE at a time calls these functions.  man 3
 * shnode has the rest.
 */
#ifndef SHNODE_H
#define SHNODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SHNODE_API
#define SHNODE_API
#endif

enum {
    SHNODE_SUCCESS = 0,
    SHNODE_ERR_INIT = -1,      /* before shnode_init, or after shnode_finalize */
    SHNODE_ERR_TWICE = -2,     /* shnode_init or shnode_create_team, the second time */
    SHNODE_ERR_SYMMETRIC = -3, /* an address that is not symmetric */
    SHNODE_ERR_MEMORY = -4,    /* no memory; of the symmetric heap, too */
    SHNODE_ERR_ARGUMENT = -5   /* no such PE */
};

/* Collective: finds out which PEs share a node. */
SHNODE_API int shnode_init(void);
SHNODE_API int shnode_finalize(void);
/* The team of this node, and the first object whose addresses its members know. */
SHNODE_API int shnode_create_team(void *data);
/* One more object.  Others are looked up when they are used first. */
SHNODE_API int shnode_add_data(void *data);
/* 1 on the lowest PE of each node. */
SHNODE_API int shnode_am_team_leader(void);

/* ---- what is behind the queries and transfers below; not for programs ---- */

/* All addresses of a page are as far away in the memory of a PE: deltas has that, by PE. */
#define SHNODE_AWAY_ PTRDIFF_MIN /* its memory cannot be reached */
enum { SHNODE_PAGE_BITS_ = 12 };
struct shnode_page_ {
    uintptr_t page;
    const ptrdiff_t *deltas;
};
struct shnode_view_ {
    const struct shnode_page_ *pages;
    uintptr_t mask;
    unsigned pes;
};
struct shnode_views_ {
    struct shnode_view_ queries, rma;
    const unsigned char *members;
    unsigned pes;
};
SHNODE_API extern struct shnode_views_ shnode_views_;
SHNODE_API int shnode_look_up_member_(int rem_pe);
SHNODE_API void *shnode_look_up_address_(int rem_pe, void *data);
SHNODE_API void shnode_put_slowly_(void *dest, const void *source, size_t bytes, int pe);
SHNODE_API void shnode_get_slowly_(void *dest, const void *source, size_t bytes, int pe);

static inline void *shnode_find_(const struct shnode_view_ *view, const void *data, int pe)
{
    uintptr_t address = (uintptr_t)data, page = address >> SHNODE_PAGE_BITS_;
    const struct shnode_page_ *at = &view->pages[page & view->mask];
    if (at->page != page || (unsigned)pe >= view->pes || at->deltas[pe] == SHNODE_AWAY_) {
        return NULL;
    }
    return (void *)(address + (uintptr_t)at->deltas[pe]);
}

/* ---- queries ---- */

/* 1: rem_pe is of this PE's node, as the PE itself is.  0: it is not, or there is no such PE. */
static inline int shnode_is_team_member(int rem_pe)
{
    return (unsigned)rem_pe < shnode_views_.pes ? shnode_views_.members[rem_pe]
                                                : shnode_look_up_member_(rem_pe);
}

/* Where the symmetric object data of rem_pe lies in this PE's memory; NULL: not on this node, or
 * not symmetric. */
static inline void *shnode_get_member_remote_addr(int rem_pe, void *data)
{
    void *found = shnode_find_(&shnode_views_.queries, data, rem_pe);
    return found != NULL ? found : shnode_look_up_address_(rem_pe, data);
}

/* ---- put and get: stores and loads within a node, shmem_putmem and shmem_getmem to others ---- */

static inline void shnode_putmem(void *dest, const void *source, size_t bytes, int pe)
{
    void *to = shnode_find_(&shnode_views_.rma, dest, pe);
    if (to == NULL) {
        shnode_put_slowly_(dest, source, bytes, pe);
    } else if (bytes == 8) {
        memcpy(to, source, 8);
    } else {
        memmove(to, source, bytes);
    }
}

static inline void shnode_getmem(void *dest, const void *source, size_t bytes, int pe)
{
    const void *from = shnode_find_(&shnode_views_.rma, source, pe);
    if (from == NULL) {
        shnode_get_slowly_(dest, source, bytes, pe);
    } else if (bytes == 8) {
        memcpy(dest, from, 8);
    } else {
        memmove(dest, from, bytes);
    }
}

#define SHNODE_RMA_TYPES_(X)                                                                       \
    X(float, float)                                                                                \
    X(double, double)                                                                              \
    X(longdouble, long double)                                                                     \
    X(char, char)                                                                                  \
    X(schar, signed char)                                                                          \
    X(short, short)                                                                                \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int8, int8_t)                                                                                \
    X(int16, int16_t)                                                                              \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint8, uint8_t)                                                                              \
    X(uint16, uint16_t)                                                                            \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)                                                                                \
    X(ptrdiff, ptrdiff_t)

/* shnode_<type>_put, _get, _p, _g, as those of OpenSHMEM */
#define SHNODE_RMA_(name, type)                                                                    \
    static inline void shnode_##name##_put(type *dest, const type *source, size_t nelems, int pe)  \
    {                                                                                              \
        shnode_putmem(dest, source, nelems * sizeof(type), pe);                                    \
    }                                                                                              \
    static inline void shnode_##name##_get(type *dest, const type *source, size_t nelems, int pe)  \
    {                                                                                              \
        shnode_getmem(dest, source, nelems * sizeof(type), pe);                                    \
    }                                                                                              \
    static inline void shnode_##name##_p(type *dest, type value, int pe)                           \
    {                                                                                              \
        volatile type *to = (volatile type *)shnode_find_(&shnode_views_.rma, dest, pe);           \
        if (to != NULL) {                                                                          \
            *to = value;                                                                           \
        } else {                                                                                   \
            shnode_put_slowly_(dest, &value, sizeof value, pe);                                    \
        }                                                                                          \
    }                                                                                              \
    static inline type shnode_##name##_g(const type *source, int pe)                               \
    {                                                                                              \
        const volatile type *from =                                                                \
            (const volatile type *)shnode_find_(&shnode_views_.rma, source, pe);                   \
        type value;                                                                                \
        if (from != NULL) {                                                                        \
            return *from;                                                                          \
        }                                                                                          \
        shnode_get_slowly_(&value, source, sizeof value, pe);                                      \
        return value;                                                                              \
    }
SHNODE_RMA_TYPES_(SHNODE_RMA_)

/* Order, and complete, the puts above and those of OpenSHMEM. */
SHNODE_API void shnode_fence(void);
SHNODE_API void shnode_quiet(void);

/* ---- collectives of all PEs ---- */

/* As shmem_barrier_all and shmem_sync_all: the first completes all puts. */
SHNODE_API int shnode_barrier_all(void);
SHNODE_API int shnode_sync_all(void);

#define SHNODE_BITWISE_TYPES_(X, op)                                                               \
    X(op, short, short)                                                                            \
    X(op, int, int)                                                                                \
    X(op, long, long)                                                                              \
    X(op, longlong, long long)
#define SHNODE_ORDERED_TYPES_(X, op)                                                               \
    SHNODE_BITWISE_TYPES_(X, op)                                                                   \
    X(op, float, float)                                                                            \
    X(op, double, double)                                                                          \
    X(op, longdouble, long double)
#ifdef __cplusplus
#define SHNODE_ARITHMETIC_TYPES_(X, op) SHNODE_ORDERED_TYPES_(X, op)
#else
#define SHNODE_ARITHMETIC_TYPES_(X, op)                                                            \
    SHNODE_ORDERED_TYPES_(X, op)                                                                   \
    X(op, complexf, float _Complex)                                                                \
    X(op, complexd, double _Complex)
#endif
#define SHNODE_REDUCTIONS_(X)                                                                      \
    SHNODE_BITWISE_TYPES_(X, and)                                                                  \
    SHNODE_BITWISE_TYPES_(X, or)                                                                   \
    SHNODE_BITWISE_TYPES_(X, xor)                                                                  \
    SHNODE_ORDERED_TYPES_(X, max)                                                                  \
    SHNODE_ORDERED_TYPES_(X, min)                                                                  \
    SHNODE_ARITHMETIC_TYPES_(X, sum)                                                               \
    SHNODE_ARITHMETIC_TYPES_(X, prod)

/* shnode_<type>_<op>_to_all: target may be source.  All PEs get the same bits. */
#define SHNODE_TO_ALL_(op, name, type)                                                             \
    SHNODE_API int shnode_##name##_##op##_to_all(type *target, const type *source, size_t nreduce);
#ifndef __cplusplus /* "and", "or" and "xor" are words of C++ */
SHNODE_REDUCTIONS_(SHNODE_TO_ALL_)
#else
SHNODE_ORDERED_TYPES_(SHNODE_TO_ALL_, max)
SHNODE_ORDERED_TYPES_(SHNODE_TO_ALL_, min)
SHNODE_ARITHMETIC_TYPES_(SHNODE_TO_ALL_, sum)
SHNODE_ARITHMETIC_TYPES_(SHNODE_TO_ALL_, prod)
#endif

/* Blocks of all PEs, in their order, on all of them; of collect they may differ in length.
   target and source do not overlap in these. */
SHNODE_API int shnode_fcollect32(void *target, const void *source, size_t nelems);
SHNODE_API int shnode_fcollect64(void *target, const void *source, size_t nelems);
SHNODE_API int shnode_collect32(void *target, const void *source, size_t nelems);
SHNODE_API int shnode_collect64(void *target, const void *source, size_t nelems);
/* As in OpenSHMEM, the root's own target is left alone. */
SHNODE_API int shnode_broadcast32(void *target, const void *source, size_t nelems, int root);
SHNODE_API int shnode_broadcast64(void *target, const void *source, size_t nelems, int root);
/* Block i of this PE's source becomes block "this PE" of PE i's target. */
SHNODE_API int shnode_alltoall32(void *target, const void *source, size_t nelems);
SHNODE_API int shnode_alltoall64(void *target, const void *source, size_t nelems);
/* The paper's name: of 64-bit elements. */
static inline int shnode_fcollect(void *target, const void *source, size_t nelems)
{
    return shnode_fcollect64(target, source, nelems);
}

#ifdef __cplusplus
}
#endif
#endif
