/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is small, and how many leaders of a node exchange with those of other nodes, where
 * SHNODE_LEADERS leaves that to us.
 */
#include "node.h"

struct row {
    size_t up_to; /* bytes of a PE */
    int leaders;
};
/* Measured with bench/shnode on two emulated nodes (1 Gbit/s, 50 us; 2 x 2 and 2 x 4 PEs, which
   share 2 CPUs), 8 bytes to 1 MiB: 1, 2 and 4 leaders differ less than runs of one of them do.  So
   one.  The paper's best on 68 cores per node: a leader per 8 PEs for sums, per 2 for fcollect. */
static const struct row of_reductions[] = {{SIZE_MAX, 1}}, of_collects[] = {{SIZE_MAX, 1}};

/* Whether contributions go through boxes.  All members come to the same result.  Measured with
   bench/shnode on one node with 2 CPUs: 2 PEs are faster by shmem_ptr from 512 bytes on.  Of
   crowded PEs, sums are from 2 KiB (4 PEs) and 1 KiB (8) on, fcollect from 4 KiB on. */
enum { SMALL_WITH_CPUS = 256, SMALL_CROWDED_SUM = 6 * 1024 };

bool shnode_is_small(bool reduction, size_t bytes)
{
    if (T.nodes > 1) {
        return bytes <= BOX;
    }
    if (!T.crowded) {
        return bytes <= SMALL_WITH_CPUS;
    }
    return bytes <= BOX && (!reduction || bytes * (size_t)T.size <= SMALL_CROWDED_SUM);
}

static int look_up(const struct row *row, size_t bytes)
{
    while (bytes > row->up_to) {
        row++;
    }
    return row->leaders;
}

int shnode_leaders_for(bool reduction, size_t bytes)
{
    int wanted = shnode_settings.leaders;
    if (wanted == 0) {
        wanted = look_up(reduction ? of_reductions : of_collects, bytes);
    }
    return wanted < T.most_leaders ? wanted : T.most_leaders;
}
