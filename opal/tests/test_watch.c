/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Changes of the binding and computing threads, told by an invented kernel.
 */
#include "config.h"

#include "fixture.h"

#include <string.h>

#include "topo/watch.h"

/* Time in milliseconds, and what the kernel answers at it. */
typedef struct invented {
    uint64_t now_ms;
    uint64_t process_ms;
    uint64_t thread_ms;
    const char *mask; /* NULL: the call fails */
    unsigned calls;
    pwr_env_t env;
    pwr_topo_t *topo;
    pwr_watch_t watch;
} invented_t;

static uint64_t now_ns(void *arg)
{
    return ((invented_t *)arg)->now_ms * 1000000;
}

static uint64_t process_cpu_ns(void *arg)
{
    ((invented_t *)arg)->calls++;
    return ((invented_t *)arg)->process_ms * 1000000;
}

static uint64_t thread_cpu_ns(void *arg)
{
    ((invented_t *)arg)->calls++;
    return ((invented_t *)arg)->thread_ms * 1000000;
}

static bool affinity(void *arg, pwr_cpuset_t *set)
{
    invented_t *kernel = arg;
    kernel->calls++;
    if (!kernel->mask) {
        return false;
    }
    assert_int_equal(pwr_cpulist_parse(kernel->mask, strlen(kernel->mask), set), PWR_OK);
    return true;
}

static const pwr_watch_kernel_t invented_kernel = {
    .process_cpu_ns = process_cpu_ns, .thread_cpu_ns = thread_cpu_ns, .affinity = affinity};

/* Eight CPUs, of which 2 and 3 are ours. */
static void open_watch(fixture_t *fixture, invented_t *kernel)
{
    *kernel = (invented_t){.now_ms = 1000, .process_ms = 500, .thread_ms = 300, .mask = "2-3"};
    kernel->env = fixture->env;
    kernel->env.now_ns = now_ns;
    kernel->env.arg = kernel;
    kernel->topo = fixture_topo(fixture, NULL, "2-3");
    kernel->watch = pwr_watch_init(&kernel->env, kernel->topo, &invented_kernel);
}

static void close_watch(invented_t *kernel)
{
    pwr_topo_close(kernel->topo);
}

/* ---- binding ---- */

static void test_bindings(void **state)
{
    static const struct {
        const char *mask;
        pwr_binding_t binding;
        unsigned cpu;
    } cases[] = {
        {"2-3", PWR_BINDING_SAME, 77},    {"3", PWR_BINDING_SHRUNK, 2},
        {"2", PWR_BINDING_SHRUNK, 3},     {"2-4", PWR_BINDING_MOVED, 4},
        {"0", PWR_BINDING_MOVED, 0},      {"1-2", PWR_BINDING_MOVED, 1},
        {"0-7", PWR_BINDING_MOVED, 0},    {"2-3", PWR_BINDING_SAME, 77}, /* it came back */
        {"2-3,99", PWR_BINDING_SAME, 77}, {"", PWR_BINDING_SHRUNK, 2},
        {NULL, PWR_BINDING_UNKNOWN, 77},
    };
    invented_t kernel;
    open_watch(*state, &kernel);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned cpu = 77;
        kernel.mask = cases[i].mask;
        kernel.calls = 0;
        assert_int_equal(pwr_watch_binding(&kernel.watch, &cpu), cases[i].binding);
        assert_int_equal(cpu, cases[i].cpu);
        assert_int_equal(pwr_watch_binding(&kernel.watch, NULL), cases[i].binding);
        assert_int_equal(kernel.calls, 2);
    }
    close_watch(&kernel);
}

static void expect_line(const invented_t *kernel, pwr_binding_t binding, const char *line)
{
    char text[256] = "x";
    pwr_watch_describe(&kernel->watch, binding, 3, text, sizeof text);
    assert_memory_equal(text, line, strlen(line));
    assert_true((text[0] == '\0') == (line[0] == '\0'));
}

static void test_lines(void **state)
{
    static const char online[] = "/sys/devices/system/cpu/cpu3/online";
    fixture_t *fixture = *state;
    invented_t kernel;
    open_watch(fixture, &kernel);
    expect_line(&kernel, PWR_BINDING_SAME, "");
    expect_line(&kernel, PWR_BINDING_MOVED, "this process may now run on CPU 3");
    expect_line(&kernel, PWR_BINDING_UNKNOWN, "the kernel does not tell");
    expect_line(&kernel, PWR_BINDING_SHRUNK, "CPU 3 was taken");
    fixture_put(fixture, online, "1\n");
    expect_line(&kernel, PWR_BINDING_SHRUNK, "CPU 3 was taken");
    fixture_put(fixture, online, "0\n");
    expect_line(&kernel, PWR_BINDING_SHRUNK, "CPU 3 of this process went offline");
    close_watch(&kernel);
}

/* ---- threads ---- */

/* One phase: how long it took, what this thread and what all others computed in it. */
static bool phase(invented_t *kernel, uint64_t held_ms, uint64_t own_ms, uint64_t others_ms,
                  double *others)
{
    pwr_watch_begin(&kernel->watch);
    kernel->now_ms += held_ms;
    kernel->thread_ms += own_ms;
    kernel->process_ms += own_ms + others_ms;
    return pwr_watch_end(&kernel->watch, others);
}

static void test_own_computing_is_none_of_it(void **state)
{
    invented_t kernel;
    open_watch(*state, &kernel);
    for (int i = 0; i < 50; i++) {
        assert_false(phase(&kernel, 100, 100, 0, NULL));
    }
    close_watch(&kernel);
}

static void test_computing_thread(void **state)
{
    invented_t kernel;
    double others = 0;
    open_watch(*state, &kernel);
    assert_true(phase(&kernel, 100, 100, 50, &others));
    assert_true(others > 0.49 && others < 0.51);
    assert_false(phase(&kernel, 100, 100, 0, NULL)); /* judged anew */
    assert_true(phase(&kernel, 100, 0, 300, &others));
    close_watch(&kernel);
}

static void test_five_percent(void **state)
{
    invented_t kernel;
    double others = 77;
    open_watch(*state, &kernel);
    assert_false(phase(&kernel, 600, 600, 30, &others));
    assert_true(others > 76);
    assert_true(phase(&kernel, 100, 100, 6, &others));
    close_watch(&kernel);
}

/* Each phase is shorter than a tick; together they tell. */
static void test_short_phases_add_up(void **state)
{
    invented_t kernel;
    open_watch(*state, &kernel);
    for (int i = 0; i < 10; i++) {
        assert_false(phase(&kernel, 1, 1, 1, NULL));
        kernel.now_ms += 50; /* in between everybody may compute */
        kernel.process_ms += 200;
    }
    assert_true(phase(&kernel, 1, 1, 1, NULL));
    close_watch(&kernel);
}

/* What was little in one second does not count against the next one. */
static void test_seconds_are_judged_apart(void **state)
{
    invented_t kernel;
    open_watch(*state, &kernel);
    assert_false(phase(&kernel, 1000, 0, 50, NULL));
    assert_false(phase(&kernel, 100, 0, 10, NULL));
    close_watch(&kernel);
}

/* CPU times of several threads are no snapshot: the sum may lag behind its parts. */
static void test_sum_that_lags_behind(void **state)
{
    invented_t kernel;
    open_watch(*state, &kernel);
    pwr_watch_begin(&kernel.watch);
    kernel.now_ms += 100;
    kernel.thread_ms += 100;
    kernel.process_ms += 90;
    assert_false(pwr_watch_end(&kernel.watch, NULL));
    close_watch(&kernel);
}

static void test_end_without_begin(void **state)
{
    invented_t kernel;
    open_watch(*state, &kernel);
    kernel.now_ms += 100;
    kernel.process_ms += 100;
    assert_false(pwr_watch_end(&kernel.watch, NULL));
    assert_int_equal(kernel.calls, 0);
    assert_true(phase(&kernel, 100, 0, 100, NULL));
    assert_int_equal(kernel.calls, 4);
    kernel.process_ms += 100;
    assert_false(pwr_watch_end(&kernel.watch, NULL));
    close_watch(&kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_bindings),
        FIXTURE_TEST(test_lines),
        FIXTURE_TEST(test_own_computing_is_none_of_it),
        FIXTURE_TEST(test_computing_thread),
        FIXTURE_TEST(test_five_percent),
        FIXTURE_TEST(test_short_phases_add_up),
        FIXTURE_TEST(test_seconds_are_judged_apart),
        FIXTURE_TEST(test_sum_that_lags_behind),
        FIXTURE_TEST(test_end_without_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
