/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The processor's identity out of /proc/cpuinfo, and what is documented about its T-states.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "pwr/cpu_model.h"

/* In the form of Linux' arch/x86/kernel/cpu/proc.c. */
static const char skylake[] = "processor\t: 0\n"
                              "vendor_id\t: GenuineIntel\n"
                              "cpu family\t: 6\n"
                              "model\t\t: 85\n"
                              "model name\t: Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz\n"
                              "stepping\t: 4\n"
                              "flags\t\t: fpu acpi\n"
                              "\n"
                              "processor\t: 1\n"
                              "vendor_id\t: Other\n"
                              "cpu family\t: 1\n"
                              "model\t\t: 2\n";

static pwr_status_t parse_part(const char *text, size_t size, pwr_cpu_model_t *model)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, size, "r");
    assert_non_null(stream);
    pwr_status_t status = pwr_cpu_model_parse(stream, model);
    fclose(stream);
    return status;
}

static pwr_status_t parse(const char *text, pwr_cpu_model_t *model)
{
    return parse_part(text, strlen(text), model);
}

static void test_first_cpu(void **state)
{
    pwr_cpu_model_t model;
    (void)state;
    assert_int_equal(parse(skylake, &model), PWR_OK);
    assert_string_equal(model.vendor, "GenuineIntel");
    assert_int_equal(model.family, 6);
    assert_int_equal(model.model, 85);
    assert_int_equal(model.stepping, 4);
    assert_string_equal(model.name, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz");
}

static void test_what_hypervisors_hide(void **state)
{
    pwr_cpu_model_t model;
    (void)state;
    assert_int_equal(parse("vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\n"
                           "model name : unknown\nstepping : unknown\n",
                           &model),
                     PWR_OK);
    assert_int_equal(model.family, 25);
    assert_int_equal(model.stepping, 0);
    assert_string_equal(model.name, "unknown");
    assert_int_equal(parse("vendor_id:A\ncpu family:1\nmodel:2", &model), PWR_OK);
    assert_int_equal(model.model, 2);
    assert_string_equal(model.name, "");
}

static void test_long_name_is_cut(void **state)
{
    char text[512];
    pwr_cpu_model_t model;
    (void)state;
    snprintf(text, sizeof text, "vendor_id: A\ncpu family: 1\nmodel: 2\nmodel name: %0200d\n", 7);
    assert_int_equal(parse(text, &model), PWR_OK);
    assert_int_equal(strlen(model.name), sizeof model.name - 1);
}

static void test_refused_text(void **state)
{
    static const struct {
        const char *text;
        pwr_status_t status;
    } cases[] = {
        {"", PWR_ERR_UNSUPPORTED},
        {"\n", PWR_ERR_UNSUPPORTED},
        {"processor\t: 0\nBogoMIPS\t: 50.00\n", PWR_ERR_UNSUPPORTED}, /* Arm */
        {"vendor_id\ncpu family: 6\nmodel: 1\n", PWR_ERR_UNSUPPORTED},
        {"vendor_id:\ncpu family: 6\nmodel: 1\n", PWR_ERR_PARSE},
        {"vendor_id: SixteenLettersXX\ncpu family: 6\nmodel: 1\n", PWR_ERR_PARSE},
        {"vendor_id: Genuine\001ntel\ncpu family: 6\nmodel: 1\n", PWR_ERR_PARSE},
        {"vendor_id: A\ncpu family: 6\n", PWR_ERR_PARSE},
        {"vendor_id: A\nmodel: 6\n", PWR_ERR_PARSE},
        {"vendor_id: A\ncpu family: -6\nmodel: 1\n", PWR_ERR_PARSE},
        {"vendor_id: A\ncpu family: 6\nmodel: 0x55\n", PWR_ERR_PARSE},
        {"vendor_id: A\ncpu family: 6\nmodel: 4294967296\n", PWR_ERR_PARSE},
        {"vendor_id: A\ncpu family: 6\n\nmodel: 1\n", PWR_ERR_PARSE}, /* another CPU's */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pwr_cpu_model_t model = {.model = 77};
        assert_int_equal(parse(cases[i].text, &model), cases[i].status);
        assert_int_equal(model.model, 77);
    }
}

/* Every beginning of the text either parses or is refused; valgrind and ASan watch the bounds. */
static void test_every_cut(void **state)
{
    pwr_cpu_model_t model;
    (void)state;
    for (size_t size = 0; size < sizeof skylake; size++) {
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, skylake, size);
        pwr_status_t status = parse_part(copy, size, &model);
        assert_true(status == PWR_OK || status == PWR_ERR_PARSE || status == PWR_ERR_UNSUPPORTED);
        free(copy);
    }
}

static void test_reading(void **state)
{
    fixture_t *fixture = *state;
    pwr_cpu_model_t model;
    assert_int_equal(pwr_cpu_model_read(&fixture->env, &model), PWR_ERR_UNSUPPORTED);
    fixture_make_directory(fixture, "/proc/cpuinfo");
    assert_int_equal(pwr_cpu_model_read(&fixture->env, &model), PWR_ERR_IO);
    fixture_remove(fixture, "/proc/cpuinfo");
    fixture_put(fixture, "/proc/cpuinfo", skylake);
    assert_int_equal(pwr_cpu_model_read(&fixture->env, &model), PWR_OK);
    assert_int_equal(model.model, 85);
}

/* Only the first CPUs of a large machine are read. */
static void test_reading_a_long_file(void **state)
{
    fixture_t *fixture = *state;
    static char text[40 * sizeof skylake];
    pwr_cpu_model_t model;
    for (int i = 0; i < 40; i++) {
        strcat(text, skylake);
    }
    fixture_put(fixture, "/proc/cpuinfo", text);
    assert_int_equal(pwr_cpu_model_read(&fixture->env, &model), PWR_OK);
    assert_int_equal(model.model, 85);
}

static void expect_winner(const char *vendor, unsigned family, unsigned model,
                          pwr_tstate_winner_t winner)
{
    pwr_cpu_model_t cpu = {.family = family, .model = model};
    snprintf(cpu.vendor, sizeof cpu.vendor, "%s", vendor);
    assert_int_equal(pwr_tstate_winner(&cpu), winner);
}

/* The list as the SDM prints it. */
static void test_highest_duty_wins(void **state)
{
    static const unsigned models[] = {0x1a, 0x1c, 0x1e, 0x1f, 0x25, 0x26,
                                      0x27, 0x2c, 0x2e, 0x2f, 0x35, 0x36};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        expect_winner("GenuineIntel", 6, models[i], PWR_TSTATE_WINNER_HIGHEST);
    }
    expect_winner("GenuineIntel", 15, 0, PWR_TSTATE_WINNER_HIGHEST);
    expect_winner("GenuineIntel", 15, 6, PWR_TSTATE_WINNER_HIGHEST);
}

static void test_lowest_duty_wins(void **state)
{
    static const unsigned models[] = {0x0f, 0x17, 0x1d, 0x37, 0x3c, 0x3f,
                                      0x4f, 0x55, 0x57, 0x6a, 0x8f, 0xad};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        expect_winner("GenuineIntel", 6, models[i], PWR_TSTATE_WINNER_LOWEST);
    }
    expect_winner("GenuineIntel", 6, 0x2a, PWR_TSTATE_WINNER_LOWEST);
    expect_winner("GenuineIntel", 6, 0x2d, PWR_TSTATE_WINNER_LOWEST);
}

static void test_undocumented_is_unknown(void **state)
{
    (void)state;
    expect_winner("GenuineIntel", 6, 0x0d, PWR_TSTATE_WINNER_UNKNOWN);
    expect_winner("GenuineIntel", 5, 4, PWR_TSTATE_WINNER_UNKNOWN);
    expect_winner("AuthenticAMD", 15, 6, PWR_TSTATE_WINNER_UNKNOWN);
    expect_winner("AuthenticAMD", 25, 17, PWR_TSTATE_WINNER_UNKNOWN);
    expect_winner("", 6, 0x55, PWR_TSTATE_WINNER_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_cpu),        cmocka_unit_test(test_what_hypervisors_hide),
        cmocka_unit_test(test_long_name_is_cut), cmocka_unit_test(test_refused_text),
        cmocka_unit_test(test_every_cut),        FIXTURE_TEST(test_reading),
        FIXTURE_TEST(test_reading_a_long_file),  cmocka_unit_test(test_highest_duty_wins),
        cmocka_unit_test(test_lowest_duty_wins), cmocka_unit_test(test_undocumented_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
