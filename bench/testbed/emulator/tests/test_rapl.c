/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy: integration, RAPL's update interval and wrap, and what a lever's write accounts for.
 */
#include "config.h"

#include "rapl.h"
#include "support.h"

/* One core at 10 W of each package is all that draws power. */
static uint64_t first_core_active(void *arg, int cpu, uint64_t now_ns)
{
    (void)arg;
    return cpu % 4 == 0 ? now_ns : 0;
}

static struct emu_machine *machine_10w(const char *more, uint64_t now_ns)
{
    char text[512];
    snprintf(text, sizeof text, "core_idle_w = 0\n%s", more);
    struct emu_machine *machine = machine_new(text, now_ns);
    machine->active = first_core_active;
    return machine;
}

static void test_meter(void **state)
{
    (void)state;
    struct emu_meter meter = {.t_ns = 500};
    emu_meter_advance(&meter, 2e9, 900, 1000); /* 2 J per ns: no boundary yet */
    assert_true(meter.joules > 799.9 && meter.joules < 800.1);
    assert_true(meter.visible_j == 0);
    emu_meter_advance(&meter, 1e9, 2300, 1000); /* the last boundary is 2000 */
    assert_true(meter.joules > 2199.9 && meter.joules < 2200.1);
    assert_true(meter.visible_j > 1899.9 && meter.visible_j < 1900.1);
    emu_meter_advance(&meter, 1e9, 2300, 1000);
    emu_meter_advance(&meter, 1e9, 2000, 1000); /* time does not run back */
    assert_true(meter.joules > 2199.9 && meter.joules < 2200.1);
}

/* 10 W in counts of 2^-10 J are 10.24 counts per ms. */
static void test_update_interval(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_10w("rapl_energy_unit = 10\nrapl_update_us = 5000\n", 0);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 0, 4 * MS), 0);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 0, 5 * MS), 51);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 0, 9 * MS + 999999), 51);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 0, 10 * MS), 102);
    assert_int_equal(emu_rapl_counter(machine, EMU_CORE, 0, 10 * MS), 102);
    assert_int_equal(emu_rapl_counter(machine, EMU_PLATFORM, 0, 10 * MS), 204);
    free(machine);
}

/* What a reader sees is the same whether or not others read or wrote levers in between. */
static void test_visible_is_independent(void **state)
{
    (void)state;
    struct emu_machine *quiet =
        machine_10w("rapl_update_us = 3000\npackage_static_w = 7\n", 123456);
    struct emu_machine *noisy =
        machine_10w("rapl_update_us = 3000\npackage_static_w = 7\n", 123456);
    for (uint64_t t = 200000; t < 50 * MS; t += 777777) {
        emu_machine_charge_core(noisy, (int)(t / 777777) % 8, t);
        if (t % 2 == 0) {
            emu_rapl_counter(noisy, EMU_PLATFORM, 0, t);
        }
    }
    for (int domain = EMU_PACKAGE; domain <= EMU_PLATFORM; domain++) {
        uint32_t one = emu_rapl_counter(quiet, (enum emu_domain)domain, 1, 50 * MS);
        uint32_t other = emu_rapl_counter(noisy, (enum emu_domain)domain, 1, 50 * MS);
        assert_true(one - other + 1 <= 2); /* rounding of sums */
    }
    free(quiet);
    free(noisy);
}

static void test_wrap(void **state)
{
    (void)state;
    /* 10 J to the wrap at 2^-14 J */
    struct emu_machine *machine = machine_10w("rapl_start = 4294803456\n", 0);
    uint32_t before = emu_rapl_counter(machine, EMU_PACKAGE, 0, 900 * (uint64_t)MS);
    uint32_t after = emu_rapl_counter(machine, EMU_PACKAGE, 0, 1100 * (uint64_t)MS);
    assert_true(before > after);
    assert_int_equal(after - before, 2 << 14); /* modulo 2^32: 2 J */
    uint64_t range = emu_rapl_max_uj(machine, EMU_PACKAGE);
    assert_int_equal(range, 262144000000);
    assert_true(emu_rapl_uj(machine, EMU_PACKAGE, 0, 1100 * (uint64_t)MS) < 2000000);
    free(machine);
}

/* Energy up to a lever's write is charged at the old state. */
static void test_lever(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_10w("", 0);
    assert_int_equal(msr_write(machine, 0, 0x19a, 0x18, 300 * MS), 0); /* 50% */
    emu_machine_charge_all(machine, SECOND);
    double joules = emu_rapl_exact_j(machine, EMU_CORE, 0, SECOND);
    assert_true(joules > 6.4999 && joules < 6.5001); /* 0.3 s x 10 W + 0.7 s x 5 W */
    joules = emu_rapl_exact_j(machine, EMU_CORE, 1, SECOND);
    assert_true(joules > 9.9999 && joules < 10.0001);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meter),
        cmocka_unit_test(test_update_interval),
        cmocka_unit_test(test_visible_is_independent),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_lever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
