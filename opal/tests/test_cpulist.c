/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Sets of CPUs and the lists in which Linux writes them.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "topo/cpulist.h"

static pwr_status_t parse(const char *text, pwr_cpuset_t *set)
{
    return pwr_cpulist_parse(text, strlen(text), set);
}

/* The set as numbers with blanks between them. */
static void expect(const char *text, const char *members)
{
    char found[256] = "";
    pwr_cpuset_t set;
    assert_int_equal(parse(text, &set), PWR_OK);
    for (int cpu = pwr_cpuset_next(&set, -1); cpu >= 0; cpu = pwr_cpuset_next(&set, cpu)) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%d", used > 0 ? " " : "", cpu);
        assert_true(pwr_cpuset_has(&set, (unsigned)cpu));
    }
    assert_string_equal(found, members);
}

static void test_lists(void **state)
{
    (void)state;
    expect("", "");
    expect("\n", ""); /* /sys/devices/system/cpu/offline with nothing offline */
    expect("0\n", "0");
    expect("0-3,8\n", "0 1 2 3 8");
    expect("0 1 2\n", "0 1 2");
    expect("0 1 2 \n", "0 1 2");
    expect("7,1-2,2-3", "1 2 3 7");
    expect("62-65,127-128", "62 63 64 65 127 128");
    expect("8191", "8191");
    expect("5-5", "5");
}

static void test_refused_lists(void **state)
{
    static const struct {
        const char *text;
        pwr_status_t status;
    } cases[] = {
        {",", PWR_ERR_PARSE},
        {"0,", PWR_ERR_PARSE},
        {",0", PWR_ERR_PARSE},
        {" 0", PWR_ERR_PARSE},
        {"0,,1", PWR_ERR_PARSE},
        {"0, 1", PWR_ERR_PARSE},
        {"0 ,1", PWR_ERR_PARSE},
        {"0-", PWR_ERR_PARSE},
        {"-1", PWR_ERR_PARSE},
        {"3-0", PWR_ERR_PARSE},
        {"0-1-2", PWR_ERR_PARSE},
        {"0-6:2/3", PWR_ERR_PARSE},
        {"0x1", PWR_ERR_PARSE},
        {"all", PWR_ERR_PARSE},
        {"0\n1", PWR_ERR_PARSE},
        {"+1", PWR_ERR_PARSE},
        {"8192", PWR_ERR_RANGE},
        {"0-8192", PWR_ERR_RANGE},
        {"0-99999999999999999999999", PWR_ERR_RANGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pwr_cpuset_t set = {{0}};
        pwr_cpuset_add(&set, 99);
        assert_int_equal(parse(cases[i].text, &set), cases[i].status);
        assert_int_equal(pwr_cpuset_next(&set, -1), 99); /* written only on success */
    }
    pwr_cpuset_t set;
    assert_int_equal(pwr_cpulist_parse("0\0001", 3, &set), PWR_ERR_PARSE);
}

/* Only text[size] counts; ASan and valgrind see a byte too many. */
static void test_text_without_nul(void **state)
{
    static const char list[] = "12-14,3 4";
    (void)state;
    for (size_t size = 0; size < sizeof list; size++) {
        pwr_cpuset_t set;
        char *copy = malloc(size > 0 ? size : 1);
        assert_non_null(copy);
        memcpy(copy, list, size);
        pwr_cpulist_parse(copy, size, &set);
        free(copy);
    }
    pwr_cpuset_t set;
    assert_int_equal(pwr_cpulist_parse(list, 2, &set), PWR_OK);
    assert_int_equal(pwr_cpuset_next(&set, -1), 12);
    assert_int_equal(pwr_cpuset_next(&set, 12), -1);
}

static void test_sets(void **state)
{
    pwr_cpuset_t large, small, other;
    (void)state;
    assert_int_equal(parse("0-99", &large), PWR_OK);
    assert_int_equal(parse("64-66", &small), PWR_OK);
    assert_int_equal(parse("66,200", &other), PWR_OK);
    assert_int_equal(pwr_cpuset_first_missing(&large, &small), -1);
    assert_int_equal(pwr_cpuset_first_missing(&large, &other), 200);
    assert_int_equal(pwr_cpuset_first_missing(&small, &large), 0);
    assert_int_equal(pwr_cpuset_first_common(&large, &small), 64);
    assert_int_equal(pwr_cpuset_first_common(&small, &other), 66);
    pwr_cpuset_intersect(&large, &other);
    assert_int_equal(pwr_cpuset_next(&large, -1), 66);
    assert_int_equal(pwr_cpuset_next(&large, 66), -1);
    assert_int_equal(parse("", &other), PWR_OK);
    assert_int_equal(pwr_cpuset_first_common(&small, &other), -1);
    pwr_cpuset_add(&other, PWR_CPUSET_CPUS);
    assert_int_equal(pwr_cpuset_next(&other, -1), -1);
    assert_false(pwr_cpuset_has(&other, PWR_CPUSET_CPUS));
    assert_int_equal(pwr_cpuset_next(&other, PWR_CPUSET_CPUS - 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refused_lists),
        cmocka_unit_test(test_text_without_nul),
        cmocka_unit_test(test_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
