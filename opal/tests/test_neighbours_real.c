/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who else is bound to our CPUs, with real processes on this machine.
 */
#include "config.h"

#include "fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr/neighbours.h"

/* A child that is bound to cpu, orphaned when detached is set, and sleeps until it is killed. */
static pid_t start_bound(int cpu, bool detached)
{
    int ready[2];
    pid_t pid;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        cpu_set_t one;
        if (detached && fork() != 0) {
            _exit(0);
        }
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pid = getpid();
        if (sched_setaffinity(0, sizeof one, &one) != 0 ||
            write(ready[1], &pid, sizeof pid) != (ssize_t)sizeof pid) {
            _exit(1);
        }
        alarm(600);
        for (;;) {
            pause();
        }
    }
    if (detached) {
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &pid, sizeof pid), sizeof pid);
    close(ready[0]);
    return pid;
}

typedef struct real_case {
    cpu_set_t before;
    int cpu;
    pwr_topo_t *topo;
} real_case_t;

/* Binds this process to the last of its CPUs, where other tests are rarer. */
static void bind_to_one(real_case_t *real)
{
    cpu_set_t one;
    assert_int_equal(sched_getaffinity(0, sizeof real->before, &real->before), 0);
    if (CPU_COUNT(&real->before) < 2) {
        print_message("needs two CPUs\n");
        skip();
    }
    real->cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(real->cpu, &real->before)) {
        real->cpu--;
    }
    CPU_ZERO(&one);
    CPU_SET(real->cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pwr_topo_open(&pwr_env_real, &real->topo), PWR_OK);
}

static void unbind(real_case_t *real)
{
    pwr_topo_close(real->topo);
    assert_int_equal(sched_setaffinity(0, sizeof real->before, &real->before), 0);
}

static bool real_scan_finds(const real_case_t *real, pid_t pid)
{
    pwr_neighbours_t result;
    assert_int_equal(pwr_neighbours_scan(&pwr_env_real, real->topo, &result), PWR_OK);
    assert_int_equal(result.unseen & PWR_UNSEEN_BINDING, 0);
    return result.found && result.pid == (unsigned)pid;
}

static void test_real_competitor(void **state)
{
    real_case_t real;
    (void)state;
    bind_to_one(&real);
    pid_t orphan = start_bound(real.cpu, true);
    pwr_neighbours_t result;
    assert_int_equal(pwr_neighbours_scan(&pwr_env_real, real.topo, &result), PWR_OK);
    /* Somebody else's process with a lower number may be bound there, too. */
    assert_true(result.found);
    assert_int_equal(result.cpu, real.cpu);
    kill(orphan, SIGKILL);
    unbind(&real);
}

static void test_real_child_is_family(void **state)
{
    real_case_t real;
    (void)state;
    bind_to_one(&real);
    pid_t child = start_bound(real.cpu, false);
    assert_false(real_scan_finds(&real, child));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    unbind(&real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_competitor),
        cmocka_unit_test(test_real_child_is_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
