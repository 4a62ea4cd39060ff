/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What SHNODE_COLLECTIVES=off needs: pSync and pWrk for OpenSHMEM's own collectives, two of each,
 * in turns, as the specification advises for calls that follow each other.
 */
#include "node.h"

#include <shmem.h>

enum {
    LARGER_SYNC = (int)SHMEM_REDUCE_SYNC_SIZE > (int)SHMEM_COLLECT_SYNC_SIZE
                      ? (int)SHMEM_REDUCE_SYNC_SIZE
                      : (int)SHMEM_COLLECT_SYNC_SIZE,
    SYNC = LARGER_SYNC + (int)SHMEM_ALLTOALL_SYNC_SIZE + (int)SHMEM_BCAST_SYNC_SIZE
};
static long *sync_[2];
static unsigned char *work;
static unsigned turn;

int shnode_open_stock(void)
{
    if (shnode_settings.collectives) {
        return SHNODE_SUCCESS;
    }
    sync_[0] = shmem_malloc(2 * SYNC * sizeof(long));
    work = shmem_malloc(2 * (size_t)STOCK_WORK);
    if (sync_[0] == NULL || work == NULL) {
        return SHNODE_ERR_MEMORY;
    }
    sync_[1] = sync_[0] + SYNC;
    for (int i = 0; i < 2 * SYNC; i++) {
        sync_[0][i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
    return SHNODE_SUCCESS;
}

void shnode_close_stock(void)
{
    shmem_free(work);
    shmem_free(sync_[0]);
    work = NULL;
    sync_[0] = sync_[1] = NULL;
}

/* Of the next call. */
long *shnode_stock_sync(void)
{
    turn ^= 1;
    return sync_[turn];
}

void *shnode_stock_work(void)
{
    return work + (size_t)turn * STOCK_WORK;
}
