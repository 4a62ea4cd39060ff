/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian: what it restores, when, and what it never does.
 */
#include "config.h"

#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/control.h"
#include "pwr/clock.h"

enum { FOUND = 3000000, LOWER = 1200000, THEIRS = 2000000 };

static void put_lever(fixture_t *fixture, unsigned khz)
{
    char text[16];
    snprintf(text, sizeof text, "%u\n", khz);
    fixture_put_cpufreq_file(fixture, 0, "scaling_max_freq", text);
}

static unsigned long lever(const fixture_t *fixture)
{
    return fixture_get_khz(fixture, 0, "scaling_max_freq");
}

static bool is_restored(const fixture_t *fixture)
{
    return lever(fixture) == FOUND;
}

/* Tells the guardian what a careful client tells before it writes LOWER. */
static pwr_status_t tell(fixture_t *fixture, pwr_guard_t *guard)
{
    pwr_control_t control;
    fixture_open_ceiling(fixture, 0, &control);
    pwr_status_t status = pwr_guard_remember(guard, &control, FOUND);
    if (status == PWR_OK) {
        status = pwr_guard_announce(guard, &control, LOWER);
    }
    control.access->close(&control);
    return status;
}

/* A guardian that knows of the lever, which is at FOUND. */
static pwr_guard_t *guard_lever(fixture_t *fixture)
{
    put_lever(fixture, FOUND);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(tell(fixture, guard), PWR_OK);
    return guard;
}

/* A client that hands FOUND over, writes LOWER and then does what end says. */
typedef enum client_end { LIVES, EXITS, LEAVES_A_CHILD } client_end_t;

typedef struct client {
    pid_t pid;
    pid_t guardian;
    int output;  /* reads what the client and all who inherit from it write */
    int release; /* closing it lets a child that the client left behind end */
} client_t;

static void run_client(fixture_t *fixture, int report, int release, client_end_t end)
{
    pwr_guard_t *guard = fixture_guard(fixture);
    pid_t guardian = pwr_guard_pid(guard);
    bool safe = tell(fixture, guard) == PWR_OK;
    put_lever(fixture, LOWER);
    if (end == LEAVES_A_CHILD && fork() == 0) {
        /* Holds the guardian's socket open, as a child of an application would. */
        char byte;
        close(report);
        _exit(read(release, &byte, 1) == 0 ? 0 : 1);
    }
    if (!safe || write(report, &guardian, sizeof guardian) != (ssize_t)sizeof guardian) {
        _exit(1);
    }
    if (end == LIVES) {
        pause();
    }
    _exit(0);
}

static client_t start_client(fixture_t *fixture, client_end_t end)
{
    client_t client;
    int report[2], release[2];
    put_lever(fixture, FOUND);
    assert_int_equal(pipe(report), 0);
    assert_int_equal(pipe(release), 0);
    client.pid = fork();
    assert_true(client.pid >= 0);
    if (client.pid == 0) {
        close(report[0]);
        close(release[1]);
        run_client(fixture, report[1], release[0], end);
    }
    close(report[1]);
    close(release[0]);
    client.release = release[1];
    assert_int_equal(read(report[0], &client.guardian, sizeof client.guardian),
                     sizeof client.guardian);
    client.output = report[0];
    return client;
}

static void forget_client(const client_t *client)
{
    close(client->output);
    close(client->release);
}

static void test_killed_client_is_restored(void **state)
{
    client_t client = start_client(*state, LIVES);
    assert_int_equal(lever(*state), LOWER);
    assert_int_equal(kill(client.pid, SIGKILL), 0);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    assert_true(fixture_eventually(is_restored, *state));
    forget_client(&client);
}

/* Gang scheduling: others have the CPU while it is stopped. */
static void test_stopped_client_is_restored_and_still_guarded(void **state)
{
    client_t client = start_client(*state, LIVES);
    assert_int_equal(kill(client.pid, SIGSTOP), 0);
    assert_true(fixture_eventually(is_restored, *state));
    put_lever(*state, LOWER); /* as it may do itself, once it goes on */
    assert_int_equal(kill(client.pid, SIGCONT), 0);
    assert_int_equal(kill(client.pid, SIGKILL), 0);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    assert_true(fixture_eventually(is_restored, *state));
    forget_client(&client);
}

static void test_exit_without_farewell_is_restored(void **state)
{
    client_t client = start_client(*state, EXITS);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    assert_true(fixture_eventually(is_restored, *state));
    forget_client(&client);
}

static void test_child_of_the_client_does_not_hold_the_guardian_up(void **state)
{
    client_t client = start_client(*state, LEAVES_A_CHILD);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    assert_true(fixture_eventually(is_restored, *state));
    forget_client(&client);
}

/* Launchers end a job by signalling its processes; the guardian has to outlive that. */
static void test_job_signals_do_not_end_the_guardian(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    client_t client = start_client(*state, LIVES);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        assert_int_equal(kill(client.guardian, signals[i]), 0);
    }
    assert_int_equal(kill(client.pid, SIGKILL), 0);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    assert_true(fixture_eventually(is_restored, *state));
    forget_client(&client);
}

static uint64_t read_jumping_clock(void *arg)
{
    (void)arg;
    static uint64_t clock_ns;
    clock_ns += UINT64_C(1000) * PWR_NS_PER_S;
    return clock_ns;
}

/* The whole job was stopped, or the machine: the guardian has had no more time than its client. */
static void test_a_clock_that_jumps_is_not_the_guardians_fault(void **state)
{
    fixture_t *fixture = *state;
    pwr_env_t env = fixture->env;
    fixture->env.now_ns = read_jumping_clock;
    pwr_guard_t *guard = guard_lever(fixture);
    put_lever(fixture, LOWER);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_restored, fixture));
    fixture->env = env;
}

/* The client's pipes: end of file has to come while the guardian still lives. */
static void test_guardian_keeps_no_pipe_open(void **state)
{
    char byte;
    client_t client = start_client(*state, LIVES);
    assert_int_equal(kill(client.guardian, SIGSTOP), 0);
    assert_int_equal(kill(client.pid, SIGKILL), 0);
    assert_int_equal(waitpid(client.pid, NULL, 0), client.pid);
    assert_int_equal(read(client.output, &byte, 1), 0);
    assert_int_equal(kill(client.guardian, SIGCONT), 0);
    assert_true(fixture_eventually(is_restored, *state));
    forget_client(&client);
}

static void test_guardian_is_in_a_session_of_its_own_and_nobodys_child(void **state)
{
    pwr_guard_t *guard = fixture_guard(*state);
    pid_t guardian = pwr_guard_pid(guard);
    assert_int_not_equal(getsid(guardian), getsid(0));
    assert_int_not_equal(getpgid(guardian), getpgrp());
    assert_int_equal(waitpid(guardian, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    pwr_guard_stop(guard);
}

/* Bound there it would slow its client down, and look to others like one more owner. */
static void test_guardian_leaves_its_clients_cpu(void **state)
{
    cpu_set_t all, one, its;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) {
        skip(); /* nowhere to go */
    }
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pwr_guard_t *guard = fixture_guard(*state);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(sched_getaffinity(pwr_guard_pid(guard), sizeof its, &its), 0);
    CPU_AND(&its, &its, &all);
    assert_true(CPU_EQUAL(&its, &all));
    pwr_guard_stop(guard);
}

static void test_farewell_writes_nothing(void **state)
{
    pwr_guard_t *guard = guard_lever(*state);
    put_lever(*state, LOWER);
    pwr_guard_stop(guard);
    pwr_guard_stop(NULL);
    /* It has closed its socket, so all that it would write is written. */
    assert_int_equal(lever(*state), LOWER);
}

static void test_abandon_restores_while_the_client_lives(void **state)
{
    pwr_guard_t *guard = guard_lever(*state);
    put_lever(*state, LOWER);
    pwr_guard_abandon(guard);
    pwr_guard_abandon(NULL);
    assert_true(fixture_eventually(is_restored, *state));
}

/* Waits until the guardian has ended, and so has written all that it would. */
static void abandon_and_wait(pwr_guard_t *guard)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    pid_t guardian = pwr_guard_pid(guard);
    pwr_guard_abandon(guard);
    while (kill(guardian, 0) == 0) {
        nanosleep(&pause, NULL);
    }
}

static void test_somebody_elses_value_stays(void **state)
{
    pwr_guard_t *guard = guard_lever(*state);
    put_lever(*state, THEIRS);
    abandon_and_wait(guard);
    assert_int_equal(lever(*state), THEIRS);
}

/* A ceiling that was lowered by others while we held nothing is what goes back. */
static void test_a_new_original_replaces_the_old_one(void **state)
{
    fixture_t *fixture = *state;
    pwr_control_t control;
    pwr_guard_t *guard = guard_lever(fixture);
    fixture_open_ceiling(fixture, 0, &control);
    assert_int_equal(pwr_guard_remember(guard, &control, THEIRS), PWR_OK);
    put_lever(fixture, LOWER);
    abandon_and_wait(guard);
    assert_int_equal(lever(fixture), THEIRS);
    control.access->close(&control);
}

static void test_announcing_needs_an_original(void **state)
{
    fixture_t *fixture = *state;
    pwr_control_t control;
    put_lever(fixture, FOUND);
    pwr_guard_t *guard = fixture_guard(fixture);
    fixture_open_ceiling(fixture, 0, &control);
    assert_int_equal(pwr_guard_announce(guard, &control, LOWER), PWR_ERR_ARG);
    control.access->close(&control);
    pwr_guard_stop(guard);
}

enum { MANY = 300 };

static bool are_all_restored(const fixture_t *fixture)
{
    for (unsigned cpu = 0; cpu < MANY; cpu++) {
        if (fixture_get_khz(fixture, cpu, "scaling_max_freq") != FOUND + cpu) {
            return false;
        }
    }
    return true;
}

static void test_many_controls(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = fixture_guard(fixture);
    for (unsigned cpu = 0; cpu < MANY; cpu++) {
        pwr_control_t control;
        fixture_put_cpufreq_file(fixture, cpu, "scaling_max_freq", "1200000\n");
        fixture_open_ceiling(fixture, cpu, &control);
        assert_int_equal(pwr_guard_remember(guard, &control, FOUND + cpu), PWR_OK);
        assert_int_equal(pwr_guard_announce(guard, &control, LOWER), PWR_OK);
        control.access->close(&control);
    }
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(are_all_restored, fixture));
}

static void test_a_control_that_is_gone_does_not_stop_the_others(void **state)
{
    fixture_t *fixture = *state;
    pwr_control_t control;
    pwr_guard_t *guard = fixture_guard(fixture);
    fixture_put_cpufreq_file(fixture, 7, "scaling_max_freq", "3000000\n");
    fixture_open_ceiling(fixture, 7, &control);
    assert_int_equal(pwr_guard_remember(guard, &control, FOUND), PWR_OK);
    control.access->close(&control);
    fixture_remove(fixture, "/sys/devices/system/cpu/cpu7/cpufreq/scaling_max_freq");
    put_lever(fixture, FOUND);
    assert_int_equal(tell(fixture, guard), PWR_OK);
    put_lever(fixture, LOWER);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_dead_guardian_is_an_error_and_no_signal(void **state)
{
    fixture_t *fixture = *state;
    put_lever(fixture, FOUND);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(kill(pwr_guard_pid(guard), SIGKILL), 0);
    assert_int_equal(tell(fixture, guard), PWR_ERR_IO);
    assert_int_equal(tell(fixture, guard), PWR_ERR_IO);
    assert_non_null(strstr(fixture->log, "is gone"));
    pwr_guard_stop(guard);
}

static void test_programs_that_are_no_guardian(void **state)
{
    fixture_t *fixture = *state;
    const pwr_guard_config_t config = {.run_directory = "/run"};
    pwr_guard_t *guard = NULL;
    fixture->env.helper_dir = "/none";
    assert_int_equal(pwr_guard_start(&fixture->env, &config, &guard), PWR_ERR_UNSUPPORTED);
    assert_non_null(strstr(fixture->log, "/none/poweraware-guard"));
    fixture->env.helper_dir = fixture->root;
    fixture_link(fixture, "/poweraware-guard", "/bin/true");
    assert_int_equal(pwr_guard_start(&fixture->env, &config, &guard), PWR_ERR_IO);
    assert_non_null(strstr(fixture->log, "did not report ready"));
    assert_null(guard);
}

/* Foreign descriptors of an application are rarely close-on-exec. */
static void test_guardian_inherits_no_descriptor(void **state)
{
    int pair[2];
    char byte;
    assert_int_equal(pipe(pair), 0);
    pwr_guard_t *guard = fixture_guard(*state);
    close(pair[1]);
    assert_int_equal(read(pair[0], &byte, 1), 0);
    close(pair[0]);
    pwr_guard_stop(guard);
}

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory)) {
        count++;
    }
    closedir(directory);
    return count;
}

static void test_no_descriptor_is_left(void **state)
{
    const pwr_guard_config_t config = {.run_directory = "/run"};
    fixture_t *fixture = *state;
    unsigned before = count_descriptors();
    pwr_guard_stop(fixture_guard(fixture));
    assert_int_equal(count_descriptors(), before);
    pwr_guard_abandon(fixture_guard(fixture));
    assert_int_equal(count_descriptors(), before);
    pwr_guard_t *guard = guard_lever(fixture);
    assert_int_equal(kill(pwr_guard_pid(guard), SIGKILL), 0);
    assert_int_equal(tell(fixture, guard), PWR_ERR_IO);
    assert_int_equal(pwr_guard_revive(guard), PWR_OK);
    pwr_guard_stop(guard);
    assert_int_equal(count_descriptors(), before);
    fixture->env.helper_dir = fixture->root;
    fixture_link(fixture, "/poweraware-guard", "/bin/true");
    assert_int_equal(pwr_guard_start(&fixture->env, &config, &guard), PWR_ERR_IO);
    assert_int_equal(count_descriptors(), before);
}

static void test_help(void **state)
{
    (void)state;
    assert_int_equal(system(FIXTURE_GUARD_PROGRAM " --help > /dev/null"), 0);
    int by_hand = system(FIXTURE_GUARD_PROGRAM " 2> /dev/null");
    assert_true(WIFEXITED(by_hand));
    assert_int_equal(WEXITSTATUS(by_hand), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_killed_client_is_restored),
        FIXTURE_TEST(test_stopped_client_is_restored_and_still_guarded),
        FIXTURE_TEST(test_exit_without_farewell_is_restored),
        FIXTURE_TEST(test_child_of_the_client_does_not_hold_the_guardian_up),
        FIXTURE_TEST(test_job_signals_do_not_end_the_guardian),
        FIXTURE_TEST(test_a_clock_that_jumps_is_not_the_guardians_fault),
        FIXTURE_TEST(test_guardian_keeps_no_pipe_open),
        FIXTURE_TEST(test_guardian_is_in_a_session_of_its_own_and_nobodys_child),
        FIXTURE_TEST(test_guardian_leaves_its_clients_cpu),
        FIXTURE_TEST(test_farewell_writes_nothing),
        FIXTURE_TEST(test_abandon_restores_while_the_client_lives),
        FIXTURE_TEST(test_somebody_elses_value_stays),
        FIXTURE_TEST(test_a_new_original_replaces_the_old_one),
        FIXTURE_TEST(test_announcing_needs_an_original),
        FIXTURE_TEST(test_many_controls),
        FIXTURE_TEST(test_a_control_that_is_gone_does_not_stop_the_others),
        FIXTURE_TEST(test_dead_guardian_is_an_error_and_no_signal),
        FIXTURE_TEST(test_programs_that_are_no_guardian),
        FIXTURE_TEST(test_guardian_inherits_no_descriptor),
        FIXTURE_TEST(test_no_descriptor_is_left),
        FIXTURE_TEST(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
