/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls: the bits of each kind, and the accesses to them.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/control.h"

typedef struct lowering {
    pwr_control_kind_t kind;
    uint64_t found, want, expected;
} lowering_t;

static void test_lowered_never_speeds_up_and_keeps_other_bits(void **state)
{
    static const lowering_t cases[] = {
        {PWR_CONTROL_CEILING, 3000000, 1200000, 1200000},
        {PWR_CONTROL_CEILING, 1000000, 1200000, 1000000},
        {PWR_CONTROL_FLOOR, 1500000, 1200000, 1200000},
        {PWR_CONTROL_SPEED, 2400000, 2400000, 2400000},
        {PWR_CONTROL_PERF_CTL, 0x100001800, 10, 0x100000a00}, /* bit 32: turbo disengaged */
        {PWR_CONTROL_PERF_CTL, 0x0900, 10, 0x0900},
        /* activity window, preference and desired stay; the minimum goes with the maximum */
        {PWR_CONTROL_HWP_REQUEST, 0x3ff80001e0c, 10, 0x3ff80000a0a},
        {PWR_CONTROL_HWP_REQUEST, 0x80001e08, 10, 0x80000a08},
        {PWR_CONTROL_HWP_REQUEST, 0x80000808, 10, 0x80000808},
        {PWR_CONTROL_CLOCK_MODULATION, 0, 2, 0x12},
        {PWR_CONTROL_CLOCK_MODULATION, 0xff00, 15, 0xff1f},
        {PWR_CONTROL_CLOCK_MODULATION, 0x12, 8, 0x12}, /* deeper already */
        {PWR_CONTROL_CLOCK_MODULATION, 0x18, 2, 0x12},
        {PWR_CONTROL_CLOCK_MODULATION, 0x10, 8, 0x18}, /* duty 0 is reserved: full speed */
        {PWR_CONTROL_CLOCK_MODULATION, 0x05, 16, 0x05},
        {PWR_CONTROL_UNCORE_RATIO, 0x80800c18, 12, 0x80800c0c},
        {PWR_CONTROL_UNCORE_RATIO, 0x1418, 12, 0x0c0c}, /* the minimum goes with the maximum */
        {PWR_CONTROL_UNCORE_RATIO, 0x0c0c, 16, 0x0c0c},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pwr_control_lowered(cases[i].kind, cases[i].found, cases[i].want),
                         cases[i].expected);
    }
}

static void test_what_lowering_writes_stays_within_the_mask(void **state)
{
    (void)state;
    for (int kind = 0; kind < PWR_CONTROL_KINDS; kind++) {
        const pwr_control_kind_t the_kind = (pwr_control_kind_t)kind;
        const uint64_t found = 0xfedcba9876543210u;
        for (uint64_t want = 1; want < 300; want++) {
            uint64_t value = pwr_control_lowered(the_kind, found, want);
            assert_int_equal((value ^ found) & ~pwr_control_mask(the_kind), 0);
            assert_true(pwr_control_speed(the_kind, value) <= pwr_control_speed(the_kind, found));
        }
    }
}

static void test_names_find_what_they_name(void **state)
{
    (void)state;
    for (int kind = 0; kind < PWR_CONTROL_KINDS; kind++) {
        const char *name = pwr_control_kind_name((pwr_control_kind_t)kind);
        assert_int_equal(pwr_control_kind_find(name), kind);
    }
    assert_null(pwr_control_kind_name(PWR_CONTROL_KINDS));
    assert_int_equal(pwr_control_kind_find("Ceiling"), PWR_CONTROL_KINDS);
    for (size_t i = 0; i < pwr_num_accesses; i++) {
        assert_ptr_equal(pwr_access_find(pwr_accesses[i]->name), pwr_accesses[i]);
    }
    assert_null(pwr_access_find("window"));
}

/* An access either opens a control or says why not, and knows none of another. */
static void test_accesses_on_a_machine_without_any(void **state)
{
    fixture_t *fixture = *state;
    for (size_t i = 0; i < pwr_num_accesses; i++) {
        for (int kind = 0; kind < PWR_CONTROL_KINDS; kind++) {
            char text[512];
            const pwr_why_t why = pwr_why_init(text, sizeof text);
            pwr_control_t control;
            assert_int_not_equal(pwr_control_open(pwr_accesses[i], &fixture->env,
                                                  (pwr_control_kind_t)kind, 0, &why, &control),
                                 PWR_OK);
        }
    }
}

static void test_register_of_a_cpu(void **state)
{
    fixture_t *fixture = *state;
    char text[256];
    const pwr_why_t why = pwr_why_init(text, sizeof text);
    pwr_control_t control;
    uint64_t value;
    fixture_put_msr(fixture, 3, "msr_safe", 0x19a, 0x18);
    assert_int_equal(pwr_control_open(&pwr_access_msr_safe, &fixture->env,
                                      PWR_CONTROL_CLOCK_MODULATION, 3, &why, &control),
                     PWR_OK);
    assert_int_equal(control.access->read(&control, &value), PWR_OK);
    assert_int_equal(value, 0x18);
    assert_int_equal(control.access->write(&control, 0x12), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 3, "msr_safe", 0x19a), 0x12);
    assert_string_equal(pwr_control_place(&control), "MSR 0x19a");
    assert_non_null(strstr(pwr_control_remedy(&control), "0x0000019A"));
    control.access->close(&control);
    assert_int_equal(control.msr.fd, -1);
}

static void test_cpufreq_files_that_are_no_number(void **state)
{
    static const char *const texts[] = {"",
                                        "-1\n",
                                        "12 34\n",
                                        "1e6\n",
                                        "<unsupported>\n",
                                        "0\n",
                                        "99999999999\n",
                                        "1234567890123456789012345\n"};
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pwr_control_t control;
        uint64_t value = 7;
        fixture_put_cpufreq_file(fixture, 0, "scaling_max_freq", texts[i]);
        fixture_open_ceiling(fixture, 0, &control);
        assert_int_equal(control.access->read(&control, &value), PWR_ERR_PARSE);
        assert_int_equal(value, 7);
        control.access->close(&control);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowered_never_speeds_up_and_keeps_other_bits),
        cmocka_unit_test(test_what_lowering_writes_stays_within_the_mask),
        cmocka_unit_test(test_names_find_what_they_name),
        FIXTURE_TEST(test_accesses_on_a_machine_without_any),
        FIXTURE_TEST(test_register_of_a_cpu),
        FIXTURE_TEST(test_cpufreq_files_that_are_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
