/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequency: the register of a package, the driver's files over it, and its energy.
 */
#include "config.h"

#include <errno.h>

#include "rapl.h"
#include "support.h"
#include "states.h"

static const char machine_text[] = "uncore = sysfs\nuncore_min_khz = 1200000\n"
                                   "uncore_max_khz = 2400000\nuncore_w = 8\n"
                                   "core_dyn_exponent = 2\npackage_static_w = 12\n"
                                   "core_idle_w = 0\nactivity = fixed:0\n";

static const char folder_path[] = "sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00";

static int store(struct emu_tree *tree, struct emu_machine *machine, const char *name,
                 const char *text)
{
    const struct emu_node *node =
        &tree->nodes[emu_tree_find(tree, emu_tree_folder(tree, 0, "%s", folder_path), name)];
    struct emu_access access = {
        .machine = machine, .file = node->file, .index = node->index, .now_ns = 1};
    return emu_file_store(&access, text, strlen(text));
}

/* One register per package, whichever of its CPUs it is written through. */
static void test_register(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new(machine_text, 0);
    struct emu_access access = {.machine = machine, .index = 6, .now_ns = 1};
    uint64_t value;
    assert_int_equal(emu_msr_read(&access, 0x620, &value), 0);
    assert_int_equal(value, 12 << 8 | 24);
    assert_int_equal(emu_msr_write(&access, 0x620, 12 << 8 | 15), 0);
    access.index = 4;
    assert_int_equal(emu_msr_read(&access, 0x620, &value), 0);
    assert_int_equal(value, 12 << 8 | 15);
    assert_int_equal(emu_msr_read(&access, 0x621, &value), 0);
    assert_int_equal(value, 15);
    assert_int_equal(emu_uncore_khz(machine, 0), 2400000);
    assert_int_equal(emu_msr_write(&access, 0x620, 1 << 7), EIO);
    assert_int_equal(emu_msr_write(&access, 0x620, 1 << 15), EIO);
    assert_int_equal(emu_msr_write(&access, 0x621, 15), EIO);
    /* limits beyond the hardware are kept, the clock is not */
    assert_int_equal(emu_msr_write(&access, 0x620, 127), 0);
    assert_int_equal(emu_uncore_khz(machine, 4), 2400000);
    assert_int_equal(emu_msr_write(&access, 0x620, 0), 0);
    assert_int_equal(emu_uncore_khz(machine, 4), 1200000);
    free(machine);
}

static void test_absent(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new("", 0);
    struct emu_access access = {.machine = machine};
    uint64_t value;
    assert_int_equal(emu_msr_read(&access, 0x620, &value), EIO);
    assert_int_equal(emu_msr_read(&access, 0x621, &value), EIO);
    free(machine);
    machine = machine_new("uncore = msr\nuncore_min_khz = 1200000\nuncore_max_khz = 2400000\n", 0);
    struct emu_tree tree;
    emu_tree_init(&tree);
    emu_uncore_install(&tree, machine);
    assert_int_equal(tree.count, 1); /* no file */
    emu_tree_free(&tree);
    access.machine = machine;
    assert_int_equal(emu_msr_read(&access, 0x620, &value), 0);
    free(machine);
}

static void test_files(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new(machine_text, 0);
    struct emu_access access = {.machine = machine, .index = 7, .now_ns = 1};
    struct emu_tree tree;
    uint64_t value;
    emu_tree_init(&tree);
    emu_uncore_install(&tree, machine);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "max_freq_khz")), 2400000);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "min_freq_khz")), 1200000);
    assert_int_equal(store(&tree, machine, "max_freq_khz", "1799999"), 0); /* down to 100 MHz */
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "max_freq_khz")), 1700000);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "current_freq_khz")), 1700000);
    assert_int_equal(emu_msr_read(&access, 0x620, &value), 0);
    assert_int_equal(value, 12 << 8 | 17);
    assert_int_equal(emu_uncore_khz(machine, 0), 2400000);
    /* the driver compares the limits with nothing */
    assert_int_equal(store(&tree, machine, "min_freq_khz", "2000000"), 0);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "min_freq_khz")), 2000000);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "current_freq_khz")), 1700000);
    assert_int_equal(emu_msr_write(&access, 0x620, 13 << 8 | 22), 0);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "max_freq_khz")), 2200000);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "min_freq_khz")), 1300000);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "initial_max_freq_khz")), 2400000);
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "initial_min_freq_khz")), 1200000);
    static const char *const refused[] = {"0", "99999", "12800000", "-1", "fast", "2400000 kHz"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(store(&tree, machine, "max_freq_khz", refused[i]), EINVAL);
    }
    assert_int_equal(atoi(shown(&tree, machine, folder_path, "max_freq_khz")), 2200000);
    emu_tree_free(&tree);
    free(machine);
}

static bool near(double value, double expected)
{
    return value > expected - 1e-6 && value < expected + 1e-6;
}

/* 12 W that are static and 8 W of uncore; 2 W of uncore at half of its frequency. */
static void test_energy(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new(machine_text, 0);
    assert_int_equal(msr_write(machine, 4, 0x620, 12 << 8 | 12, 300 * MS), 0);
    emu_machine_charge_all(machine, SECOND);
    assert_true(near(emu_rapl_exact_j(machine, EMU_PACKAGE, 0, SECOND), 20));
    assert_true(near(emu_rapl_exact_j(machine, EMU_PACKAGE, 1, SECOND), 12 + 0.3 * 8 + 0.7 * 2));
    assert_true(near(emu_rapl_exact_j(machine, EMU_CORE, 1, SECOND), 0));
    assert_true(near(emu_rapl_exact_j(machine, EMU_DRAM, 1, SECOND), 0));
    assert_true(near(emu_rapl_exact_j(machine, EMU_PLATFORM, 0, SECOND), 20 + 15.8));
    free(machine);
}

/* A counter moves at its updates only, and holds the uncore's part until the last one. */
static void test_counter(void **state)
{
    (void)state;
    struct emu_machine *machine = machine_new(machine_text, 0);
    uint32_t before = emu_rapl_counter(machine, EMU_PACKAGE, 1, 1000 * (uint64_t)MS);
    assert_int_equal(before, 20 << 14);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 1, 1000 * (uint64_t)MS + 999999),
                     before);
    assert_int_equal(msr_write(machine, 4, 0x620, 12 << 8 | 12, 1000 * (uint64_t)MS), 0);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 1, 2000 * (uint64_t)MS) - before,
                     14 << 14);
    assert_int_equal(emu_rapl_counter(machine, EMU_PACKAGE, 0, 2000 * (uint64_t)MS), 40 << 14);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_register), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_files),    cmocka_unit_test(test_energy),
        cmocka_unit_test(test_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
