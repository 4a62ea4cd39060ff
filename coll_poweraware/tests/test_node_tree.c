/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Trees over nodes: they keep their order and reach all.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "algorithms/leader/node_tree.h"

/* Taking children in order k extends a node's range without a gap, and covers all nodes once. */
static int range_end(int vnode, int num_nodes, int fan)
{
    int end = vnode + 1;
    int child;
    for (int k = 0; (child = coll_poweraware_node_child(vnode, num_nodes, k, fan)) >= 0; ++k) {
        assert_int_equal(child, end);
        assert_int_equal(coll_poweraware_node_parent(child, fan), vnode);
        end = range_end(child, num_nodes, fan);
    }
    if (COLL_POWERAWARE_CHAIN != fan) {
        assert_int_equal(coll_poweraware_node_end(vnode, num_nodes, fan), end);
    }
    return end;
}

static void tree_keeps_order_and_reaches_all(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; ++n) {
        for (int fan = COLL_POWERAWARE_CHAIN; fan <= COLL_POWERAWARE_WIDE + 1; ++fan) {
            assert_int_equal(range_end(0, n, fan), n);
        }
    }
}

static void binomial_tree(void **state)
{
    (void)state;
    for (int v = 1; v < 1000; ++v) {
        assert_int_equal(coll_poweraware_node_parent(v, COLL_POWERAWARE_BINOMIAL), v & (v - 1));
    }
}

/* What an algorithm may have outstanding is bounded (coll_poweraware_max_requests). */
static void no_node_has_more_children(void **state)
{
    (void)state;
    const int most = COLL_POWERAWARE_WIDE_NODES;
    assert_int_equal(coll_poweraware_num_children(0, most, coll_poweraware_fan(0, most)), 35);
    assert_int_equal(coll_poweraware_num_children(0, INT_MAX, coll_poweraware_fan(0, INT_MAX)), 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_keeps_order_and_reaches_all),
        cmocka_unit_test(binomial_tree),
        cmocka_unit_test(no_node_has_more_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
