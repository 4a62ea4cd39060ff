/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * shnode_init, shnode_finalize and the team.
 */
#include "node.h"

#include <shmem.h>
#include <stdlib.h>

static bool is_open, has_team;
static unsigned char *exchange;

static struct control *allocate_control(void)
{
    struct control *control = shmem_align(1 << SHNODE_PAGE_BITS_, sizeof *control);
    if (control != NULL) {
        memset(control, 0, sizeof *control);
        shmem_barrier_all();
    }
    return control;
}

static int open_exchange(void)
{
    if (T.nodes == 1) {
        return SHNODE_SUCCESS;
    }
    exchange = shmem_align(1 << SHNODE_PAGE_BITS_, shnode_exchange_bytes());
    if (exchange == NULL) {
        return SHNODE_ERR_MEMORY;
    }
    memset(exchange, 0, shnode_exchange_bytes());
    shnode_place_exchange(exchange);
    shmem_barrier_all();
    return SHNODE_SUCCESS;
}

static void close_all(void)
{
    shnode_close_stock();
    shnode_close_pages();
    shnode_forget_members();
    shmem_free(exchange);
    shmem_free(T.mine);
    exchange = NULL;
    T = (struct team){0};
    is_open = has_team = false;
}

int shnode_init(void)
{
    if (is_open) {
        return SHNODE_ERR_TWICE;
    }
    T = (struct team){.me = shmem_my_pe(), .pes = shmem_n_pes()};
    shnode_read_settings(T.me == 0);
    T.mine = allocate_control();
    int status = T.mine != NULL ? shnode_find_members() : SHNODE_ERR_MEMORY;
    status = status == SHNODE_SUCCESS ? shnode_open_pages() : status;
    status = status == SHNODE_SUCCESS ? open_exchange() : status;
    status = status == SHNODE_SUCCESS ? shnode_open_stock() : status;
    if (status != SHNODE_SUCCESS) {
        close_all();
        return status;
    }
    is_open = true;
    shmem_barrier_all();
    return SHNODE_SUCCESS;
}

int shnode_finalize(void)
{
    if (!is_open) {
        return SHNODE_ERR_INIT;
    }
    shmem_barrier_all();
    close_all();
    return SHNODE_SUCCESS;
}

int shnode_add_data(void *data)
{
    if (!is_open) {
        return SHNODE_ERR_INIT;
    }
    return shnode_deltas(data) != NULL ? SHNODE_SUCCESS : SHNODE_ERR_SYMMETRIC;
}

int shnode_create_team(void *data)
{
    if (has_team) {
        return SHNODE_ERR_TWICE;
    }
    int status = shnode_add_data(data);
    has_team = status == SHNODE_SUCCESS;
    return status;
}

int shnode_am_team_leader(void)
{
    return is_open && T.rank == 0;
}

int shnode_check(const void *target, const void *source, const ptrdiff_t **to,
                 const ptrdiff_t **from)
{
    if (!is_open) {
        return SHNODE_ERR_INIT;
    }
    *to = shnode_deltas(target);
    *from = shnode_deltas(source);
    return *to != NULL && *from != NULL ? SHNODE_SUCCESS : SHNODE_ERR_SYMMETRIC;
}

/* ---- barriers ---- */

/* All members begin; where there are several nodes, the leader joins the next round when all nodes
 * have. */
void shnode_sync(void)
{
    shnode_round(true);
    if (T.nodes == 1) {
        return;
    }
    if (T.rank == 0) {
        shnode_sync_nodes();
    }
    shnode_begin_round(0);
    shnode_publish(true);
    shnode_wait_for(0);
}

/* All PEs begin.  Whether all of them can: they come to the same result. */
bool shnode_agree(bool can)
{
    if (T.nodes == 1) {
        return shnode_round(can);
    }
    unsigned char own = can, all = can;
    memcpy(shnode_begin_round(sizeof own), &own, sizeof own);
    shnode_publish(true);
    shnode_wait_for_all();
    const unsigned char *blocks = shnode_gather_nodes(sizeof own);
    for (int i = 0; i < T.pes; i++) {
        all &= blocks[i];
    }
    return all != 0;
}

int shnode_sync_all(void)
{
    if (!is_open) {
        return SHNODE_ERR_INIT;
    }
    if (shnode_settings.collectives) {
        shnode_sync();
    } else {
        shmem_sync_all();
    }
    return SHNODE_SUCCESS;
}

int shnode_barrier_all(void)
{
    if (!is_open) {
        return SHNODE_ERR_INIT;
    }
    if (shnode_settings.collectives) {
        shnode_quiet();
        shnode_sync();
    } else {
        atomic_thread_fence(memory_order_seq_cst);
        shmem_barrier_all();
    }
    return SHNODE_SUCCESS;
}
