/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The injected world: root, small files, log; and the one line that says why not.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "number.h"
#include "why.h"

static void test_numbers_are_exact(void **state)
{
    static const struct {
        const char *text;
        pwr_status_t status;
        uint64_t value;
    } cases[] = {
        {"0\n", PWR_OK, 0},
        {"3000000\n", PWR_OK, 3000000},
        {"0x1f", PWR_OK, 0x1f},
        {"010\n", PWR_OK, 10}, /* sysfs knows no octal */
        {"18446744073709551615 \n", PWR_OK, UINT64_MAX},
        {"18446744073709551616\n", PWR_ERR_PARSE, 0},
        {"", PWR_ERR_PARSE, 0},
        {"\n", PWR_ERR_PARSE, 0},
        {"-1\n", PWR_ERR_PARSE, 0},
        {" 1\n", PWR_ERR_PARSE, 0},
        {"12 34\n", PWR_ERR_PARSE, 0},
        {"12k\n", PWR_ERR_PARSE, 0},
        {"0x\n", PWR_ERR_PARSE, 0},
        {"<unsupported>\n", PWR_ERR_PARSE, 0},
        {"1111111111222222222233333333334444444444555555555566666666667777777777\n", PWR_ERR_PARSE,
         0},
    };
    fixture_t *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 42;
        fixture_put(fixture, "/n", cases[i].text);
        assert_int_equal(pwr_env_read_u64(&fixture->env, "/n", &value), cases[i].status);
        assert_int_equal(value, cases[i].status == PWR_OK ? cases[i].value : 42);
    }
}

static void test_text_is_trimmed_or_refused(void **state)
{
    fixture_t *fixture = *state;
    char text[6] = "as is";
    fixture_put(fixture, "/t", "psys \n\n");
    assert_int_equal(pwr_env_read_text(&fixture->env, "/t", text, sizeof text), PWR_OK);
    assert_string_equal(text, "psys");
    fixture_put(fixture, "/t", "12345");
    assert_int_equal(pwr_env_read_text(&fixture->env, "/t", text, sizeof text), PWR_OK);
    assert_string_equal(text, "12345");
    fixture_put(fixture, "/t", "123456");
    assert_int_equal(pwr_env_read_text(&fixture->env, "/t", text, sizeof text), PWR_ERR_RANGE);
    assert_string_equal(text, "12345");
}

static void test_absent_and_unreadable_files(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value;
    char text[8];
    fixture_make_directory(fixture, "/d");
    assert_int_equal(pwr_env_read_u64(&fixture->env, "/none", &value), PWR_ERR_UNSUPPORTED);
    assert_int_equal(pwr_env_read_text(&fixture->env, "/d", text, sizeof text), PWR_ERR_IO);
}

static void test_open_adds_root_and_cloexec(void **state)
{
    fixture_t *fixture = *state;
    int fd = -7;
    fixture_put(fixture, "/sys/x", "1");
    assert_int_equal(pwr_env_open(&fixture->env, "/sys/x", O_RDONLY, &fd), PWR_OK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    fd = -7;
    assert_int_equal(pwr_env_open(&fixture->env, "/sys/y", O_RDONLY, &fd), PWR_ERR_UNSUPPORTED);
    assert_int_equal(fd, -7);
}

static void test_paths_must_be_absolute_and_fit(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    assert_int_equal(pwr_env_path(&fixture->env, "relative", name, sizeof name), PWR_ERR_ARG);
    assert_int_equal(pwr_env_path(&fixture->env, "/x", name, (unsigned)strlen(fixture->root) + 2),
                     PWR_ERR_ARG);
    assert_int_equal(pwr_env_path(&fixture->env, "/x", name, (unsigned)strlen(fixture->root) + 3),
                     PWR_OK);
    assert_int_equal(strncmp(name, fixture->root, strlen(fixture->root)), 0);
    assert_string_equal(name + strlen(fixture->root), "/x");
}

static void test_log_is_formatted_and_cut(void **state)
{
    fixture_t *fixture = *state;
    char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    pwr_env_log(&fixture->env, PWR_LOG_INFO, "cpu %u: %s", 3u, "off");
    assert_string_equal(fixture->log, "cpu 3: off\n");
    pwr_env_log(&fixture->env, PWR_LOG_INFO, "%s", longer);
    assert_true(strlen(fixture->log) < 1000);
}

static void test_real_clock_goes_forward(void **state)
{
    (void)state;
    uint64_t before = pwr_env_now_ns(&pwr_env_real);
    assert_true(before > 0);
    assert_true(pwr_env_now_ns(&pwr_env_real) >= before);
}

static void test_why_joins_and_never_overruns(void **state)
{
    char text[24];
    (void)state;
    pwr_why_t why = pwr_why_init(text, sizeof text);
    assert_string_equal(text, "");
    pwr_why_add(&why, "no %s", "msr");
    pwr_why_add(&why, "no %s", "msr_safe");
    assert_string_equal(text, "no msr, no msr_safe");
    pwr_why_add_file(&why, "/dev/cpu/0/msr", PWR_ERR_PERM, "ask root");
    assert_string_equal(text, "no msr, no msr_safe, /d");
    why = pwr_why_init(NULL, 0);
    pwr_why_add(&why, "nobody asked");
}

static void test_why_names_the_remedy(void **state)
{
    char text[64];
    (void)state;
    pwr_why_t why = pwr_why_init(text, sizeof text);
    pwr_why_add_file(&why, "/f", PWR_ERR_PERM, "ask root");
    pwr_why_add_file(&why, "/g", PWR_ERR_UNSUPPORTED, "ask root");
    assert_string_equal(text, "/f: no permission (ask root), /g: not supported by this machine");
}

static void test_missing_rights_outweigh_missing_hardware(void **state)
{
    (void)state;
    assert_int_equal(pwr_why_worse(PWR_ERR_UNSUPPORTED, PWR_ERR_PERM), PWR_ERR_PERM);
    assert_int_equal(pwr_why_worse(PWR_ERR_PERM, PWR_ERR_UNSUPPORTED), PWR_ERR_PERM);
}

static void test_decimal_numbers(void **state)
{
    static const char *const others[] = {"", "-1", "+1", " 1", "1 ", "0x1", "4294967296", "1a"};
    unsigned value = 77;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(pwr_number_parse_decimal(others[i], strlen(others[i]), &value),
                         PWR_ERR_PARSE);
        assert_int_equal(value, 77);
    }
    assert_int_equal(pwr_number_parse_decimal("42949672959", 10, &value), PWR_OK);
    assert_int_equal(value, UINT_MAX);
}

static void test_lines_are_cut_at_the_first_colon(void **state)
{
    char line[] = "model name\t: Emulated: 2.4 GHz \n", none[] = "vendor_id\n", empty[] = ":";
    char *key, *value;
    (void)state;
    assert_true(pwr_line_split(line, &key, &value));
    assert_string_equal(key, "model name");
    assert_string_equal(value, "Emulated: 2.4 GHz");
    assert_true(pwr_line_split(empty, &key, &value));
    assert_string_equal(key, "");
    assert_string_equal(value, "");
    assert_false(pwr_line_split(none, &key, &value));
}

/* With so many free ones below the limit. */
static bool may_keep(unsigned descriptors, unsigned later, unsigned num_free)
{
    const pwr_env_t env = {.root = "", .later = later};
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 0;
    while (num_free > 0) {
        num_free -= fcntl((int)limit.rlim_cur++, F_GETFD) < 0;
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    bool may = pwr_env_may_keep(&env, descriptors);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return may;
}

static void test_a_quarter_of_the_free_descriptors_may_be_kept(void **state)
{
    (void)state;
    assert_true(may_keep(0, 0, 0));
    assert_true(may_keep(3, 0, 12));
    assert_false(may_keep(3, 0, 11));
    assert_true(may_keep(3, 10, 22));
    assert_false(may_keep(3, 10, 21));
    assert_false(may_keep(1, 300, 100));
}

static void test_too_many_open_files_are_named(void **state)
{
    (void)state;
    assert_int_equal(pwr_status_from_errno(EMFILE), PWR_ERR_DESCRIPTORS);
    assert_non_null(strstr(pwr_status_text(PWR_ERR_DESCRIPTORS), "ulimit -n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_numbers_are_exact),
        FIXTURE_TEST(test_text_is_trimmed_or_refused),
        FIXTURE_TEST(test_absent_and_unreadable_files),
        FIXTURE_TEST(test_open_adds_root_and_cloexec),
        FIXTURE_TEST(test_paths_must_be_absolute_and_fit),
        FIXTURE_TEST(test_log_is_formatted_and_cut),
        cmocka_unit_test(test_a_quarter_of_the_free_descriptors_may_be_kept),
        cmocka_unit_test(test_too_many_open_files_are_named),
        cmocka_unit_test(test_decimal_numbers),
        cmocka_unit_test(test_lines_are_cut_at_the_first_colon),
        cmocka_unit_test(test_real_clock_goes_forward),
        cmocka_unit_test(test_why_joins_and_never_overruns),
        cmocka_unit_test(test_why_names_the_remedy),
        cmocka_unit_test(test_missing_rights_outweigh_missing_hardware),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
