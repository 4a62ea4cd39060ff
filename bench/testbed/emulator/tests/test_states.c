/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * T-states and P-states: what is asked for, who shares it, what comes of it.
 */
#include "config.h"

#include <errno.h>

#include "states.h"
#include "support.h"

static void test_tstate_values(void **state)
{
    (void)state;
    static const struct {
        const char *step;
        uint64_t value;
        int error;
        double duty;
    } cases[] = {
        {"tstate_step = 12.5\n", 0x00, 0, 1},     {"tstate_step = 12.5\n", 0x12, 0, 0.125},
        {"tstate_step = 12.5\n", 0x1e, 0, 0.875}, {"tstate_step = 12.5\n", 0x0e, 0, 1},
        {"tstate_step = 12.5\n", 0x10, 0, 1},     {"tstate_step = 12.5\n", 0x13, EIO, 1},
        {"tstate_step = 12.5\n", 0x20, EIO, 1},   {"tstate_step = 6.25\n", 0x11, 0, 0.0625},
        {"tstate_step = 6.25\n", 0x18, 0, 0.5},   {"tstate_step = 6.25\n", 0x1f, 0, 0.9375},
        {"tstate_step = 6.25\n", 0x3f, EIO, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_machine *machine = machine_new(cases[i].step, 0);
        assert_int_equal(msr_write(machine, 3, 0x19a, cases[i].value, 1), cases[i].error);
        assert_true(emu_tstate_requested(machine, 3) == cases[i].duty);
        free(machine);
    }
}

/* CPU 0 asks for 12.5%, CPU 1 for 50%, the others for nothing; what CPUs 0, 1, 4 run at.  With
   smt = 2, CPUs 0 and 8 share a core. */
static void test_tstate_sharing(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        double duty[3];
    } cases[] = {
        {"tstate_scope = thread\ntstate_rule = highest\n", {0.125, 0.5, 1}},
        {"tstate_scope = core\ntstate_rule = highest\n", {0.125, 0.5, 1}},
        {"tstate_scope = package\ntstate_rule = highest\n", {1, 1, 1}},
        {"tstate_scope = package\ntstate_rule = lowest\n", {0.125, 0.125, 1}},
        {"smt = 2\ntstate_scope = core\ntstate_rule = highest\n", {1, 1, 1}},
        {"smt = 2\ntstate_scope = core\ntstate_rule = lowest\n", {0.125, 0.5, 1}},
    };
    static const int cpus[] = {0, 1, 4};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_machine *machine = machine_new(cases[i].rule, 0);
        assert_int_equal(msr_write(machine, 0, 0x19a, 0x12, 1), 0);
        assert_int_equal(msr_write(machine, 1, 0x19a, 0x18, 1), 0);
        for (int k = 0; k < 3; k++) {
            assert_true(emu_tstate_duty(machine, cpus[k]) == cases[i].duty[k]);
        }
        free(machine);
    }
}

/* The paper's machine: only when the whole package asks is it throttled. */
static void test_tstate_whole_package(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("tstate_scope = package\ntstate_rule = highest\n", 0);
    for (int cpu = 0; cpu < 4; cpu++) {
        assert_true(emu_tstate_duty(machine, 0) == 1);
        assert_int_equal(msr_write(machine, cpu, 0x19a, 0x12, 1), 0);
    }
    assert_true(emu_tstate_duty(machine, 0) == 0.125);
    assert_true(emu_tstate_duty(machine, 4) == 1);
    free(machine);
}

static void test_policy(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("pstates_khz = 1000000 1500000 2000000\n", 0);
    assert_int_equal(emu_pstate_khz(machine, 0), 2000000);
    emu_pstate_limit_max(machine, 0, 1700000, 1);
    assert_int_equal(emu_pstate_max_khz(machine, 0), 1700000); /* the limit is kept as given */
    assert_int_equal(emu_pstate_khz(machine, 0), 1500000);     /* the clock has a P-state */
    emu_pstate_limit_max(machine, 0, 999, 1);
    assert_int_equal(emu_pstate_khz(machine, 0), 1000000);
    emu_pstate_limit_max(machine, 0, 9000000, 1);
    assert_int_equal(emu_pstate_max_khz(machine, 0), 2000000);
    /* a minimum above the maximum is lowered, and comes back with the maximum */
    emu_pstate_limit_min(machine, 0, 2000000, 1);
    emu_pstate_limit_max(machine, 0, 1500000, 1);
    assert_int_equal(emu_pstate_min_khz(machine, 0), 1500000);
    emu_pstate_limit_max(machine, 0, 2000000, 1);
    assert_int_equal(emu_pstate_min_khz(machine, 0), 2000000);
    assert_int_equal(emu_pstate_khz(machine, 1), 2000000);
    free(machine);
}

static void test_governors(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("pstates_khz = 1000000 1500000 2000000\n", 0);
    emu_pstate_govern(machine, 2, EMU_GOV_POWERSAVE, 1);
    assert_int_equal(emu_pstate_khz(machine, 2), 1000000);
    emu_pstate_govern(machine, 2, EMU_GOV_USERSPACE, 1);
    assert_int_equal(emu_pstate_khz(machine, 2), 1000000); /* begins where it was */
    emu_pstate_set_speed(machine, 2, 1400000, 1);
    assert_int_equal(emu_pstate_khz(machine, 2), 1500000);
    emu_pstate_limit_max(machine, 2, 1200000, 1);
    assert_int_equal(emu_pstate_khz(machine, 2), 1000000);
    free(machine);
}

static void test_last_writer_wins(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("pstates_khz = 1000000 1500000 2000000\n", 0);
    assert_int_equal(msr_write(machine, 0, 0x199, 10 << 8, 1), 0);
    assert_int_equal(emu_pstate_khz(machine, 0), 1000000);
    assert_int_equal(msr_write(machine, 0, 0x199, 14 << 8, 1), 0);
    assert_int_equal(emu_pstate_khz(machine, 0), 1500000); /* nearest */
    assert_int_equal(msr_write(machine, 0, 0x199, 1 << 20, 1), EIO);
    emu_pstate_limit_max(machine, 0, 2000000, 1);
    assert_int_equal(emu_pstate_khz(machine, 0), 2000000);
    free(machine);
}

static void test_shared_clock(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("pstate_scope = package\n", 0);
    for (int cpu = 0; cpu < 4; cpu++) {
        assert_int_equal(emu_pstate_khz(machine, 0), 2000000);
        emu_pstate_limit_max(machine, cpu, 1200000, 1);
    }
    assert_int_equal(emu_pstate_khz(machine, 0), 1200000);
    assert_int_equal(emu_pstate_khz(machine, 4), 2000000);
    free(machine);
}

static void test_hwp(void **state)
{
    (void)state;
    struct emu_machine *machine =
        machine_new("cpufreq_driver = intel_pstate\nhwp = yes\ngovernor = powersave\n", 0);
    assert_int_equal(machine->cpus[0].hwp_request, 0x80000000 | 20 << 8 | 10);
    assert_int_equal(emu_pstate_khz(machine, 0), 2000000);
    assert_int_equal(msr_write(machine, 0, 0x199, 10 << 8, 1), 0);
    assert_int_equal(emu_pstate_khz(machine, 0), 2000000); /* ignored under HWP */
    assert_int_equal(msr_write(machine, 0, 0x774, 13 << 8 | 10, 1), 0);
    assert_int_equal(emu_pstate_khz(machine, 0), 1300000);
    assert_int_equal(msr_write(machine, 0, 0x774, 11 << 16 | 13 << 8 | 10, 1), 0);
    assert_int_equal(emu_pstate_khz(machine, 0), 1100000);
    free(machine);
}

/* One policy for the CPUs of a package: whoever writes, writes for all. */
static void test_shared_policy(void **state)
{
    (void)state;
    struct emu_machine *machine =
        machine_new("pstate_scope = package\npolicy_scope = package\n", 0);
    assert_int_equal(machine->cpus[3].policy, 0);
    assert_int_equal(machine->cpus[7].policy, 4);
    emu_pstate_limit_max(machine, 2, 1200000, 1);
    for (int cpu = 0; cpu < 4; cpu++) {
        assert_int_equal(emu_pstate_max_khz(machine, cpu), 1200000);
        assert_int_equal(machine->cpus[cpu].perf_ctl, 12 << 8);
        assert_int_equal(emu_pstate_khz(machine, cpu), 1200000);
    }
    assert_int_equal(emu_pstate_khz(machine, 4), 2000000);
    emu_pstate_govern(machine, 6, EMU_GOV_POWERSAVE, 1);
    assert_int_equal(emu_pstate_khz(machine, 5), 1000000);
    assert_int_equal(emu_pstate_khz(machine, 1), 1200000);
    free(machine);
}

/* The register keeps what was written, also what the clock rounds or ignores. */
static void test_perf_ctl_reads_back(void **state)
{
    (void)state;
    static const char *const machines[] = {"pstates_khz = 1000000 1500000 2000000\n",
                                           "cpufreq_driver = intel_pstate\nhwp = yes\n"};
    for (int i = 0; i < 2; i++) {
        struct emu_machine *machine = machine_new(machines[i], 0);
        struct emu_access access = {.machine = machine, .index = 1, .now_ns = 1};
        uint64_t value;
        assert_int_equal(emu_msr_read(&access, 0x199, &value), 0);
        assert_int_equal(value, 20 << 8);
        assert_int_equal(emu_msr_write(&access, 0x199, UINT64_C(1) << 32 | 12 << 8), 0);
        assert_int_equal(emu_msr_read(&access, 0x199, &value), 0);
        assert_int_equal(value, UINT64_C(1) << 32 | 12 << 8);
        free(machine);
    }
}

static void test_hwp_limits(void **state)
{
    (void)state;
    struct emu_machine *machine =
        machine_new("cpufreq_driver = intel_pstate\nhwp = yes\ngovernor = powersave\n", 0);
    /* the driver replaces the two limits and keeps the rest: activity window, preference */
    assert_int_equal(msr_write(machine, 0, 0x774, UINT64_C(0x3) << 32 | 0x40u << 24 | 0x140a, 1),
                     0);
    emu_pstate_limit_max(machine, 0, 1250000, 1);
    assert_int_equal(machine->cpus[0].hwp_request, UINT64_C(0x3) << 32 | 0x40u << 24 | 0x0c0a);
    assert_int_equal(emu_pstate_khz(machine, 0), 1200000);
    emu_pstate_govern(machine, 0, EMU_GOV_PERFORMANCE, 1);
    assert_int_equal(machine->cpus[0].hwp_request, UINT64_C(0x3) << 32 | 0x40u << 24 | 0x0c0c);
    free(machine);
}

/* intel_pstate in passive mode: governors set the frequency, through HWP_REQUEST if there is it. */
static void test_intel_cpufreq(void **state)
{
    (void)state;
    static const char *const hwp[] = {"hwp = no\n", "hwp = yes\n"};
    for (int i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, "cpufreq_driver = intel_cpufreq\ngovernor = userspace\n%s",
                 hwp[i]);
        struct emu_machine *machine = machine_new(text, 0);
        emu_pstate_set_speed(machine, 3, 1400000, 1);
        assert_int_equal(emu_pstate_khz(machine, 3), 1400000);
        assert_int_equal(i == 0 ? machine->cpus[3].perf_ctl >> 8
                                : (machine->cpus[3].hwp_request & 0xffff),
                         i == 0 ? 14 : 0x0e0e);
        emu_pstate_govern(machine, 3, EMU_GOV_POWERSAVE, 1); /* the kernel's: the lowest */
        assert_int_equal(emu_pstate_khz(machine, 3), 1000000);
        free(machine);
    }
}

/* An offline CPU has no say in the clock, its register still has in the duty cycle. */
static void test_hotplug(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("smt = 2\n", 0); /* 1 and 9 share a core */
    emu_pstate_limit_max(machine, 1, 1200000, 1);
    assert_int_equal(emu_pstate_khz(machine, 1), 2000000);
    assert_int_equal(msr_write(machine, 9, 0x19a, 0x14, 1), 0);
    machine->cpus[9].online = false;
    assert_int_equal(emu_pstate_khz(machine, 1), 1200000);
    assert_true(emu_tstate_duty(machine, 1) == 0.25);
    assert_false(emu_machine_policy_active(machine, 9));
    assert_true(emu_machine_policy_active(machine, 1));
    free(machine);
}

/* Offline CPUs are idle, whatever the activity. */
static void test_hotplug_power(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("activity = fixed:1\ncore_idle_w = 1\n", 0);
    emu_machine_charge_core(machine, 2, SECOND);
    assert_true(machine->cores[2].core.joules == 10);
    machine->cpus[2].online = false;
    emu_machine_charge_core(machine, 2, 3 * (uint64_t)SECOND);
    assert_true(machine->cores[2].core.joules == 12);
    assert_int_equal(machine->cpus[2].active_ns, SECOND);
    free(machine);
}

static void expect_package(const char *more, int package, const char *list, const char *mask)
{
    char folder[64];
    struct emu_tree tree;
    struct emu_machine *machine = machine_new(more, 0);
    emu_tree_init(&tree);
    emu_topology_install(&tree, machine);
    snprintf(folder, sizeof folder, "sys/devices/system/node/node%d", package);
    assert_string_equal(shown(&tree, machine, folder, "cpulist"), list);
    assert_string_equal(shown(&tree, machine, folder, "cpumap"), mask);
    emu_tree_free(&tree);
    free(machine);
}

static void test_numbering(void **state)
{
    (void)state;
    expect_package("smt = 2\n", 1, "4-7,12-15\n", "f0f0\n");
    expect_package("cpu_numbering = scattered\n", 1, "1,3,5,7\n", "aa\n");
    expect_package("smt = 8\n", 0, "0-3,8-11,16-19,24-27,32-35,40-43,48-51,56-59\n",
                   "f0f0f0f,0f0f0f0f\n");
    struct emu_machine *machine = machine_new("cpu_numbering = scattered\n", 0);
    assert_int_equal(machine->cpus[3].core_id, 1);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tstate_values),
        cmocka_unit_test(test_tstate_sharing),
        cmocka_unit_test(test_tstate_whole_package),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_governors),
        cmocka_unit_test(test_last_writer_wins),
        cmocka_unit_test(test_shared_clock),
        cmocka_unit_test(test_shared_policy),
        cmocka_unit_test(test_perf_ctl_reads_back),
        cmocka_unit_test(test_hwp),
        cmocka_unit_test(test_hwp_limits),
        cmocka_unit_test(test_intel_cpufreq),
        cmocka_unit_test(test_hotplug),
        cmocka_unit_test(test_hotplug_power),
        cmocka_unit_test(test_numbering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
