/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Faults on demand: rules good and bad, what they match, when they act.
 */
#include "config.h"

#include <errno.h>

#include "fault.h"
#include "support.h"

struct fixture {
    struct emu_faults faults;
    struct emu_tree tree;
    int max_freq, msr, msr_safe, energy, fault;
};

static const struct emu_file max_freq[] = {{.name = "scaling_max_freq", .mode = 0644}, {0}};
static const struct emu_file devices[] = {
    {"msr", 0600, .registers = true}, {"msr_safe", 0666, .registers = true}, {0}};
static const struct emu_file energy[] = {{.name = "energy_uj", .mode = 0400}, {0}};
static const struct emu_file fault_file[] = {{"fault", 0644, .no_faults = true}, {0}};

/* Index of the last of the files. */
static int add(struct emu_tree *tree, const char *folder, const struct emu_file *files, int index)
{
    emu_tree_files(tree, emu_tree_folder(tree, 0, "%s", folder), files, index, -1);
    return tree->count - 1;
}

static int setup(void **state)
{
    struct fixture *made = calloc(1, sizeof *made);
    struct emu_tree *tree = &made->tree;
    emu_tree_init(tree);
    made->max_freq = add(tree, "sys/devices/system/cpu/cpufreq/policy3", max_freq, 3);
    made->msr_safe = add(tree, "dev/cpu/3", devices, 3);
    made->msr = made->msr_safe - 1;
    made->energy = add(tree, "sys/devices/virtual/powercap/intel-rapl:0/a:0:1", energy, 0);
    made->fault = add(tree, "ctl", fault_file, 0);
    *state = made;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    emu_tree_free(&fixture->tree);
    free(fixture);
    return 0;
}

static void store(struct fixture *fixture, const char *text)
{
    assert_null(emu_faults_store(&fixture->faults, text));
}

static int ask(struct fixture *fixture, int node, enum emu_fault_op op, uint32_t reg)
{
    return emu_faults_ask(&fixture->faults, &fixture->tree.nodes[node], op, reg).error;
}

static void test_nothing(void **state)
{
    assert_int_equal(ask(*state, ((struct fixture *)*state)->msr, EMU_FAULT_WRITE, 0x19a), 0);
}

static void test_matching(void **state)
{
    struct fixture *fixture = *state;
    struct fixture *f = fixture;
    struct {
        const char *rule;
        int node;
        enum emu_fault_op op;
        uint32_t reg;
        int error;
    } cases[] = {
        {"write msr:0x19a error=EIO", f->msr, EMU_FAULT_WRITE, 0x19a, EIO},
        {"write msr:0x19a error=EIO", f->msr_safe, EMU_FAULT_WRITE, 0x19a, EIO},
        {"write msr:0x19a error=EIO", f->msr, EMU_FAULT_WRITE, 0x199, 0},
        {"write msr:0x19a error=EIO", f->msr, EMU_FAULT_READ, 0x19a, 0},
        {"write msr:0x0 error=EIO", f->max_freq, EMU_FAULT_WRITE, 0, 0},
        {"read msr error=ENXIO", f->msr, EMU_FAULT_READ, 0x611, ENXIO},
        {"read msr error=ENXIO", f->msr_safe, EMU_FAULT_READ, 0x611, 0},
        {"open msr_safe error=EBUSY", f->msr_safe, EMU_FAULT_OPEN, 0, EBUSY},
        {"write scaling_max_freq cpu=3 error=ENODEV", f->max_freq, EMU_FAULT_WRITE, 0, ENODEV},
        {"write scaling_max_freq cpu=* error=ENOSPC", f->max_freq, EMU_FAULT_WRITE, 0, ENOSPC},
        {"write scaling_max_freq cpu=2 error=EACCES", f->max_freq, EMU_FAULT_WRITE, 0, 0},
        {"write scaling_max error=EACCES", f->max_freq, EMU_FAULT_WRITE, 0, 0},
        {"open scaling_max_freq error=ENOENT", f->max_freq, EMU_FAULT_OPEN, 0, ENOENT},
        {"read energy_uj error=EINVAL", f->energy, EMU_FAULT_READ, 0, EINVAL},
        {"write fault error=EPERM", f->fault, EMU_FAULT_WRITE, 0, 0}, /* ctl/ is out of reach */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        store(fixture, "clear");
        store(fixture, cases[i].rule);
        assert_int_equal(ask(fixture, cases[i].node, cases[i].op, cases[i].reg), cases[i].error);
    }
}

static void expect_text(struct fixture *fixture, const char *expected)
{
    char text[1024] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    emu_faults_print(&fixture->faults, out);
    fclose(out);
    assert_string_equal(text, expected);
}

/* after lets some pass, count ends it, a later rule answers what an earlier one lets through. */
static void test_counts(void **state)
{
    struct fixture *fixture = *state;
    static const int errors[] = {EBUSY, EBUSY, EIO, EBUSY, 0, 0};
    store(fixture, "write msr:0x19a error=EIO after=2 count=1\n\nwrite msr error=EBUSY count=3\n");
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        assert_int_equal(ask(fixture, fixture->msr, EMU_FAULT_WRITE, 0x19a), errors[i]);
    }
    expect_text(fixture, "write msr:0x19a error=EIO after=2 count=1 hits=1\n"
                         "write msr error=EBUSY count=3 hits=3\n");
    store(fixture, "clear\nread energy_uj short delay_us=5000");
    expect_text(fixture, "read energy_uj short delay_us=5000 hits=0\n");
    struct emu_fault_hit hit =
        emu_faults_ask(&fixture->faults, &fixture->tree.nodes[fixture->energy], EMU_FAULT_READ, 0);
    assert_true(hit.short_read);
    assert_int_equal(hit.delay_us, 5000);
    assert_int_equal(hit.error, 0);
}

/* A bad rule changes nothing, not even with good ones beside it, and is named. */
static void test_bad_rules(void **state)
{
    struct fixture *fixture = *state;
    static const char *const cases[] = {
        "burn msr error=EIO",  "write",
        "write msr",           "write msr error=EFOO",
        "write msr error=5",   "write msr error=EIO cpu=x",
        "read msr delay_us=0", "read msr errors=EIO",
        "write msr short",     "write msr error=EIO after=2x",
    };
    store(fixture, "read msr error=EIO");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "clear\nopen msr error=EIO\n%s", cases[i]);
        const char *bad = emu_faults_store(&fixture->faults, text);
        assert_non_null(bad);
        assert_string_equal(bad, cases[i]);
    }
    expect_text(fixture, "read msr error=EIO hits=0\n");
}

static void test_limits(void **state)
{
    struct fixture *fixture = *state;
    char line[300] = "read msr error=EIO";
    memset(line + strlen(line), ' ', sizeof line - strlen(line) - 1);
    assert_non_null(emu_faults_store(&fixture->faults, line));
    for (int i = 0; i < EMU_MAX_FAULTS; i++) {
        store(fixture, "read msr error=EIO");
    }
    assert_non_null(emu_faults_store(&fixture->faults, "read msr error=EIO"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_matching, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_rules, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
