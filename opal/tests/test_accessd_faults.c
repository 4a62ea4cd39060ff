/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The client of likwid's access daemon when the daemon (here: accessd_server.c) fails later.
 */
#include "config.h"

#include "accessd_fixture.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/held.h"
#include "pwr/lever.h"

/* ---- what goes wrong later ---- */

static bool is_full_duty(const fixture_t *fixture)
{
    return accessd_get(fixture, 0, PWR_MSR_CLOCK_MODULATION) == 0;
}

/* 15/16 becomes 14/16 where steps are larger: that value is ours, too, for who restores it. */
static void guardian_knows_what_became_of_a_value(void **state)
{
    fixture_t *fixture = *state;
    pwr_held_t held;
    accessd_install(fixture, "drop=1");
    pwr_guard_t *guard = fixture_guard(fixture);
    const pwr_held_request_t request = {&fixture->env, guard, &accessd_why};
    assert_int_equal(
        pwr_held_open(&request, &pwr_access_accessd, PWR_CONTROL_CLOCK_MODULATION, 0, &held),
        PWR_OK);
    assert_int_equal(pwr_held_lower(&held, 16 - 1), PWR_OK);
    assert_int_equal(accessd_get(fixture, 0, PWR_MSR_CLOCK_MODULATION), 0x1e);
    pwr_guard_abandon(guard);
    assert_true(fixture_eventually(is_full_duty, fixture));
    pwr_held_close(&held);
}

static void server_dies(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value = 7;
    accessd_install(fixture, "die=2"); /* the first answer is to CHECK */
    assert_opens(fixture, 0, PWR_OK);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_ERR_IO);
    assert_int_equal(pwr_accessd_write(0, PWR_MSR_CLOCK_MODULATION, 0), PWR_ERR_IO); /* SIGPIPE? */
    assert_int_equal(value, 7);
    pwr_accessd_close();
    fixture_put(fixture, "/accessd.words", "");
    assert_opens(fixture, 0, PWR_OK); /* a new one */
    pwr_accessd_close();
}

static void lever_without_server(void **state)
{
    fixture_t *fixture = *state;
    pwr_lever_t *tstate;
    pid_t pid;
    accessd_install(fixture, "");
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "4-5");
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(pwr_lever_open(PWR_LEVER_TSTATE, &fixture->env, topo, guard, accessd_text,
                                    sizeof accessd_text, &tstate),
                     PWR_OK);
    assert_int_equal(accessd_num_started(fixture, &pid), 1);
    assert_int_equal(pwr_lever_set(tstate, 4), PWR_OK);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(fixture_eventually(accessd_is_gone, fixture));
    assert_int_equal(pwr_lever_set(tstate, 8), PWR_ERR_IO);
    pwr_lever_close(tstate);
    pwr_guard_stop(guard);
    pwr_topo_close(topo);
}

static void server_hangs(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value;
    pid_t pid;
    accessd_install(fixture, "hang=2");
    assert_opens(fixture, 0, PWR_OK);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_ERR_IO);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_ERR_IO);
    pwr_accessd_close();
    accessd_num_started(fixture, &pid);
    kill(pid, SIGKILL);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

/* Profilers send one every few milliseconds. */
static void start_signals(long us)
{
    const struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    const struct itimerval timer = {.it_interval.tv_usec = us, .it_value.tv_usec = us};
    signals = 0;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static void stop_signals(void)
{
    const struct itimerval none = {.it_value.tv_usec = 0};
    assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
}

/* Each starts a system call anew: its time must not start anew with it. */
static void server_hangs_while_signals_come(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value;
    pid_t pid;
    accessd_install(fixture, "hang=2");
    assert_opens(fixture, 0, PWR_OK);
    start_signals(100000);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_ERR_IO);
    stop_signals();
    assert_true(signals > 0);
    pwr_accessd_close();
    accessd_num_started(fixture, &pid);
    kill(pid, SIGKILL);
}

/* Half of an answer, signals, the other half. */
static void signals_between_two_halves(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value = 0;
    accessd_install(fixture, "split");
    assert_opens(fixture, 0, PWR_OK);
    start_signals(3000);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_OK);
    stop_signals();
    assert_true(signals > 0);
    assert_int_equal(value, accessd_content(0, 0x611));
    pwr_accessd_close();
}

/* An answer to another question must not be taken, nor any that follow. */
static void server_lies(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value = 7;
    accessd_install(fixture, "lie=2");
    assert_opens(fixture, 0, PWR_OK);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_ERR_IO);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_ERR_IO);
    assert_int_equal(value, 7);
    pwr_accessd_close();
}

/* A child shares the socket: a word from it, and the parent would read its answer. */
static void child_of_fork(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value = 0;
    int result;
    accessd_install(fixture, "");
    assert_opens(fixture, 0, PWR_OK);
    pid_t child = fork();
    if (child == 0) {
        bool refused = pwr_accessd_read(0, 0x611, &value) == PWR_ERR_IO &&
                       pwr_accessd_open(&fixture->env, 0, &accessd_why) == PWR_ERR_PERM;
        pwr_accessd_close(); /* must not dismiss the parent's server */
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(pwr_accessd_read(0, 0x611, &value), PWR_OK);
    assert_int_equal(value, accessd_content(0, 0x611));
    pwr_accessd_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(guardian_knows_what_became_of_a_value),
        FIXTURE_TEST(server_dies),
        FIXTURE_TEST(lever_without_server),
        FIXTURE_TEST(server_hangs),
        FIXTURE_TEST(server_hangs_while_signals_come),
        FIXTURE_TEST(signals_between_two_halves),
        FIXTURE_TEST(server_lies),
        FIXTURE_TEST(child_of_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
