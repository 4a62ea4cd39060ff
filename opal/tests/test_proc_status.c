/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The lines of /proc/<pid>/status that the library reads.
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "topo/proc_status.h"

static const char status_text[] = "Name:\tstress\n"
                                  "Umask:\t0022\n"
                                  "State:\tR (running)\n"
                                  "Tgid:\t1234\n"
                                  "Ngid:\t0\n"
                                  "Pid:\t1240\n"
                                  "PPid:\t77\n"
                                  "TracerPid:\t0\n"
                                  "Uid:\t1001\t0\t0\t0\n"
                                  "Gid:\t100\t100\t100\t100\n"
                                  "VmPeak:\t    2928 kB\n"
                                  "VmSize:\t    2928 kB\n"
                                  "Threads:\t1\n"
                                  "Cpus_allowed:\tf\n"
                                  "Cpus_allowed_list:\t0-2,5\n"
                                  "Mems_allowed_list:\t0\n";

static pwr_status_t parse(const char *text, size_t size, pwr_proc_status_t *status)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, size, "r");
    assert_non_null(stream);
    pwr_status_t result = pwr_proc_status_parse(stream, status);
    fclose(stream);
    return result;
}

static void test_status(void **state)
{
    pwr_proc_status_t status;
    (void)state;
    assert_int_equal(parse(status_text, strlen(status_text), &status), PWR_OK);
    assert_string_equal(status.name, "stress");
    assert_int_equal(status.pid, 1234);
    assert_int_equal(status.parent, 77);
    assert_int_equal(status.uid, 1001);
    assert_true(status.has_memory);
    assert_int_equal(pwr_cpuset_next(&status.allowed, 2), 5);
    assert_int_equal(pwr_cpuset_next(&status.allowed, 5), -1);
}

static void test_every_cut_of_a_status(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof status_text - 1; size++) {
        pwr_proc_status_t status = {.pid = 5};
        char *copy = malloc(size > 0 ? size : 1);
        assert_non_null(copy);
        memcpy(copy, status_text, size);
        if (parse(copy, size, &status) != PWR_OK) {
            assert_int_equal(status.pid, 5);
        }
        free(copy);
    }
}

static void test_malformed_status(void **state)
{
    static const struct {
        const char *text;
        pwr_status_t result;
    } cases[] = {
        {"", PWR_ERR_UNSUPPORTED},
        {"Tgid:\t1\nPPid:\t0\nUid:\t0\t0\n", PWR_ERR_UNSUPPORTED},
        {"Tgid:\tx\nPPid:\t0\nUid:\t0\nCpus_allowed_list:\t0\n", PWR_ERR_PARSE},
        {"Tgid:\t1\nPPid:\t-1\nUid:\t0\nCpus_allowed_list:\t0\n", PWR_ERR_PARSE},
        {"Tgid:\t1\nPPid:\t0\nUid:\t4294967296\nCpus_allowed_list:\t0\n", PWR_ERR_PARSE},
        {"Tgid:\t1\nPPid:\t0\nUid:\t0\nCpus_allowed_list:\t3-0\n", PWR_ERR_PARSE},
        {"Tgid:\t1\nPPid:\t0\nUid:\t0\nCpus_allowed_list:\t9999\n", PWR_ERR_RANGE},
        {"Tgid 1\nPPid:\t0\nUid:\t0\nCpus_allowed_list:\t0\n", PWR_ERR_UNSUPPORTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pwr_proc_status_t status;
        assert_int_equal(parse(cases[i].text, strlen(cases[i].text), &status), cases[i].result);
    }
}

static void test_name_cannot_act_on_a_terminal(void **state)
{
    static const char text[] = "Name:\tev\033[2Jil\nTgid:\t1\nPPid:\t0\nUid:\t0\n"
                               "Cpus_allowed_list:\t0\n";
    pwr_proc_status_t status;
    (void)state;
    assert_int_equal(parse(text, strlen(text), &status), PWR_OK);
    assert_string_equal(status.name, "ev?[2Jil");
}

static void test_real_status_of_this_process(void **state)
{
    pwr_proc_status_t status;
    cpu_set_t mask;
    int proc;
    (void)state;
    assert_int_equal(pwr_env_open(&pwr_env_real, "/proc", 0, &proc), PWR_OK);
    assert_int_equal(pwr_proc_status_read(proc, "self/status", &status), PWR_OK);
    close(proc);
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    assert_int_equal(status.pid, getpid());
    assert_int_equal(status.parent, getppid());
    assert_int_equal(status.uid, getuid());
    assert_true(status.has_memory);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        /* sched_getaffinity leaves out what is offline. */
        assert_true(!CPU_ISSET(cpu, &mask) || pwr_cpuset_has(&status.allowed, cpu));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_every_cut_of_a_status),
        cmocka_unit_test(test_malformed_status),
        cmocka_unit_test(test_name_cannot_act_on_a_terminal),
        cmocka_unit_test(test_real_status_of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
