/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The Alltoall schedule and the node tree, without MPI: every pair once, both sides agree, the
 * paper's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/alltoall_schedule.h"
#include "algorithms/node_tree.h"

enum { MAX_NODES = 17, MAX_GROUPS = 4 };

static int served[MAX_NODES][MAX_GROUPS][MAX_NODES][MAX_GROUPS];

static void serve(int node, const coll_poweraware_step_t *step, int num_nodes)
{
    for (int peer = 0; peer < num_nodes; ++peer) {
        if (peer != node &&
            (step->peer_node == peer || COLL_POWERAWARE_ALL_NODES == step->peer_node)) {
            ++served[node][step->active_group][peer][step->peer_group];
        }
    }
}

static void check_every_pair_once(int num_nodes, int num_groups)
{
    memset(served, 0, sizeof served);
    int steps = coll_poweraware_alltoall_num_steps(num_nodes, num_groups);
    for (int node = 0; node < num_nodes; ++node) {
        for (int i = 0; i < steps; ++i) {
            coll_poweraware_step_t step =
                coll_poweraware_alltoall_step(num_nodes, num_groups, node, i);
            if (COLL_POWERAWARE_NOBODY != step.active_group) {
                assert_true(step.active_group >= 0 && step.active_group < num_groups);
                assert_true(step.peer_group >= 0 && step.peer_group < num_groups);
                serve(node, &step, num_nodes);
            }
        }
    }
    for (int i = 0; i < num_nodes; ++i) {
        for (int a = 0; a < num_groups; ++a) {
            for (int j = 0; j < num_nodes; ++j) {
                for (int b = 0; b < num_groups; ++b) {
                    assert_int_equal(served[i][a][j][b], i != j);
                }
            }
        }
    }
}

static void every_pair_of_groups_is_served_once(void **state)
{
    (void)state;
    for (int n = 1; n <= MAX_NODES; ++n) {
        for (int g = 1; g <= MAX_GROUPS; ++g) {
            check_every_pair_once(n, g);
        }
    }
}

/* A step in which group a of i talks to group b of j must be one in which b of j talks to a of i:
   else one of them waits for ever. */
static void both_sides_agree(void **state)
{
    (void)state;
    for (int n = 2; n <= MAX_NODES; ++n) {
        for (int g = 1; g <= MAX_GROUPS; ++g) {
            for (int i = 0; i < coll_poweraware_alltoall_num_steps(n, g); ++i) {
                for (int node = 0; node < n; ++node) {
                    coll_poweraware_step_t mine = coll_poweraware_alltoall_step(n, g, node, i);
                    if (COLL_POWERAWARE_NOBODY == mine.active_group ||
                        COLL_POWERAWARE_ALL_NODES == mine.peer_node) {
                        continue;
                    }
                    coll_poweraware_step_t theirs =
                        coll_poweraware_alltoall_step(n, g, mine.peer_node, i);
                    assert_int_equal(theirs.peer_node, node);
                    assert_int_equal(theirs.active_group, mine.peer_group);
                    assert_int_equal(theirs.peer_group, mine.active_group);
                }
            }
        }
    }
}

/* ICPP 2010 V-A for two sockets: A with A, B with B, then per pair i < j: A_i with B_j first. */
static void two_groups_follow_the_paper(void **state)
{
    (void)state;
    for (int n = 2; n <= MAX_NODES; ++n) {
        for (int node = 0; node < n; ++node) {
            for (int i = 0; i < coll_poweraware_alltoall_num_steps(n, 2); ++i) {
                coll_poweraware_step_t step = coll_poweraware_alltoall_step(n, 2, node, i);
                assert_int_equal(step.phase, i == 0 ? 2 : i == 1 ? 3 : 4);
                if (i < 2) {
                    assert_int_equal(step.active_group, i);
                    assert_int_equal(step.peer_group, i);
                } else if (COLL_POWERAWARE_NOBODY != step.active_group) {
                    int first = i % 2 == 0;
                    int low = node < step.peer_node;
                    assert_int_equal(step.active_group, first == low ? 0 : 1);
                    assert_int_equal(step.peer_group, first == low ? 1 : 0);
                }
            }
        }
    }
}

static void step_counts(void **state)
{
    (void)state;
    assert_int_equal(coll_poweraware_alltoall_num_steps(1, 2), 0);
    assert_int_equal(coll_poweraware_alltoall_num_steps(2, 1), 1);
    assert_int_equal(coll_poweraware_alltoall_num_steps(2, 2), 2 + 1 * 2);
    assert_int_equal(coll_poweraware_alltoall_num_steps(3, 2), 2 + 3 * 2);
    assert_int_equal(coll_poweraware_alltoall_num_steps(8, 2), 2 + 7 * 2);
}

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
        cmocka_unit_test(every_pair_of_groups_is_served_once), cmocka_unit_test(both_sides_agree),
        cmocka_unit_test(two_groups_follow_the_paper),         cmocka_unit_test(step_counts),
        cmocka_unit_test(tree_keeps_order_and_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
