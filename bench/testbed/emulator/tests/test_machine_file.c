/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Machine files: defaults, every kind of error with its place, the machines that are shipped.
 */
#include "config.h"

#include <glob.h>

#include "support.h"

static const char minimal[] = "packages = 2\ncores = 4\npstate_min_khz = 1000000\n"
                              "pstate_max_khz = 2000000\ncore_dyn_w = 10\n";

static void test_defaults(void **state)
{
    (void)state;
    struct emu_config config;
    char error[256];
    assert_true(config_parse(minimal, &config, error));
    assert_int_equal(config.packages, 2);
    assert_int_equal(config.smt, 1);
    assert_int_equal(config.msr_mode, 0600);
    assert_int_equal(config.rapl_update_us, 1000);
    assert_int_equal(config.base_khz, 2000000);
    assert_int_equal(config.core_dyn_khz, 2000000);
    assert_true(config.fixed_activity < 0);
}

static void test_values(void **state)
{
    (void)state;
    struct emu_config config;
    char error[256];
    assert_true(config_parse("# a comment\n"
                             "  packages=1   # another\n\n"
                             "cores = 2\nsmt = 2\ncore_dyn_w = 4.5\n"
                             "pstates_khz = 1600000 2400000 2000000\n"
                             "tstate_step = 6.25\ntstate_scope = package\ntstate_rule = highest\n"
                             "msr_safe_allow = 0x19a:0x1f 0x611:0\n"
                             "activity = fixed:0.25\nmsr_mode = 0660",
                             &config, error));
    assert_int_equal(config.pstate_count, 3);
    assert_int_equal(config.pstates_khz[0], 1600000);
    assert_int_equal(config.pstates_khz[1], 2000000);
    assert_int_equal(config.pstate_max_khz, 2400000);
    assert_int_equal(config.tstate_step, EMU_STEP_6_25);
    assert_int_equal(config.tstate_scope, EMU_SCOPE_PACKAGE);
    assert_int_equal(config.tstate_rule, EMU_RULE_HIGHEST);
    assert_int_equal(config.msr_safe_count, 2);
    assert_int_equal(config.msr_safe_allow[0].write_mask, 0x1f);
    assert_int_equal(config.msr_mode, 0660);
    assert_true(config.fixed_activity == 0.25);
}

/* Each added line of a good file makes it bad, and the message names file, line, key and cause. */
static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"coers = 4", "test.machine:6: coers: no such key (README.md lists them)"},
        {"smt", "test.machine:6: 'smt' is not 'key = value'"},
        {"cores = 8", "test.machine:6: cores: already given in line 2"},
        {"smt = two", "test.machine:6: smt: 'two' is not a whole number"},
        {"smt = 1.5", "test.machine:6: smt: '1.5' is not a whole number"},
        {"smt = 9", "test.machine:6: smt: 9 is not from 1 to 8"},
        {"core_idle_w = -1", "test.machine:6: core_idle_w: -1 is not from 0 to 1000"},
        {"core_idle_w = nan", "test.machine:6: core_idle_w: 'nan' is not a number"},
        {"tstate_rule = mean", "test.machine:6: tstate_rule: 'mean' is not one of: highest lowest"},
        {"msr_mode = 0888",
         "test.machine:6: msr_mode: '0888' is not an octal mode from 0000 to 0777"},
        {"pstates_khz = 1000000 x",
         "test.machine:6: pstates_khz: 'x' does not start with a frequency in kHz"},
        {"msr_safe_allow = 0x19a",
         "test.machine:6: msr_safe_allow: '0x19a' does not start with REGISTER:WRITE_MASK"},
        {"activity = fixed:2", "test.machine:6: activity: 'fixed:2' is neither 'measured' nor "
                               "'fixed:X' with X from 0 to 1"},
        {"smt = 0x", "test.machine:6: smt: '0x' is not a whole number"},
        {"hwp = yes", "test.machine:6: hwp: hardware P-states are Intel's, driven by intel_pstate, "
                      "intel_cpufreq or nobody"},
        {"cpu_vendor = AuthenticAMD", "test.machine:0: cpu_family: AMD processors before family 23 "
                                      "have other registers, and no RAPL"},
        {"cpufreq_driver = amd-pstate",
         "test.machine:6: cpufreq_driver: does not drive processors of this cpu_vendor"},
        {"cpu_family = 25\ncpu_vendor = AuthenticAMD\ntstate_step = 6.25",
         "test.machine:8: tstate_step: AMD processors have no T-states"},
        {"cpufreq_driver = intel_pstate\ngovernor = schedutil",
         "test.machine:7: governor: this cpufreq_driver has only performance and powersave"},
        {"cpufreq_driver = intel_pstate\npolicy_scope = core",
         "test.machine:7: policy_scope: only acpi-cpufreq lets CPUs share a policy"},
        {"uncore = msr\nuncore_min_khz = 1200000",
         "test.machine:6: uncore: give uncore_min_khz (100000 or more) and an uncore_max_khz not "
         "below it"},
        {"uncore_w = 8", "test.machine:0: uncore: uncore_w is for uncore = msr or sysfs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512], error[256] = "";
        struct emu_config config;
        snprintf(text, sizeof text, "%s%s\n", minimal, cases[i].line);
        assert_false(config_parse(text, &config, error));
        assert_string_equal(error, cases[i].message);
    }
}

static void test_missing(void **state)
{
    (void)state;
    struct emu_config config;
    char error[256];
    assert_false(config_parse("packages = 1\n", &config, error));
    assert_string_equal(error, "test.machine:1: cores: missing, there is no default");
    assert_false(config_parse("packages = 16\ncores = 32\ncore_dyn_w = 1\n", &config, error));
    assert_string_equal(error,
                        "test.machine:2: cores: packages x cores x smt is more than 256 CPUs");
}

static void test_shipped(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob(MACHINES "/*.machine", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[512], error[512] = "";
        struct emu_config config;
        if (!emu_config_read(found.gl_pathv[i], &config, error, sizeof error)) {
            fail_msg("%s", error);
        }
        snprintf(name, sizeof name, MACHINES "/%s.machine", config.name);
        assert_string_equal(name, found.gl_pathv[i]);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_missing),
        cmocka_unit_test(test_shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
