/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who else is bound to our CPUs, on invented process tables.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pwr/neighbours.h"
#include "topo/topo_private.h"

static void put_process(fixture_t *fixture, const char *folder, unsigned pid, unsigned parent,
                        const char *cpulist)
{
    char path[64];
    char text[256];
    snprintf(path, sizeof path, "/proc/%s/status", folder);
    snprintf(text, sizeof text,
             "Name:\tp%u\nTgid:\t%u\nPid:\t%u\nPPid:\t%u\nUid:\t%u\t0\t0\t0\nVmSize:\t1 kB\n"
             "Cpus_allowed_list:\t%s\n",
             pid, pid, pid, parent, 1000 + pid, cpulist);
    fixture_put(fixture, path, text);
}

static void put_pid(fixture_t *fixture, unsigned pid, unsigned parent, const char *cpulist)
{
    char folder[16];
    snprintf(folder, sizeof folder, "%u", pid);
    put_process(fixture, folder, pid, parent, cpulist);
}

/* Process 500 is ours, bound to CPU 2 of 8; 400 is the launcher and may run on all of them. */
static void put_job(fixture_t *fixture)
{
    put_pid(fixture, 1, 0, "0-127");
    put_pid(fixture, 400, 1, "0-7");
    put_pid(fixture, 500, 400, "2");
    put_process(fixture, "thread-self", 500, 400, "2");
    fixture_link(fixture, "/proc/self/ns/pid", "pid:[4026531836]");
    fixture_put(fixture, "/proc/meminfo", "MemTotal: 1 kB\n");
    fixture_put(fixture, "/proc/12ab/status", "not a process\n");
}

static pwr_status_t try_scan(fixture_t *fixture, const char *machine, const char *cpulist,
                             pwr_neighbours_t *result)
{
    pwr_topo_t *topo = fixture_topo(fixture, machine, cpulist);
    pwr_status_t status = pwr_neighbours_scan(&fixture->env, topo, result);
    pwr_topo_close(topo);
    return status;
}

static pwr_neighbours_t scan(fixture_t *fixture, const char *machine, const char *cpulist)
{
    pwr_neighbours_t result;
    assert_int_equal(try_scan(fixture, machine, cpulist, &result), PWR_OK);
    return result;
}

static void expect_line(const pwr_neighbours_t *result, const char *part)
{
    char line[256] = "x";
    pwr_neighbours_describe(result, line, sizeof line);
    assert_non_null(strstr(line, part));
    assert_true((line[0] == '\0') == (part[0] == '\0'));
}

static void test_alone(void **state)
{
    put_job(*state);
    pwr_neighbours_t result = scan(*state, NULL, "2");
    assert_false(result.found);
    assert_int_equal(result.unseen, 0);
    assert_int_equal(result.judged, 0);
    expect_line(&result, "");
}

static void test_unbound_and_elsewhere_is_no_competitor(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_pid(fixture, 600, 1, "0-7");
    put_pid(fixture, 601, 1, "0-127"); /* never bound: has CPUs that the machine has not */
    put_pid(fixture, 602, 400, "3");
    put_pid(fixture, 603, 1, "0-1,3-7");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_false(result.found);
    assert_int_equal(result.judged, 4);
}

/* The kernel keeps offline CPUs in a mask; the topology does not have them. */
static void test_own_mask_with_an_offline_cpu(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_process(fixture, "thread-self", 500, 400, "2,9");
    put_pid(fixture, 600, 1, "9");
    assert_false(scan(fixture, NULL, "2").found);
    put_pid(fixture, 601, 1, "2");
    assert_int_equal(scan(fixture, NULL, "2").pid, 601);
}

static void test_competitor(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_pid(fixture, 600, 1, "2");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_true(result.found);
    assert_int_equal(result.pid, 600);
    assert_int_equal(result.uid, 1600);
    assert_int_equal(result.cpu, 2);
    expect_line(&result, "process 600 (p600, user 1600) is bound to CPU 2, ours or an SMT "
                         "sibling of ours");
    put_pid(fixture, 600, 1, "0-3"); /* half of the machine is a binding, too */
    assert_true(scan(fixture, NULL, "2").found);
}

static void test_competitor_on_a_sibling(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_pid(fixture, 600, 1, "3");
    assert_false(scan(fixture, "package:1 core:8 pu:1", "2").found);
    pwr_neighbours_t result = scan(fixture, "package:1 core:4 pu:2", "2");
    assert_true(result.found);
    assert_int_equal(result.cpu, 3);
}

/* With a wrapper bound like us, the launcher still shows what "unbound" is. */
static void test_bound_wrapper(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_pid(fixture, 450, 400, "2");
    put_process(fixture, "thread-self", 500, 450, "2");
    put_pid(fixture, 500, 450, "2");
    put_pid(fixture, 600, 1, "0-7");
    assert_false(scan(fixture, NULL, "2").found);
    put_pid(fixture, 601, 1, "2");
    assert_int_equal(scan(fixture, NULL, "2").pid, 601);
}

static void test_own_family(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_pid(fixture, 510, 500, "2");
    put_pid(fixture, 511, 510, "2");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_false(result.found);
    assert_int_equal(result.judged, 2);
    put_pid(fixture, 512, 400, "2"); /* a sibling is not family */
    assert_int_equal(scan(fixture, NULL, "2").pid, 512);
}

static void test_kernel_threads_and_zombies(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    fixture_put(fixture, "/proc/9/status",
                "Name:\tksoftirqd/2\nState:\tS (sleeping)\nTgid:\t9\nPid:\t9\nPPid:\t2\n"
                "Uid:\t0\t0\t0\t0\nKthread:\t1\nCpus_allowed_list:\t2\n");
    fixture_put(fixture, "/proc/700/status",
                "Name:\tgone\nState:\tZ (zombie)\nTgid:\t700\nPid:\t700\nPPid:\t1\n"
                "Uid:\t0\t0\t0\t0\nKthread:\t0\nCpus_allowed_list:\t2\n");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_false(result.found);
    assert_int_equal(result.judged, 0);
}

/* A folder without a file is what is left of a process for a moment. */
static void test_processes_that_vanish(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    fixture_make_directory(fixture, "/proc/600");
    fixture_put(fixture, "/proc/601/status", "Name:\tcut\nTgid:\t601\n");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_false(result.found);
    assert_int_equal(result.unseen, 0);
}

/* A machine of 8 cores in the form of Linux' sysfs, and we are in a cgroup with CPUs 2-3. */
static void put_cpuset(fixture_t *fixture)
{
    static const char *const files[][2] = {
        {"/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"},
        {"/proc/self/cgroup", "0::/job\n"},
        {"/sys/fs/cgroup/cgroup.controllers", "cpuset\n"},
        {"/sys/fs/cgroup/job/cpuset.cpus.effective", "2-3\n"},
        {"/sys/devices/system/cpu/online", "0-7\n"},
        {"/sys/devices/system/cpu/possible", "0-7\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        fixture_put(fixture, files[i][0], files[i][1]);
    }
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        char path[96];
        char mask[16];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/core_cpus", cpu);
        snprintf(mask, sizeof mask, "%x\n", 1u << cpu);
        fixture_put(fixture, path, mask);
    }
}

/* The batch daemon may run on all 8 CPUs, the job's shell only on its cpuset. */
static void test_job_in_a_cpuset(void **state)
{
    fixture_t *fixture = *state;
    pwr_neighbours_t result;
    pwr_topo_t *topo;
    put_job(fixture);
    put_pid(fixture, 600, 1, "2-3");
    assert_true(scan(fixture, "package:1 core:8 pu:1", "2").found);
    put_cpuset(fixture);
    assert_int_equal(pwr_topo_open_with_binding(&fixture->env, "2", &topo), PWR_OK);
    assert_int_equal(pwr_neighbours_scan(&fixture->env, topo, &result), PWR_OK);
    assert_false(result.found);
    assert_int_equal(result.judged, 1);
    put_pid(fixture, 601, 1, "2");
    assert_int_equal(pwr_neighbours_scan(&fixture->env, topo, &result), PWR_OK);
    assert_int_equal(result.pid, 601);
    pwr_topo_close(topo);
}

/* As an emulator of affinities leaves /proc: every process has the machine's only real mask. */
static void test_virtual_binding(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    put_process(fixture, "thread-self", 500, 400, "0-1");
    put_pid(fixture, 600, 1, "0");
    put_pid(fixture, 601, 1, "2");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_false(result.found);
    assert_int_equal(result.unseen, PWR_UNSEEN_BINDING);
    expect_line(&result, "another binding");
    put_process(fixture, "thread-self", 500, 400, "2-3");
    assert_int_equal(scan(fixture, NULL, "2").unseen, PWR_UNSEEN_BINDING);
}

static void test_hidden_processes(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    fixture_remove(fixture, "/proc/1/status"); /* hidepid=2 shows nothing of root's */
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_int_equal(result.unseen, PWR_UNSEEN_HIDDEN);
    expect_line(&result, "hidepid");
}

static int scan_with_locked_process(fixture_t *fixture)
{
    pwr_neighbours_t result;
    pwr_status_t status = try_scan(fixture, NULL, "2", &result);
    return status == PWR_OK && !result.found && result.unseen == PWR_UNSEEN_HIDDEN ? 0 : 1;
}

static void test_locked_process(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    put_job(fixture);
    put_pid(fixture, 600, 1, "2");
    snprintf(name, sizeof name, "%s/proc/600/status", fixture->root);
    assert_int_equal(chmod(name, 0), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, scan_with_locked_process), 0);
}

static void test_container(void **state)
{
    fixture_t *fixture = *state;
    put_job(fixture);
    fixture_link(fixture, "/proc/self/ns/pid", "pid:[4026532001]");
    pwr_neighbours_t result = scan(fixture, NULL, "2");
    assert_int_equal(result.unseen, PWR_UNSEEN_OUTSIDE);
    expect_line(&result, "container");
}

static void test_unreadable_tables(void **state)
{
    fixture_t *fixture = *state;
    pwr_neighbours_t result = {.pid = 3};
    assert_int_equal(try_scan(fixture, NULL, "2", &result), PWR_ERR_UNSUPPORTED);
    put_job(fixture);
    fixture_put(fixture, "/proc/600/status",
                "Tgid:\t600\nPPid:\t1\nUid:\t0\nVmSize:\t1 kB\nCpus_allowed_list:\tmany\n");
    assert_int_equal(try_scan(fixture, NULL, "2", &result), PWR_ERR_PARSE);
    fixture_remove(fixture, "/proc/600/status");
    fixture_make_directory(fixture, "/proc/600/status");
    assert_int_equal(try_scan(fixture, NULL, "2", &result), PWR_ERR_IO);
    assert_int_equal(result.pid, 3);
}

/* A user in tens of thousands of groups: one line that is longer than any buffer. */
static void test_very_long_line(void **state)
{
    static const char head[] = "Name:\tgroupie\nTgid:\t600\nPPid:\t1\nUid:\t7\t7\nGroups:\t";
    static const char tail[] = "\nVmSize:\t1 kB\nCpus_allowed_list:\t2\n";
    enum { GROUPS_BYTES = 70000 };
    fixture_t *fixture = *state;
    put_job(fixture);
    for (size_t extra = 0; extra < 3; extra++) {
        char *text = malloc(sizeof head + GROUPS_BYTES + sizeof tail + extra);
        assert_non_null(text);
        memcpy(text, head, sizeof head - 1);
        memset(text + sizeof head - 1, '1', GROUPS_BYTES + extra);
        memcpy(text + sizeof head - 1 + GROUPS_BYTES + extra, tail, sizeof tail);
        fixture_put(fixture, "/proc/600/status", text);
        free(text);
        pwr_neighbours_t result = scan(fixture, NULL, "2");
        assert_true(result.found);
        assert_string_equal(result.name, "groupie");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_alone),
        FIXTURE_TEST(test_unbound_and_elsewhere_is_no_competitor),
        FIXTURE_TEST(test_own_mask_with_an_offline_cpu),
        FIXTURE_TEST(test_competitor),
        FIXTURE_TEST(test_competitor_on_a_sibling),
        FIXTURE_TEST(test_bound_wrapper),
        FIXTURE_TEST(test_own_family),
        FIXTURE_TEST(test_kernel_threads_and_zombies),
        FIXTURE_TEST(test_processes_that_vanish),
        FIXTURE_TEST(test_job_in_a_cpuset),
        FIXTURE_TEST(test_virtual_binding),
        FIXTURE_TEST(test_hidden_processes),
        FIXTURE_TEST(test_locked_process),
        FIXTURE_TEST(test_container),
        FIXTURE_TEST(test_unreadable_tables),
        FIXTURE_TEST(test_very_long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
