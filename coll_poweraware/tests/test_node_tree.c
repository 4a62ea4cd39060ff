/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The binomial tree over nodes: it keeps their order and reaches all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "algorithms/leader/node_tree.h"

/* Taking children in order k extends a node's range without a gap, and covers all nodes once. */
static int range_end(int vnode, int num_nodes)
{
    int end = vnode + 1;
    int child;
    for (int k = 0; (child = coll_poweraware_tree_child(vnode, num_nodes, k)) >= 0; ++k) {
        assert_int_equal(child, end);
        assert_int_equal(coll_poweraware_tree_parent(child), vnode);
        end = range_end(child, num_nodes);
    }
    return end;
}

static void tree_keeps_order_and_reaches_all(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; ++n) {
        assert_int_equal(range_end(0, n), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_keeps_order_and_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
