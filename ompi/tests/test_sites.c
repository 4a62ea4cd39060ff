/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which wait of an operation learns from which earlier ones: by what is waited for, whether others
 * before it had to wait or not (pwr_operation_wait).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pwr_ompi/operation.h"

enum { MOST = 16, WAITED_NS = 1000 };

static pwr_class_t class;
static pwr_history_t *told[MOST]; /* by each wait of the operation, in their order */
static int num_told;

/* What is not there yet: waits for WAITED_NS, and notes which site it was. */
bool pwr_operation_wait_on(pwr_operation_t *operation, const pwr_awaited_t *awaited,
                           pwr_history_t *site)
{
    (void)operation;
    (void)awaited;
    told[num_told++] = site;
    if (NULL != site) {
        pwr_history_add(site, WAITED_NS);
    }
    return true;
}

typedef struct point {
    pwr_site_t site;
    unsigned level;
} point_t;

/* One operation that passes these points; bit i of late: what point i waits for is not there. */
static void pass(const point_t *points, int num, unsigned late, bool knows_sites)
{
    pwr_operation_t operation = {.class = &class, .knows_sites = knows_sites};
    num_told = 0;
    for (int i = 0; i < num; ++i) {
        pwr_flag_t flag = {.value = 0};
        const pwr_awaited_t awaited = {.site = points[i].site,
                                       .level = points[i].level,
                                       .flag = &flag,
                                       .target = late >> i & 1};
        assert_true(pwr_operation_wait(&operation, &awaited));
    }
}

static void clear(void)
{
    class = (pwr_class_t){.known = true};
}

/* An Allreduce in chunks, whose ranks are late in turn. */
static const point_t allreduce[] = {
    {PWR_SITE_SLOT_FREE, 0}, {PWR_SITE_SLOT_FILLED, 0}, {PWR_SITE_SLOT_READY, 7},
    {PWR_SITE_SLOT_FREE, 0}, {PWR_SITE_SLOT_FILLED, 0}, {PWR_SITE_SLOT_READY, 7},
};
enum { POINTS = sizeof allreduce / sizeof allreduce[0] };

static void a_wait_is_the_same_whoever_waited_before(void **state)
{
    (void)state;
    pwr_history_t *alone[POINTS];
    clear();
    for (int i = 0; i < POINTS; ++i) {
        pass(allreduce, POINTS, 1u << i, true);
        assert_int_equal(num_told, 1);
        alone[i] = told[0];
        for (int before = 0; before < i; ++before) {
            assert_ptr_not_equal(alone[i], alone[before]); /* each point is known by itself */
        }
    }
    for (unsigned late = 1; late < 1u << POINTS; ++late) {
        pass(allreduce, POINTS, late, true);
        int nth = 0;
        for (int i = 0; i < POINTS; ++i) {
            if (late >> i & 1) {
                assert_ptr_equal(told[nth++], alone[i]);
            }
        }
        assert_int_equal(nth, num_told);
    }
}

/* Throttled or not: else a site that seldom waits would be known by its long waits alone. */
static void what_did_not_wait_is_told(void **state)
{
    (void)state;
    clear();
    for (int i = 0; i < 1000; ++i) {
        pass(allreduce, POINTS, ~0u, true); /* everybody always waits */
    }
    const pwr_history_t *throttled = &class.sites[PWR_SITE_SLOT_READY][0];
    assert_int_equal(throttled->low_ns, class.sites[PWR_SITE_SLOT_FREE][0].low_ns);
    assert_true(throttled->low_ns > 0);
    pass(allreduce, POINTS, 0, true);
    for (int later = 0; later < 2; ++later) {
        assert_int_equal(class.sites[PWR_SITE_SLOT_FREE][later].low_ns, 0);
        assert_int_equal(class.sites[PWR_SITE_SLOT_READY][later].low_ns, 0);
    }
}

static void nothing_is_learnt_where_waits_are_not_shortened(void **state)
{
    (void)state;
    clear();
    pass(allreduce, POINTS, 1, false);
    assert_int_equal(num_told, 1);
    assert_null(told[0]);
    assert_int_equal(class.sites[PWR_SITE_SLOT_FREE][0].high_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_the_same_whoever_waited_before),
        cmocka_unit_test(what_did_not_wait_is_told),
        cmocka_unit_test(nothing_is_learnt_where_waits_are_not_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
