/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How many leaders of a node exchange with those of other nodes, where SHNODE_LEADERS leaves that to us.
 */
#include "node.h"

struct row {
    size_t up_to; /* bytes of a PE */
    int leaders;
};
/* Not measured yet. */
static const struct row of_reductions[] = {{SIZE_MAX, 1}}, of_collects[] = {{SIZE_MAX, 1}};

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
