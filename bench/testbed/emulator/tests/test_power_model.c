/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The power model, and that icpp2010.machine draws what the paper's nodes drew.
 */
#include "config.h"

#include "power_model.h"
#include "rapl.h"
#include "states.h"
#include "support.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(value >= expected - tolerance && value <= expected + tolerance)) {
        fail_msg("%g is not %g +- %g", value, expected, tolerance);
    }
}

/* Eight nodes, every core active: power over one second, from the platform account. */
static double eight_nodes_w(uint32_t khz, int throttled_package)
{
    struct emu_config config;
    char error[512];
    assert_true(emu_config_read(MACHINES "/icpp2010.machine", &config, error, sizeof error));
    struct emu_machine *machine = malloc(sizeof *machine);
    assert_non_null(machine);
    emu_machine_init(machine, &config, 0);
    machine->config.fixed_activity = 1;
    for (int cpu = 0; cpu < machine->cpu_count; cpu++) {
        emu_pstate_limit_max(machine, cpu, khz, 0);
        if (machine->cpus[cpu].package == throttled_package) {
            assert_int_equal(msr_write(machine, cpu, 0x19a, 0x12, 0), 0); /* 12.5% */
        }
    }
    emu_machine_charge_all(machine, SECOND);
    double watts = 8 * emu_rapl_exact_j(machine, EMU_PLATFORM, 0, SECOND);
    free(machine);
    return watts;
}

/* ICPP 2010, power of the 64-rank Alltoall: 2.3, 1.8 and 1.6 kW, read off a plot to 0.05 kW. */
static void test_paper(void **state)
{
    (void)state;
    assert_near(eight_nodes_w(2400000, -1), 2300, 10);
    assert_near(eight_nodes_w(1600000, -1), 1800, 10);
    assert_near(eight_nodes_w(1600000, 1), 1600, 10);
}

static void test_core(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("core_idle_w = 2\ncore_dyn_exponent = 2\n", 0);
    const struct emu_config *config = &machine->config;
    struct emu_load busy = {1, 1}, idle = {0, 1}, half = {0.5, 1}, throttled = {1, 0.125};
    assert_near(emu_power_core_w(config, 2000000, &busy, 1), 10, 1e-9);
    assert_near(emu_power_core_w(config, 1000000, &busy, 1), 2.5, 1e-9);
    assert_near(emu_power_core_w(config, 2000000, &idle, 1), 2, 1e-9);
    assert_near(emu_power_core_w(config, 2000000, &half, 1), 6, 1e-9);
    assert_near(emu_power_core_w(config, 2000000, &throttled, 1), 1.25, 1e-9);
    free(machine);
}

static void test_siblings(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("core_idle_w = 2\n", 0);
    struct emu_load both[] = {{0.5, 1}, {0.5, 1}}, one[] = {{1, 1}, {0, 1}};
    assert_near(emu_power_core_w(&machine->config, 2000000, both, 2), 0.75 * 10 + 0.25 * 2, 1e-9);
    assert_near(emu_power_core_w(&machine->config, 2000000, one, 2), 10, 1e-9);
    free(machine);
}

static void test_dram(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("dram_dyn_w = 8\n", 0);
    struct emu_load load = {0.5, 0.5};
    assert_near(emu_power_core_dram_w(&machine->config, &load, 1), 0.5, 1e-9);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_siblings),
        cmocka_unit_test(test_dram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
