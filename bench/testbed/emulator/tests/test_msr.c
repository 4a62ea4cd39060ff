/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Registers: which a machine has, what they read and take; msr_safe; AMD's.
 */
#include "config.h"

#include <errno.h>

#include "msr.h"
#include "states.h"
#include "support.h"

static void test_msr(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("", 0);
    struct emu_access access = {.machine = machine, .index = 5, .now_ns = 2 * (uint64_t)SECOND};
    uint64_t value;
    assert_int_equal(emu_msr_read(&access, 0xce, &value), 0);
    assert_int_equal(value, UINT64_C(10) << 40 | 20 << 8);
    assert_int_equal(emu_msr_read(&access, 0x10, &value), 0);
    assert_int_equal(value, 4 * (uint64_t)SECOND);
    assert_int_equal(emu_msr_read(&access, 0xdead, &value), EIO);
    assert_int_equal(emu_msr_read(&access, 0x774, &value), EIO); /* no HWP here */
    assert_int_equal(emu_msr_write(&access, 0x611, 1), EIO);     /* read-only */
    assert_int_equal(emu_msr_write(&access, 0x610, 1), EIO);     /* locked */
    assert_int_equal(emu_msr_write(&access, 0x19a, 0x18), 0);
    assert_int_equal(emu_msr_read(&access, 0x19a, &value), 0);
    assert_int_equal(value, 0x18);
    free(machine);
}

static void test_msr_safe(void **state)
{
    (void)state;
    struct emu_machine *machine =
        machine_new("tstate_step = 6.25\nmsr_safe_allow = 0x19a:0x0f 0x611:0\n", 0);
    struct emu_access access = {.machine = machine, .index = 0, .now_ns = 1};
    uint64_t value = 0x1f;
    assert_int_equal(emu_msr_write(&access, 0x19a, 0x10), 0);
    value = 0x0c;
    assert_int_equal(emu_msr_safe_write(&access, 0x19a, &value), 0);
    assert_int_equal(value, 0x1c); /* bit 4 is outside the mask and stays */
    assert_int_equal(emu_msr_safe_read(&access, 0x611, &value), 0);
    assert_int_equal(emu_msr_safe_write(&access, 0x611, &value), EACCES);
    assert_int_equal(emu_msr_safe_read(&access, 0x199, &value), EACCES);
    free(machine);
}

static void expect(const struct emu_access *access, uint32_t reg, uint64_t expected)
{
    uint64_t value = 0;
    assert_int_equal(emu_msr_read(access, reg, &value), 0);
    assert_int_equal(value, expected);
}

static const char amd[] = "cpu_vendor = AuthenticAMD\ncpu_family = 25\ncpu_model = 1\n"
                          "pstates_khz = 2450000 2000000 1500000\n"
                          "rapl_energy_unit = 16\n";

static struct emu_machine *amd_new(const char *more)
{
    char text[512], error[256];
    struct emu_config config;
    struct emu_machine *machine = malloc(sizeof *machine);
    assert_non_null(machine);
    snprintf(text, sizeof text, "packages = 2\ncores = 4\ncore_dyn_w = 10\n%s%s", amd, more);
    if (!config_parse(text, &config, error)) {
        fail_msg("%s", error);
    }
    emu_machine_init(machine, &config, 0);
    return machine;
}

/* What the other vendor has is not there. */
static void test_vendors(void **state)
{
    (void)state;
    static const uint32_t intel[] = {0xce, 0x198, 0x199, 0x19a, 0x1a0, 0x606, 0x611, 0x774};
    static const uint32_t others[] = {0xc0010299, 0xc001029a, 0xc001029b};
    struct emu_machine *machine = amd_new("");
    struct emu_access access = {.machine = machine, .index = 0, .now_ns = 1};
    uint64_t value;
    for (size_t i = 0; i < sizeof intel / sizeof intel[0]; i++) {
        assert_int_equal(emu_msr_read(&access, intel[i], &value), EIO);
        assert_int_equal(emu_msr_write(&access, intel[i], 0), EIO);
    }
    free(machine);
    machine = machine_new("", 0);
    access.machine = machine;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(emu_msr_read(&access, others[i], &value), EIO);
    }
    free(machine);
}

/* 10 W per core, all active: each core's own counter, and the package's. */
static void test_amd_rapl(void **state)
{
    (void)state;
    struct emu_machine *machine = amd_new("activity = fixed:1\npackage_static_w = 20\n");
    struct emu_access access = {.machine = machine, .index = 5, .now_ns = 2 * (uint64_t)SECOND};
    expect(&access, 0xc0010299, 0xa1003);
    expect(&access, 0xc001029a, 20 << 16);
    expect(&access, 0xc001029b, (uint64_t)(2 * (4 * 10 + 20)) << 16);
    emu_pstate_limit_max(machine, 5, 1500000, access.now_ns);
    access.now_ns *= 2;
    uint64_t slow, fast;
    assert_int_equal(emu_msr_read(&access, 0xc001029a, &slow), 0);
    access.index = 6;
    assert_int_equal(emu_msr_read(&access, 0xc001029a, &fast), 0);
    assert_int_equal(fast, 40 << 16);
    assert_true(slow >= (20 << 16) + 1 && slow <= (40 << 16) - 1);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_msr),
        cmocka_unit_test(test_msr_safe),
        cmocka_unit_test(test_vendors),
        cmocka_unit_test(test_amd_rapl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
