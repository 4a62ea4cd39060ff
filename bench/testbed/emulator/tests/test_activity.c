/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Activity: the estimator with an injected clock, and placement over an invented /proc.
 */
#include "config.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "activity.h"
#include "process.h"
#include "support.h"

/* ---- estimator ---- */

static void test_spinning(void **state)
{
    (void)state;
    struct emu_estimator estimator;
    emu_estimator_start(&estimator, 0, 0, true);
    /* it waits for a CPU: nothing is credited yet, but it is runnable */
    assert_int_equal(emu_estimator_step(&estimator, 10 * MS, 0, true), 10 * MS);
    assert_int_equal(emu_estimator_step(&estimator, 20 * MS, 0, true), 10 * MS);
    /* it gets one, and all of the delay is credited at once: nothing is counted twice */
    assert_int_equal(emu_estimator_step(&estimator, 30 * MS, 30 * MS, true), 10 * MS);
    assert_int_equal(estimator.carry_ns, 0);
    assert_int_equal(emu_estimator_step(&estimator, 40 * MS, 30 * MS, false), 0);
}

static void test_sleeping(void **state)
{
    (void)state;
    struct emu_estimator estimator;
    emu_estimator_start(&estimator, 0, 5 * MS, false);
    assert_int_equal(emu_estimator_step(&estimator, 10 * MS, 5 * MS, false), 0);
    assert_int_equal(emu_estimator_step(&estimator, 20 * MS, 8 * MS, false), 3 * MS);
}

/* Runnable whenever it is looked at, asleep in between: the debt is paid back. */
static void test_debt(void **state)
{
    (void)state;
    struct emu_estimator estimator;
    uint64_t active = 0, total = 0;
    emu_estimator_start(&estimator, 0, 0, true);
    for (int i = 1; i <= 10; i++) {
        total += 4 * MS;
        active += emu_estimator_step(&estimator, i * 10 * (uint64_t)MS, total, true);
    }
    assert_int_equal(active, 100 * MS);
    for (int i = 11; i <= 30; i++) {
        total += 4 * MS;
        active += emu_estimator_step(&estimator, i * 10 * (uint64_t)MS, total, false);
    }
    assert_int_equal(active, total);
}

/* Credit that comes late is spread over later intervals, but only a little of it. */
static void test_credit(void **state)
{
    (void)state;
    struct emu_estimator estimator;
    emu_estimator_start(&estimator, 0, 0, false);
    assert_int_equal(emu_estimator_step(&estimator, 10 * MS, 15 * MS, false), 10 * MS);
    assert_int_equal(emu_estimator_step(&estimator, 20 * MS, 15 * MS, false), 5 * MS);
    /* two threads at once, for 100 ms: one CPU's time, not two */
    assert_int_equal(emu_estimator_step(&estimator, 120 * MS, 215 * MS, false), 100 * MS);
    assert_int_equal(estimator.carry_ns, EMU_CREDIT_NS);
}

static void test_debt_is_bounded(void **state)
{
    (void)state;
    struct emu_estimator estimator;
    emu_estimator_start(&estimator, 0, 0, true);
    for (int i = 1; i <= 60; i++) {
        emu_estimator_step(&estimator, i * (uint64_t)SECOND, 0, true);
    }
    assert_int_equal(estimator.carry_ns, -EMU_DEBT_NS);
}

/* ---- an invented /proc ---- */

static char root[64];

static void put(pid_t pid, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%d/task/%d/%s", root, (int)pid, (int)pid, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

/* The file is rewritten in place: the reader keeps it open. */
static void set_process(pid_t pid, char letter, uint64_t run_ns, uint64_t delay_ns)
{
    char text[256];
    snprintf(text, sizeof text,
             "%d (a (b) c) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 4096 1\n", (int)pid,
             letter);
    put(pid, "stat", text);
    snprintf(text, sizeof text, "%llu %llu 7\n", (unsigned long long)run_ns,
             (unsigned long long)delay_ns);
    put(pid, "schedstat", text);
}

static void add_process(pid_t pid, pid_t group)
{
    char path[256], text[64];
    const char *const folders[] = {"", "/task"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%d%s", root, (int)pid, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof path, "%s/%d/task/%d", root, (int)pid, (int)pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(text, sizeof text, "Name:\tx\nTgid:\t%d\n", (int)group);
    put(pid, "status", text);
    set_process(pid, 'S', 0, 0);
}

static int delete_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_process(pid_t pid)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%d", root, (int)pid);
    nftw(path, delete_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int set_up(void **state)
{
    snprintf(root, sizeof root, "test_activity.XXXXXX");
    assert_non_null(mkdtemp(root));
    *state = emu_activity_create(8, root);
    assert_non_null(*state);
    return 0;
}

static int tear_down(void **state)
{
    emu_activity_destroy(*state);
    nftw(root, delete_entry, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static cpu_set_t set_of(unsigned bits)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < 32; cpu++) {
        if ((bits >> cpu & 1) != 0) {
            CPU_SET(cpu, &set);
        }
    }
    return set;
}

static void bind(struct emu_activity *activity, pid_t pid, unsigned bits, uint64_t now_ns)
{
    cpu_set_t mask = set_of(bits);
    assert_int_equal(emu_activity_bind(activity, pid, &mask, now_ns), 0);
}

static void test_bound(void **state)
{
    struct emu_activity *activity = *state;
    add_process(100, 100);
    bind(activity, 100, 1 << 3, 0);
    assert_int_equal(emu_activity_count(activity, 3), 1);
    set_process(100, 'S', 2 * MS, 4 * MS);
    assert_int_equal(emu_activity_take(activity, 2, 10 * MS), 0);
    assert_int_equal(emu_activity_take(activity, 3, 10 * MS), 6 * MS);
    assert_int_equal(emu_activity_take(activity, 3, 20 * MS), 0);
}

/* A spinning process's counters are not read each time, and yet the sum is theirs. */
static void test_spinning_process(void **state)
{
    struct emu_activity *activity = *state;
    uint64_t active = 0, now = 0;
    add_process(100, 100);
    bind(activity, 100, 1 << 3, 0);
    for (int i = 1; i <= 30; i++) {
        set_process(100, 'R', (uint64_t)i * 5 * MS, (uint64_t)i * 5 * MS);
        active += emu_activity_take(activity, 3, now + 10 * MS);
        now += 10 * MS;
    }
    assert_int_equal(active, 300 * MS);
    for (int i = 0; i < 5; i++) {
        set_process(100, 'S', 150 * MS, 150 * MS);
        active += emu_activity_take(activity, 3, now + 10 * MS);
        now += 10 * MS;
    }
    assert_int_equal(active, 300 * MS);
}

/* Looks in quick succession do not read the counters, and yet the sum is theirs. */
static void test_quick_succession(void **state)
{
    struct emu_activity *activity = *state;
    uint64_t active = 0, now = 0;
    add_process(100, 100);
    bind(activity, 100, 1 << 3, 0);
    for (int i = 1; i <= 300; i++) {
        now = (uint64_t)i * MS / 10;
        set_process(100, 'S', i <= 200 ? now / 2 : 10 * MS, 0);
        active += emu_activity_take(activity, 3, now);
    }
    assert_int_equal(active, 10 * MS);
}

static void test_masks(void **state)
{
    struct emu_activity *activity = *state;
    cpu_set_t mask, expected = set_of(0xff);
    assert_false(emu_activity_mask(activity, 100, &mask));
    assert_true(emu_activity_mask(activity, 0, &mask)); /* the machine's CPUs */
    assert_true(CPU_EQUAL(&mask, &expected));
    bind(activity, 100, 0x30c, 0); /* of which the machine has two */
    expected = set_of(0x0c);
    assert_true(emu_activity_mask(activity, 100, &mask));
    assert_true(CPU_EQUAL(&mask, &expected));
    mask = set_of(0x300);
    assert_int_equal(emu_activity_bind(activity, 100, &mask, 0), EINVAL);
    assert_int_equal(emu_activity_bind(activity, 0, &expected, 0), EINVAL);
}

static void test_least_loaded(void **state)
{
    struct emu_activity *activity = *state;
    for (pid_t pid = 100; pid < 104; pid++) {
        add_process(pid, pid);
        bind(activity, pid, 0x0c, 0); /* CPUs 2 and 3 */
    }
    assert_int_equal(emu_activity_count(activity, 2), 2);
    assert_int_equal(emu_activity_count(activity, 3), 2);
    bind(activity, 101, 0x0f, 0); /* still allowed where it is: it stays */
    assert_int_equal(emu_activity_count(activity, 3), 2);
}

/* What was active before the move is charged to the old CPU. */
static void test_move(void **state)
{
    struct emu_activity *activity = *state;
    add_process(100, 100);
    bind(activity, 100, 1 << 0, 0);
    set_process(100, 'S', 5 * MS, 0);
    bind(activity, 100, 1 << 7, 10 * MS);
    set_process(100, 'S', 6 * MS, 0);
    assert_int_equal(emu_activity_take(activity, 0, 20 * MS), 5 * MS);
    assert_int_equal(emu_activity_take(activity, 7, 20 * MS), 1 * MS);
}

static void test_death(void **state)
{
    struct emu_activity *activity = *state;
    cpu_set_t mask;
    for (pid_t pid = 100; pid <= 300; pid += 100) {
        add_process(pid, pid);
        bind(activity, pid, 1 << 1, 0);
    }
    set_process(100, 'Z', 5 * MS, 0); /* ended, not yet waited for */
    emu_activity_take(activity, 1, 10 * MS);
    emu_activity_refresh(activity, 10 * MS);
    assert_int_equal(emu_activity_count(activity, 1), 2);
    assert_false(emu_activity_mask(activity, 100, &mask));
    /* one that nobody looked at since it ended */
    remove_process(300);
    emu_activity_refresh(activity, SECOND);
    assert_int_equal(emu_activity_count(activity, 1), 1);
    assert_false(emu_activity_mask(activity, 300, &mask));
    assert_true(emu_activity_mask(activity, 200, &mask));
}

/* A thread's own mask is kept, but only processes are placed. */
static void test_thread_entry(void **state)
{
    struct emu_activity *activity = *state;
    cpu_set_t mask;
    add_process(101, 100);
    bind(activity, 101, 1 << 5, 0);
    assert_int_equal(emu_activity_count(activity, 5), 0);
    assert_true(emu_activity_mask(activity, 101, &mask));
}

static void test_many(void **state)
{
    struct emu_activity *activity = *state;
    cpu_set_t mask = set_of(1);
    for (pid_t tid = 1; tid <= EMU_MAX_TASKS; tid++) {
        bind(activity, tid, 1, 0);
    }
    assert_int_equal(emu_activity_bind(activity, EMU_MAX_TASKS + 1, &mask, 0), ENOSPC);
    emu_activity_refresh(activity, 0); /* none of them exists */
    assert_int_equal(emu_activity_bind(activity, EMU_MAX_TASKS + 1, &mask, 0), 0);
}

#define WITH_PROC(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spinning),
        cmocka_unit_test(test_sleeping),
        cmocka_unit_test(test_debt),
        cmocka_unit_test(test_credit),
        cmocka_unit_test(test_debt_is_bounded),
        WITH_PROC(test_bound),
        WITH_PROC(test_spinning_process),
        WITH_PROC(test_quick_succession),
        WITH_PROC(test_masks),
        WITH_PROC(test_least_loaded),
        WITH_PROC(test_move),
        WITH_PROC(test_death),
        WITH_PROC(test_thread_entry),
        WITH_PROC(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
