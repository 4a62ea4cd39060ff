/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian: what it restores, when, and what it never does.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pwr_guard_record_t text_record(const fixture_t *fixture, const char *path,
                                      const char *original, uint32_t priority)
{
    pwr_guard_record_t record = {.priority = priority, .size = (uint32_t)strlen(original)};
    assert_int_equal(pwr_env_path(&fixture->env, path, record.path, sizeof record.path), PWR_OK);
    memcpy(record.data, original, record.size);
    return record;
}

static bool has_content(const fixture_t *fixture, const char *path, const char *expected)
{
    char text[64];
    fixture_get(fixture, path, text, sizeof text);
    return strcmp(text, expected) == 0;
}

static bool is_restored(const fixture_t *fixture)
{
    return has_content(fixture, "/lever", "found\n");
}

/* A client that hands "found" over, writes "lower" and then does what end says. */
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
    pwr_guard_record_t record = text_record(fixture, "/lever", "found\n", 0);
    pid_t guardian = pwr_guard_pid(guard);
    bool safe = pwr_guard_remember(guard, &record) == PWR_OK;
    fixture_put(fixture, "/lever", "lower\n");
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
    fixture_put(fixture, "/lever", "found\n");
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
    assert_true(has_content(*state, "/lever", "lower\n"));
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

static void test_farewell_writes_nothing(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_record_t record = text_record(fixture, "/lever", "found\n", 0);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_OK);
    fixture_put(fixture, "/lever", "later\n");
    pwr_guard_stop(guard);
    pwr_guard_stop(NULL);
    /* It has closed its socket, so all that it would write is written. */
    assert_true(has_content(fixture, "/lever", "later\n"));
}

static void test_abandon_restores_while_the_client_lives(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_record_t record = text_record(fixture, "/lever", "found\n", 0);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_OK);
    fixture_put(fixture, "/lever", "lower\n");
    pwr_guard_abandon(guard);
    pwr_guard_abandon(NULL);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_first_value_is_the_original(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_record_t first = text_record(fixture, "/lever", "found\n", 0);
    pwr_guard_record_t second = text_record(fixture, "/lever", "wrong\n", 0);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(pwr_guard_remember(guard, &first), PWR_OK);
    assert_int_equal(pwr_guard_remember(guard, &second), PWR_OK);
    fixture_put(fixture, "/lever", "lower\n");
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_restored, fixture));
}

static bool is_ordered(const fixture_t *fixture)
{
    return has_content(fixture, "/lever", "last\n\n");
}

/* Two records of one file at different offsets overlap: the later write wins. */
static void test_priority_orders_the_restore(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_record_t late = text_record(fixture, "/lever", "last\n", 2);
    pwr_guard_record_t early = text_record(fixture, "/lever", "irst\n", 1);
    early.offset = 1;
    pwr_guard_t *guard = fixture_guard(fixture);
    fixture_put(fixture, "/lever", "xxxxxx");
    assert_int_equal(pwr_guard_remember(guard, &late), PWR_OK);
    assert_int_equal(pwr_guard_remember(guard, &early), PWR_OK);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_ordered, fixture));
}

static bool are_all_restored(const fixture_t *fixture)
{
    for (uint64_t cpu = 0; cpu < 300; cpu++) {
        if (fixture_get_msr(fixture, 0, "msr", 8 * cpu) != cpu + 1) {
            return false;
        }
    }
    return true;
}

static void test_many_records_and_binary_offsets(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = fixture_guard(fixture);
    for (uint64_t cpu = 0; cpu < 300; cpu++) {
        pwr_guard_record_t record = {.offset = 8 * cpu, .size = sizeof cpu};
        uint64_t original = cpu + 1;
        assert_int_equal(
            pwr_env_path(&fixture->env, "/dev/cpu/0/msr", record.path, sizeof record.path), PWR_OK);
        memcpy(record.data, &original, sizeof original);
        assert_int_equal(pwr_guard_remember(guard, &record), PWR_OK);
        fixture_put_msr(fixture, 0, "msr", 8 * cpu, 0);
    }
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(are_all_restored, fixture));
}

static void test_a_file_that_cannot_be_written_does_not_stop_the_others(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_record_t never = text_record(fixture, "/never", "found\n", 0);
    pwr_guard_record_t later = text_record(fixture, "/lever", "found\n", 1);
    pwr_guard_t *guard = fixture_guard(fixture);
    fixture_make_directory(fixture, "/never");
    assert_int_equal(pwr_guard_remember(guard, &never), PWR_OK);
    assert_int_equal(pwr_guard_remember(guard, &later), PWR_OK);
    fixture_put(fixture, "/lever", "lower\n");
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_restored, fixture));
}

static void test_dead_guardian_is_an_error_and_no_signal(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_record_t record = text_record(fixture, "/lever", "found\n", 0);
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(kill(pwr_guard_pid(guard), SIGKILL), 0);
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_ERR_IO);
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_ERR_IO);
    assert_non_null(strstr(fixture->log, "is gone"));
    pwr_guard_stop(guard);
}

static void test_impossible_records_are_refused(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = fixture_guard(fixture);
    pwr_guard_record_t record = text_record(fixture, "/lever", "found\n", 0);
    record.size = PWR_GUARD_DATA_MAX + 1;
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_ERR_ARG);
    record.size = 0;
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_ERR_ARG);
    record = text_record(fixture, "/lever", "found\n", 0);
    record.path[0] = 'x';
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_ERR_ARG);
    memset(record.path, '/', sizeof record.path);
    assert_int_equal(pwr_guard_remember(guard, &record), PWR_ERR_ARG);
    pwr_guard_stop(guard);
}

static void test_programs_that_are_no_guardian(void **state)
{
    fixture_t *fixture = *state;
    pwr_guard_t *guard = NULL;
    assert_int_equal(pwr_guard_start(&fixture->env, "/none/poweraware-guard", &guard),
                     PWR_ERR_UNSUPPORTED);
    assert_non_null(strstr(fixture->log, "/none/poweraware-guard"));
    assert_int_equal(pwr_guard_start(&fixture->env, "/bin/true", &guard), PWR_ERR_IO);
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
        FIXTURE_TEST(test_exit_without_farewell_is_restored),
        FIXTURE_TEST(test_child_of_the_client_does_not_hold_the_guardian_up),
        FIXTURE_TEST(test_job_signals_do_not_end_the_guardian),
        FIXTURE_TEST(test_guardian_keeps_no_pipe_open),
        FIXTURE_TEST(test_guardian_is_in_a_session_of_its_own_and_nobodys_child),
        FIXTURE_TEST(test_farewell_writes_nothing),
        FIXTURE_TEST(test_abandon_restores_while_the_client_lives),
        FIXTURE_TEST(test_first_value_is_the_original),
        FIXTURE_TEST(test_priority_orders_the_restore),
        FIXTURE_TEST(test_many_records_and_binary_offsets),
        FIXTURE_TEST(test_a_file_that_cannot_be_written_does_not_stop_the_others),
        FIXTURE_TEST(test_dead_guardian_is_an_error_and_no_signal),
        FIXTURE_TEST(test_impossible_records_are_refused),
        FIXTURE_TEST(test_programs_that_are_no_guardian),
        FIXTURE_TEST(test_guardian_inherits_no_descriptor),
        FIXTURE_TEST(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
