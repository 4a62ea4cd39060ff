/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Nodes and groups of layouts small enough to work out by hand, and random ones against the rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pwr_ompi/hierarchy.h"

static void two_nodes_two_packages(void **state)
{
    (void)state;
    const int leader[] = {0, 0, 0, 0, 4, 4, 4, 4};
    const int package[] = {0, 0, 1, 1, 0, 0, 1, 1};
    pwr_hierarchy_t *h = pwr_hierarchy_build(8, 6, leader, package);
    assert_non_null(h);
    assert_int_equal(h->num_nodes, 2);
    assert_int_equal(h->num_groups, 2);
    assert_int_equal(h->max_local, 4);
    assert_true(h->ordered);
    assert_int_equal(h->my_node, 1);
    assert_int_equal(h->my_group, 1);
    assert_int_equal(h->my_local, 2);
    const int *ranks;
    assert_int_equal(pwr_hierarchy_group(h, 1, 0, &ranks), 2);
    assert_int_equal(ranks[0], 4);
    assert_int_equal(ranks[1], 5);
    pwr_hierarchy_free(h);
}

static void interleaved_nodes_are_not_ordered(void **state)
{
    (void)state;
    const int leader[] = {0, 1, 0, 1, 0};
    const int package[] = {1, 0, 0, 0, 1};
    pwr_hierarchy_t *h = pwr_hierarchy_build(5, 4, leader, package);
    assert_non_null(h);
    assert_false(h->ordered);
    assert_int_equal(h->num_nodes, 2);
    assert_int_equal(h->max_local, 3);
    assert_int_equal(h->num_local, 3);
    assert_int_equal(h->local_ranks[0], 0);
    assert_int_equal(h->local_ranks[1], 2);
    assert_int_equal(h->local_ranks[2], 4);
    assert_int_equal(h->my_local, 2);
    assert_int_equal(h->local_of[4], 2);
    assert_int_equal(h->local_of[3], 1);
    assert_int_equal(h->node_start[1], 3);
    assert_int_equal(h->node_start[2], 5);
    assert_int_equal(h->by_node[3], 1);
    assert_int_equal(h->by_node[4], 3);
    const int *ranks;
    assert_int_equal(pwr_hierarchy_group(h, 0, 0, &ranks), 1); /* package 0: rank 2 */
    assert_int_equal(ranks[0], 2);
    assert_int_equal(pwr_hierarchy_group(h, 0, 1, &ranks), 2); /* package 1: ranks 0, 4 */
    assert_int_equal(pwr_hierarchy_group(h, 1, 1, &ranks), 0); /* node 1 has one package */
    pwr_hierarchy_free(h);
}

static void unbound_ranks_join_the_lowest_package(void **state)
{
    (void)state;
    const int leader[] = {0, 0, 0, 0};
    const int package[] = {-1, 5, 3, -1};
    pwr_hierarchy_t *h = pwr_hierarchy_build(4, 0, leader, package);
    assert_non_null(h);
    assert_int_equal(h->num_groups, 2);
    assert_int_equal(h->group_of[0], 0);
    assert_int_equal(h->group_of[2], 0);
    assert_int_equal(h->group_of[3], 0);
    assert_int_equal(h->group_of[1], 1);
    pwr_hierarchy_free(h);
}

static void inconsistent_leaders_are_refused(void **state)
{
    (void)state;
    const int package[] = {0, 0, 0};
    const int not_a_leader[] = {0, 0, 1};
    const int later_rank[] = {0, 2, 2};
    const int negative[] = {0, -1, 0};
    assert_null(pwr_hierarchy_build(3, 0, not_a_leader, package));
    assert_null(pwr_hierarchy_build(3, 0, later_rank, package));
    assert_null(pwr_hierarchy_build(3, 0, negative, package));
}

static int distinct_below(const int *leader, const int *package, int rank, int size)
{
    int count = 0;
    for (int p = 0; p < package[rank]; ++p) {
        int present = 0;
        for (int r = 0; r < size; ++r) {
            present = present || (leader[r] == leader[rank] && package[r] == p);
        }
        count += present;
    }
    return count;
}

static void random_layouts_follow_the_rule(void **state)
{
    (void)state;
    enum { SIZE = 40 };
    for (unsigned seed = 1; seed <= 200; ++seed) {
        srand(seed);
        int first[SIZE];
        int leader[SIZE];
        int package[SIZE];
        for (int n = 0; n < SIZE; ++n) {
            first[n] = -1;
        }
        for (int r = 0; r < SIZE; ++r) {
            int node = rand() % 7;
            first[node] = first[node] < 0 ? r : first[node];
            leader[r] = first[node];
            package[r] = rand() % 3;
        }
        pwr_hierarchy_t *h = pwr_hierarchy_build(SIZE, rand() % SIZE, leader, package);
        assert_non_null(h);
        int seen = 0;
        for (int node = 0; node < h->num_nodes; ++node) {
            for (int group = 0; group < h->num_groups; ++group) {
                const int *ranks;
                int num = pwr_hierarchy_group(h, node, group, &ranks);
                for (int i = 0; i < num; ++i, ++seen) {
                    assert_int_equal(h->leader_of[node], leader[ranks[i]]);
                    assert_int_equal(distinct_below(leader, package, ranks[i], SIZE), group);
                    assert_true(i == 0 || ranks[i] > ranks[i - 1]);
                }
            }
        }
        assert_int_equal(seen, SIZE);
        for (int i = 0; i < SIZE; ++i) {
            int rank = h->by_node[i];
            int node = h->node_of[rank];
            assert_int_equal(h->leader_of[node], leader[rank]);
            assert_int_equal(h->node_start[node] + h->local_of[rank], i);
            assert_true(0 == h->local_of[rank] || rank > h->by_node[i - 1]);
        }
        pwr_hierarchy_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_nodes_two_packages),
        cmocka_unit_test(interleaved_nodes_are_not_ordered),
        cmocka_unit_test(unbound_ranks_join_the_lowest_package),
        cmocka_unit_test(inconsistent_leaders_are_refused),
        cmocka_unit_test(random_layouts_follow_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
