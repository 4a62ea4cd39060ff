/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Changes of the binding and computing threads, by this machine's kernel.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "topo/watch.h"

enum { SKIPPED = 77 };

typedef struct real_case {
    cpu_set_t before;
    int cpus[2]; /* two of ours */
    pwr_topo_t *topo;
    pwr_watch_t watch;
} real_case_t;

static void bind_to(int first, int second)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    CPU_SET(second, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

/* False on a machine with fewer than two CPUs for us. */
static bool find_two(real_case_t *real)
{
    int found = 0;
    assert_int_equal(sched_getaffinity(0, sizeof real->before, &real->before), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
        if (CPU_ISSET(cpu, &real->before)) {
            real->cpus[found++] = cpu;
        }
    }
    return found == 2;
}

static void begin(real_case_t *real, int first, int second)
{
    bind_to(first, second);
    assert_int_equal(pwr_topo_open(&pwr_env_real, &real->topo), PWR_OK);
    real->watch = pwr_watch_init(&pwr_env_real, real->topo, NULL);
}

static void end(real_case_t *real)
{
    pwr_topo_close(real->topo);
    assert_int_equal(sched_setaffinity(0, sizeof real->before, &real->before), 0);
}

static void test_bound_anew(void **state)
{
    real_case_t real;
    unsigned cpu = UINT_MAX;
    (void)state;
    if (!find_two(&real)) {
        print_message("needs two CPUs\n");
        skip();
    }
    int *cpus = real.cpus;
    begin(&real, cpus[0], cpus[1]);
    assert_int_equal(pwr_watch_binding(&real.watch, &cpu), PWR_BINDING_SAME);
    bind_to(cpus[0], cpus[0]);
    assert_int_equal(pwr_watch_binding(&real.watch, &cpu), PWR_BINDING_SHRUNK);
    assert_int_equal(cpu, cpus[1]);
    bind_to(cpus[0], cpus[1]);
    assert_int_equal(pwr_watch_binding(&real.watch, &cpu), PWR_BINDING_SAME);
    end(&real);
    begin(&real, cpus[0], cpus[0]);
    bind_to(cpus[1], cpus[1]);
    assert_int_equal(pwr_watch_binding(&real.watch, &cpu), PWR_BINDING_MOVED);
    assert_int_equal(cpu, cpus[1]);
    end(&real);
}

/* ---- a cpuset that shrinks ---- */

static bool write_file(const char *folder, const char *file, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) {
        close(fd);
    }
    return written;
}

static bool set_cpus(const char *cpuset, int first, int second)
{
    char text[32];
    snprintf(text, sizeof text, "%d,%d", first, second);
    return write_file(cpuset, "cpuset.cpus", text);
}

/* In a child, which never leaves the cpuset again. */
static int watch_shrinking_cpuset(real_case_t *real, const char *cpuset)
{
    char pid[32];
    unsigned cpu;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (!set_cpus(cpuset, real->cpus[0], real->cpus[1]) ||
        (!write_file(cpuset, "cpuset.mems", "0") && errno != EACCES) ||
        !write_file(cpuset, "cgroup.procs", pid)) {
        return SKIPPED;
    }
    begin(real, real->cpus[0], real->cpus[1]);
    if (pwr_watch_binding(&real->watch, &cpu) != PWR_BINDING_SAME) {
        return 1;
    }
    if (!set_cpus(cpuset, real->cpus[0], real->cpus[0])) {
        return 2;
    }
    if (pwr_watch_binding(&real->watch, &cpu) != PWR_BINDING_SHRUNK ||
        cpu != (unsigned)real->cpus[1]) {
        return 3;
    }
    if (!set_cpus(cpuset, real->cpus[1], real->cpus[1])) {
        return 4;
    }
    if (pwr_watch_binding(&real->watch, &cpu) != PWR_BINDING_SHRUNK ||
        cpu != (unsigned)real->cpus[0]) {
        return 5;
    }
    pwr_topo_close(real->topo);
    return 0;
}

static void test_shrinking_cpuset(void **state)
{
    /* Where version 2 or 1 of cgroups has its cpusets. */
    static const char *const bases[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"};
    real_case_t real;
    int result = SKIPPED;
    (void)state;
    if (!find_two(&real)) {
        print_message("needs two CPUs\n");
        skip();
    }
    for (size_t i = 0; i < 2 && result == SKIPPED; i++) {
        char cpuset[96];
        int status;
        snprintf(cpuset, sizeof cpuset, "%s/pwr-test-%ld", bases[i], (long)getpid());
        if (mkdir(cpuset, 0755) != 0) {
            continue;
        }
        pid_t child = fork();
        if (child == 0) {
            _exit(watch_shrinking_cpuset(&real, cpuset));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        rmdir(cpuset);
        assert_true(WIFEXITED(status));
        result = WEXITSTATUS(status);
    }
    if (result == SKIPPED) {
        print_message("needs a cgroup in which cpusets may be made\n");
        skip();
    }
    assert_int_equal(result, 0);
}

/* ---- threads ---- */

static uint64_t cpu_ns(clockid_t clock)
{
    struct timespec now;
    assert_int_equal(clock_gettime(clock, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef struct beside {
    atomic_bool stop;
    sem_t stopped;
    clockid_t clock; /* of the thread that is to compute */
} beside_t;

static void *compute(void *arg)
{
    beside_t *beside = arg;
    while (!atomic_load_explicit(&beside->stop, memory_order_relaxed)) { /* set by the test's */
    }
    return NULL;
}

static void *sleep_until_stopped(void *arg)
{
    beside_t *beside = arg;
    while (sem_wait(&beside->stopped) != 0) {
    }
    return NULL;
}

static uint64_t now_ns(void *arg)
{
    return cpu_ns(((beside_t *)arg)->clock);
}

/* Holds while the other thread computes for 50 ms, or this one while the other sleeps; returns what
   the watch says.  Its clock is the CPU time of the one that computes: however seldom a busy
   machine lets that run, it does so all of the time. */
static bool hold_beside(void *(*body)(void *))
{
    const uint64_t enough_ns = 50000000;
    beside_t beside = {.clock = CLOCK_THREAD_CPUTIME_ID};
    pwr_env_t env = pwr_env_real;
    pthread_t thread;
    pwr_topo_t *topo;
    pwr_watch_t watch;
    env.now_ns = now_ns;
    env.arg = &beside;
    assert_int_equal(sem_init(&beside.stopped, 0, 0), 0);
    assert_int_equal(pwr_topo_open(&pwr_env_real, &topo), PWR_OK);
    watch = pwr_watch_init(&env, topo, NULL);
    assert_int_equal(pthread_create(&thread, NULL, body, &beside), 0);
    if (body == compute) {
        assert_int_equal(pthread_getcpuclockid(thread, &beside.clock), 0);
    }
    uint64_t start = cpu_ns(beside.clock);
    pwr_watch_begin(&watch);
    while (cpu_ns(beside.clock) - start <= enough_ns) {
    }
    bool found = pwr_watch_end(&watch, NULL);
    atomic_store_explicit(&beside.stop, true, memory_order_relaxed); /* read by the thread */
    assert_int_equal(sem_post(&beside.stopped), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sem_destroy(&beside.stopped);
    pwr_topo_close(topo);
    return found;
}

static void test_thread_that_computes(void **state)
{
    (void)state;
    assert_true(hold_beside(compute));
}

static void test_thread_that_sleeps(void **state)
{
    (void)state;
    assert_false(hold_beside(sleep_until_stopped));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_anew),
        cmocka_unit_test(test_shrinking_cpuset),
        cmocka_unit_test(test_thread_that_computes),
        cmocka_unit_test(test_thread_that_sleeps),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
