/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Where symmetric addresses lie in the memory of this PE.
 *
 * A table by page: memory is mapped by pages, so all addresses of a page are equally far away.
 * Pages of one segment have one array of distances.  Entries are replaced where pages fall on the
 * same one, arrays stay: there are as many as segments.  A mapping lasts as long as the program:
 * OpenSHMEM 1.4 never moves a segment.
 */
#include "node.h"

#include <shmem.h>
#include <stdlib.h>

enum { PAGES = 1024 };

struct deltas {
    struct deltas *before;
    ptrdiff_t of_pe[];
};
static struct deltas *segments;
static struct shnode_page_ pages[PAGES];
static const struct shnode_page_ none = {UINTPTR_MAX, NULL};
static unsigned char *members;
static bool is_open;

struct shnode_views_ shnode_views_ = {{&none, 0, 0}, {&none, 0, 0}, NULL, 0};

static struct deltas *measure(const void *data)
{
    struct deltas *found = malloc(sizeof *found + (size_t)T.pes * sizeof(ptrdiff_t));
    for (int pe = 0; found != NULL && pe < T.pes; pe++) {
        found->of_pe[pe] = SHNODE_AWAY_;
    }
    for (int i = 0; found != NULL && i < T.size; i++) {
        int pe = T.members[i];
        void *there = pe == T.me ? (void *)data : shmem_ptr(data, pe);
        if (there != NULL) {
            found->of_pe[pe] = (ptrdiff_t)((uintptr_t)there - (uintptr_t)data);
        }
    }
    return found;
}

/* The segment with these distances; keeps or frees what it gets. */
static struct deltas *keep(struct deltas *found)
{
    size_t bytes = (size_t)T.pes * sizeof(ptrdiff_t);
    for (struct deltas *i = segments; i != NULL; i = i->before) {
        if (memcmp(i->of_pe, found->of_pe, bytes) == 0) {
            free(found);
            return i;
        }
    }
    found->before = segments;
    return segments = found;
}

/* shmem_ptr of Open MPI ends the program for other addresses, so ask first. */
static const ptrdiff_t *look_up(const void *data)
{
    struct deltas *found = shmem_addr_accessible(data, T.me) ? measure(data) : NULL;
    return found != NULL ? keep(found)->of_pe : NULL;
}

const ptrdiff_t *shnode_deltas(const void *data)
{
    uintptr_t page = (uintptr_t)data >> SHNODE_PAGE_BITS_;
    struct shnode_page_ *at = &pages[page % PAGES];
    if (at->page == page) {
        return at->deltas;
    }
    const ptrdiff_t *deltas = data != NULL ? look_up(data) : NULL;
    if (deltas != NULL) {
        *at = (struct shnode_page_){page, deltas};
    }
    return deltas;
}

bool shnode_all_reachable(const ptrdiff_t *deltas)
{
    for (int i = 0; i < T.size; i++) {
        if (deltas[T.members[i]] == SHNODE_AWAY_) {
            return false;
        }
    }
    return true;
}

int shnode_open_pages(void)
{
    members = calloc((size_t)T.pes, 1);
    if (members == NULL) {
        return SHNODE_ERR_MEMORY;
    }
    for (int i = 0; i < T.size; i++) {
        members[T.members[i]] = 1;
    }
    for (int i = 0; i < PAGES; i++) {
        pages[i] = none;
    }
    const struct shnode_view_ open = {pages, PAGES - 1, (unsigned)T.pes};
    shnode_views_.rma = shnode_settings.rma ? open : shnode_views_.rma;
    if (shnode_settings.queries) {
        shnode_views_.queries = open;
        shnode_views_.members = members;
        shnode_views_.pes = (unsigned)T.pes;
    }
    is_open = true;
    return SHNODE_SUCCESS;
}

void shnode_close_pages(void)
{
    shnode_views_ = (struct shnode_views_){{&none, 0, 0}, {&none, 0, 0}, NULL, 0};
    is_open = false;
    while (segments != NULL) {
        struct deltas *before = segments->before;
        free(segments);
        segments = before;
    }
    free(members);
    members = NULL;
}

/* Queries that the table does not answer, or must not. */
int shnode_look_up_member_(int rem_pe)
{
    if (!is_open || rem_pe < 0 || rem_pe >= T.pes) {
        return 0;
    }
    return rem_pe == T.me || (T.node_of[rem_pe] == T.node && shmem_ptr(T.mine, rem_pe) != NULL);
}

void *shnode_look_up_address_(int rem_pe, void *data)
{
    if (!is_open || rem_pe < 0 || rem_pe >= T.pes || T.node_of[rem_pe] != T.node) {
        return NULL;
    }
    if (!shnode_settings.queries) {
        return shmem_addr_accessible(data, T.me) ? shmem_ptr(data, rem_pe) : NULL;
    }
    const ptrdiff_t *deltas = shnode_deltas(data);
    return deltas != NULL && deltas[rem_pe] != SHNODE_AWAY_
               ? (void *)((uintptr_t)data + (uintptr_t)deltas[rem_pe])
               : NULL;
}

/* NULL where the transfer is OpenSHMEM's. */
static void *address_for_rma(const void *data, int pe)
{
    bool ours = is_open && shnode_settings.rma && pe >= 0 && pe < T.pes && T.node_of[pe] == T.node;
    const ptrdiff_t *deltas = ours ? shnode_deltas(data) : NULL;
    return deltas != NULL && deltas[pe] != SHNODE_AWAY_
               ? (void *)((uintptr_t)data + (uintptr_t)deltas[pe])
               : NULL;
}

void shnode_put_slowly_(void *dest, const void *source, size_t bytes, int pe)
{
    void *to = address_for_rma(dest, pe);
    if (to != NULL) {
        memmove(to, source, bytes);
    } else {
        shmem_putmem(dest, source, bytes, pe);
    }
}

void shnode_get_slowly_(void *dest, const void *source, size_t bytes, int pe)
{
    const void *from = address_for_rma(source, pe);
    if (from != NULL) {
        memmove(dest, from, bytes);
    } else {
        shmem_getmem(dest, source, bytes, pe);
    }
}

void shnode_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    shmem_fence();
}

void shnode_quiet(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    shmem_quiet();
}
