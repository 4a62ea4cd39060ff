/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The positions of a node, with several ranks played by one process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above it. */
#include <cmocka.h>

#include <unistd.h>

#include "pwr_ompi/positions.h"

enum { RANKS = 4, BCAST = 7, BARRIER = 0, LAST_KIND = PWR_POSITION_KINDS - 1 };

typedef struct node {
    pwr_position_line_t lines[RANKS];
    pwr_positions_t rank[RANKS];
} node_t;

static void make(node_t *node)
{
    memset(node, 0, sizeof *node);
    for (int i = 0; i < RANKS; ++i) {
        pwr_position_enter(&node->rank[i], node->lines, RANKS, i);
    }
}

static void all_go_through(node_t *node, unsigned kind, int calls)
{
    for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < RANKS; ++i) {
            pwr_position_begin(&node->rank[i], kind);
            pwr_position_end(&node->rank[i]);
        }
    }
}

static void test_nobody_has_begun(void **state)
{
    (void)state;
    node_t node;
    make(&node);
    pwr_position_begin(&node.rank[0], BARRIER);
    for (int i = 1; i < RANKS; ++i) {
        assert_int_equal(pwr_position_of(&node.rank[0], i), PWR_POSITION_ABSENT);
        assert_int_equal(pwr_position_pid(&node.rank[0], i), getpid());
    }
    assert_int_equal(pwr_position_of(&node.rank[0], 0), PWR_POSITION_WORKING);
}

static void check_places(node_t *node)
{
    pwr_positions_t *me = &node->rank[0];
    pwr_positions_t *other = &node->rank[1];
    pwr_position_begin(other, LAST_KIND);
    pwr_position_begin(me, LAST_KIND);
    pwr_position_end(me);
    pwr_position_begin(me, BCAST);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_BEHIND);
    assert_int_equal(pwr_position_kind(me, 1), LAST_KIND);
    pwr_position_waits_long(other, true);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_BEHIND);
    pwr_position_waits_long(other, false);
    pwr_position_end(other);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_ABSENT);
    pwr_position_begin(other, BARRIER);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_ELSEWHERE);
    assert_int_equal(pwr_position_kind(me, 1), BARRIER);
    pwr_position_end(other);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_THROUGH);
    pwr_position_begin(other, BARRIER);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_THROUGH);
    pwr_position_end(other);
    pwr_position_end(me);
    pwr_position_begin(me, BCAST);
    pwr_position_begin(me, BCAST);
    pwr_position_begin(other, BCAST);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_WORKING);
    pwr_position_waits_long(other, true);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_WAITING);
    pwr_position_waits_long(other, false);
    assert_int_equal(pwr_position_of(me, 1), PWR_POSITION_WORKING);
    pwr_position_end(other);
    pwr_position_end(me);
}

static void test_places(void **state)
{
    (void)state;
    node_t node;
    make(&node);
    check_places(&node);
    all_go_through(&node, BCAST, 100);
    check_places(&node);
}

static void test_numbers_wrap(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 6; ++before) {
        node_t node;
        make(&node);
        for (int i = 0; i < RANKS; ++i) {
            node.rank[i].at = (0u - before) << PWR_POSITION_KIND_BITS;
            node.lines[i].at = node.rank[i].at;
        }
        check_places(&node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_has_begun),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_numbers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
