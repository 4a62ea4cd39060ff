/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Activity: the estimator with an injected clock, and placement over an invented /proc.
 */
#include "config.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "activity.h"
#include "estimator.h"
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

struct fixture {
    struct emu_affinity_table *table;
    struct emu_activity *activity;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct emu_config config = {.packages = 2, .cores = 4, .smt = 1};
    char path[128];
    snprintf(root, sizeof root, "test_activity.XXXXXX");
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/self", root);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/self/schedstat", root);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs("1 2 3\n", stream);
    fclose(stream);
    snprintf(path, sizeof path, "%s/affinity", root);
    fixture.table = emu_affinity_create(path, 8);
    assert_non_null(fixture.table);
    assert_int_equal(emu_activity_create(&config, root, fixture.table, &fixture.activity), 0);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    emu_activity_destroy(fixture->activity);
    emu_affinity_detach(fixture->table);
    nftw(root, delete_entry, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static void bind(struct fixture *fixture, pid_t pid, uint64_t mask)
{
    emu_mask_t wide = {{mask}};
    assert_true(emu_affinity_set(fixture->table, pid, &wide));
}

static void test_bound(void **state)
{
    struct fixture *fixture = *state;
    add_process(100, 100);
    bind(fixture, 100, 1 << 3);
    emu_activity_refresh(fixture->activity, 0);
    assert_int_equal(emu_activity_count(fixture->activity, 3), 1);
    set_process(100, 'S', 2 * MS, 4 * MS);
    assert_int_equal(emu_activity_take(fixture->activity, 2, 0, 10 * MS), 0);
    assert_int_equal(emu_activity_take(fixture->activity, 3, 0, 10 * MS), 6 * MS);
    assert_int_equal(emu_activity_take(fixture->activity, 3, 10 * MS, 20 * MS), 0);
}

/* A spinning process's counters are not read each time, and yet the sum is theirs. */
static void test_spinning_process(void **state)
{
    struct fixture *fixture = *state;
    uint64_t active = 0, now = 0;
    add_process(100, 100);
    bind(fixture, 100, 1 << 3);
    emu_activity_refresh(fixture->activity, 0);
    for (int i = 1; i <= 30; i++) {
        set_process(100, 'R', (uint64_t)i * 5 * MS, (uint64_t)i * 5 * MS);
        active += emu_activity_take(fixture->activity, 3, now, now + 10 * MS);
        now += 10 * MS;
    }
    assert_int_equal(active, 300 * MS);
    for (int i = 0; i < 5; i++) {
        set_process(100, 'S', 150 * MS, 150 * MS);
        active += emu_activity_take(fixture->activity, 3, now, now + 10 * MS);
        now += 10 * MS;
    }
    assert_int_equal(active, 300 * MS);
}

/* Looks in quick succession do not read the counters, and yet the sum is theirs. */
static void test_quick_succession(void **state)
{
    struct fixture *fixture = *state;
    uint64_t active = 0, now = 0;
    add_process(100, 100);
    bind(fixture, 100, 1 << 3);
    emu_activity_refresh(fixture->activity, 0);
    for (int i = 1; i <= 300; i++) {
        now = (uint64_t)i * MS / 10;
        set_process(100, 'S', i <= 200 ? now / 2 : 10 * MS, 0);
        active += emu_activity_take(fixture->activity, 3, now - MS / 10, now);
    }
    assert_int_equal(active, 10 * MS);
}

static void test_unbound_is_not_counted(void **state)
{
    struct fixture *fixture = *state;
    add_process(100, 100);
    emu_activity_refresh(fixture->activity, 0);
    for (int cpu = 0; cpu < 8; cpu++) {
        assert_int_equal(emu_activity_count(fixture->activity, cpu), 0);
    }
}

static void test_least_loaded(void **state)
{
    struct fixture *fixture = *state;
    emu_mask_t mask;
    int cpu;
    for (pid_t pid = 100; pid < 104; pid++) {
        add_process(pid, pid);
        bind(fixture, pid, 0x0c); /* CPUs 2 and 3 */
        emu_activity_refresh(fixture->activity, 0);
    }
    assert_int_equal(emu_activity_count(fixture->activity, 2), 2);
    assert_int_equal(emu_activity_count(fixture->activity, 3), 2);
    assert_true(emu_affinity_get(fixture->table, 101, &mask, &cpu));
    assert_int_equal(cpu, 3);
    bind(fixture, 101, 0x0f); /* still allowed where it is: it stays */
    emu_activity_refresh(fixture->activity, 0);
    assert_int_equal(emu_activity_count(fixture->activity, 3), 2);
}

/* What was active before the move is charged to the old CPU. */
static void test_move(void **state)
{
    struct fixture *fixture = *state;
    add_process(100, 100);
    bind(fixture, 100, 1 << 0);
    emu_activity_refresh(fixture->activity, 0);
    set_process(100, 'S', 5 * MS, 0);
    bind(fixture, 100, 1 << 7);
    emu_activity_refresh(fixture->activity, 10 * MS);
    set_process(100, 'S', 6 * MS, 0);
    assert_int_equal(emu_activity_take(fixture->activity, 0, 0, 20 * MS), 5 * MS);
    assert_int_equal(emu_activity_take(fixture->activity, 7, 0, 20 * MS), 1 * MS);
}

static void test_death(void **state)
{
    struct fixture *fixture = *state;
    emu_mask_t mask;
    add_process(100, 100);
    add_process(200, 200);
    bind(fixture, 100, 1 << 1);
    bind(fixture, 200, 1 << 1);
    emu_activity_refresh(fixture->activity, 0);
    set_process(100, 'Z', 5 * MS, 0); /* ended, not yet waited for */
    emu_activity_take(fixture->activity, 1, 0, 10 * MS);
    emu_activity_refresh(fixture->activity, 10 * MS);
    assert_int_equal(emu_activity_count(fixture->activity, 1), 1);
    assert_false(emu_affinity_get(fixture->table, 100, &mask, NULL));
    remove_process(100);
    /* a process that ended before anybody saw it leaves no entry either */
    bind(fixture, 300, 1 << 1);
    emu_activity_refresh(fixture->activity, SECOND);
    assert_false(emu_affinity_get(fixture->table, 300, &mask, NULL));
    assert_true(emu_affinity_get(fixture->table, 200, &mask, NULL));
}

/* A thread's own mask is kept, but only processes are placed. */
static void test_thread_entry(void **state)
{
    struct fixture *fixture = *state;
    add_process(101, 100);
    bind(fixture, 101, 1 << 5);
    emu_activity_refresh(fixture->activity, 0);
    assert_int_equal(emu_activity_count(fixture->activity, 5), 0);
}

static void test_table_full(void **state)
{
    struct fixture *fixture = *state;
    emu_mask_t mask = {{1}};
    for (pid_t tid = 1; tid <= EMU_AFFINITY_SLOTS; tid++) {
        assert_true(emu_affinity_set(fixture->table, tid, &mask));
    }
    assert_false(emu_affinity_set(fixture->table, EMU_AFFINITY_SLOTS + 1, &mask));
    emu_affinity_drop(fixture->table, 17);
    assert_true(emu_affinity_set(fixture->table, EMU_AFFINITY_SLOTS + 1, &mask));
    assert_true(emu_affinity_get(fixture->table, EMU_AFFINITY_SLOTS + 1, &mask, NULL));
    assert_false(emu_affinity_get(fixture->table, 17, &mask, NULL));
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
        WITH_PROC(test_unbound_is_not_counted),
        WITH_PROC(test_least_loaded),
        WITH_PROC(test_move),
        WITH_PROC(test_death),
        WITH_PROC(test_thread_entry),
        WITH_PROC(test_table_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
