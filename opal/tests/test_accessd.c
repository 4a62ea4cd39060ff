/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The client of likwid's access daemon against a server of our own (accessd_server.c): what works
 * and what is refused.  The real daemon: test_likwid_machines.py.
 */
#include "config.h"

#include "accessd_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "likwid/likwid.h"
#include "pwr/lever.h"

/* ---- what works ---- */

static void reads_and_writes(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value = 0;
    accessd_install(fixture, "");
    assert_opens(fixture, 3, PWR_OK);
    assert_childless();
    assert_int_equal(pwr_accessd_read(3, 0x611, &value), PWR_OK);
    assert_int_equal(value, accessd_content(3, 0x611));
    assert_int_equal(pwr_accessd_write(3, PWR_MSR_CLOCK_MODULATION, 0x18), PWR_OK);
    assert_int_equal(accessd_get(fixture, 3, PWR_MSR_CLOCK_MODULATION), 0x18);
    assert_int_equal(pwr_accessd_read(3, 0x123456, &value), PWR_ERR_UNSUPPORTED);
    assert_int_equal(value, accessd_content(3, 0x611)); /* outputs only on success */
    assert_string_equal(accessd_text, "");
    pwr_accessd_close();
    assert_true(fixture_eventually(accessd_is_gone, fixture));
}

/* As under systemd, where the real daemon does not fork: still nobody's child. */
static void server_that_does_not_fork(void **state)
{
    fixture_t *fixture = *state;
    uint64_t value = 0;
    accessd_install(fixture, "stay split");
    assert_opens(fixture, 0, PWR_OK);
    assert_childless();
    assert_int_equal(pwr_accessd_read(7, 0x611, &value), PWR_OK);
    assert_int_equal(value, accessd_content(7, 0x611));
    pwr_accessd_close();
    assert_true(fixture_eventually(accessd_is_gone, fixture));
    assert_childless();
}

static void one_server_for_all(void **state)
{
    fixture_t *fixture = *state;
    pid_t pid;
    accessd_install(fixture, "");
    assert_opens(fixture, 0, PWR_OK);
    assert_opens(fixture, 1, PWR_OK);
    pwr_accessd_close();
    assert_false(accessd_is_gone(fixture));
    assert_int_equal(pwr_accessd_write(1, PWR_MSR_CLOCK_MODULATION, 0x12), PWR_OK);
    pwr_accessd_close();
    assert_true(fixture_eventually(accessd_is_gone, fixture));
    assert_int_equal(accessd_num_started(fixture, &pid), 1);

    assert_opens(fixture, 0, PWR_OK);
    assert_int_equal(accessd_num_started(fixture, &pid), 2);
    pwr_accessd_close();
}

static void probe_keeps_it(void **state)
{
    fixture_t *fixture = *state;
    pid_t pid;
    accessd_install(fixture, "");
    pwr_likwid_probe_begin();
    for (unsigned cpu = 0; cpu < ACCESSD_CPUS; cpu++) {
        assert_opens(fixture, cpu, PWR_OK);
        pwr_accessd_close();
    }
    assert_int_equal(accessd_num_started(fixture, &pid), 1);
    pwr_likwid_probe_end();
    assert_true(fixture_eventually(accessd_is_gone, fixture));
}

static void lever_through_it(void **state)
{
    fixture_t *fixture = *state;
    pwr_lever_t *tstate;
    pid_t pid;
    accessd_install(fixture, "");
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "4-5");
    pwr_guard_t *guard = fixture_guard(fixture);
    accessd_put(fixture, 5, PWR_MSR_CLOCK_MODULATION, 0x100);
    assert_int_equal(pwr_lever_open(PWR_LEVER_TSTATE, &fixture->env, topo, guard, accessd_text,
                                    sizeof accessd_text, &tstate),
                     PWR_OK);
    assert_string_equal(pwr_lever_backend(tstate), "likwid-accessD");
    assert_int_equal(pwr_lever_set(tstate, 2), PWR_OK);
    assert_int_equal(accessd_get(fixture, 4, PWR_MSR_CLOCK_MODULATION), 0x12);
    assert_int_equal(accessd_get(fixture, 5, PWR_MSR_CLOCK_MODULATION), 0x112);
    assert_int_equal(accessd_get(fixture, 6, PWR_MSR_CLOCK_MODULATION), 0);
    assert_int_equal(pwr_lever_restore(tstate), PWR_OK);
    assert_int_equal(accessd_get(fixture, 4, PWR_MSR_CLOCK_MODULATION), 0);
    assert_int_equal(accessd_get(fixture, 5, PWR_MSR_CLOCK_MODULATION), 0x100);
    assert_int_equal(accessd_num_started(fixture, &pid), 1);
    pwr_lever_close(tstate);
    pwr_guard_stop(guard);
    pwr_topo_close(topo);
    assert_true(fixture_eventually(accessd_is_gone, fixture));
}

enum { READS = 400 };

static void *read_many(void *argument)
{
    unsigned cpu = *(const unsigned *)argument;
    for (int i = 0; i < READS; i++) {
        uint64_t value = 0;
        if (pwr_accessd_read(cpu, 0x611, &value) != PWR_OK ||
            value != accessd_content(cpu, 0x611)) {
            return argument;
        }
    }
    return NULL;
}

static void threads_take_turns(void **state)
{
    fixture_t *fixture = *state;
    pthread_t threads[2];
    unsigned cpus[2] = {2, 6};
    accessd_install(fixture, "");
    assert_opens(fixture, 0, PWR_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, &cpus[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    pwr_accessd_close();
}

/* likwid.cfg names another one than is in the usual place: it is that one that ends at once. */
static void finds_configured(void **state)
{
    fixture_t *fixture = *state;
    accessd_install(fixture, "");
    fixture_put_program(fixture, accessd_server, "/apps/usr/sbin/likwid-accessD");
    fixture_put(fixture, "/apps/accessd.words", "quit");
    fixture_put(fixture, "/etc/likwid.cfg",
                "# site\ngroupPath = /x\ndaemon_path = /apps/nothing\n");
    assert_opens(fixture, 0, PWR_OK);
    pwr_accessd_close();
    fixture_put(fixture, "/etc/likwid.cfg", "daemon_path = /apps/usr/sbin/likwid-accessD\n");
    assert_opens(fixture, 0, PWR_ERR_UNSUPPORTED);
    assert_says("/apps/usr/sbin/likwid-accessD: ended at once");
}

/* ---- what is refused ---- */

static void restricted_register(void **state)
{
    fixture_t *fixture = *state;
    pwr_lever_t *tstate;
    accessd_install(fixture, "deny=0x19a");
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "4-5");
    pwr_guard_t *guard = fixture_guard(fixture);
    assert_int_equal(pwr_lever_open(PWR_LEVER_TSTATE, &fixture->env, topo, guard, accessd_text,
                                    sizeof accessd_text, &tstate),
                     PWR_ERR_PERM);
    assert_says("likwid-accessD: CPU 4, MSR 0x19a: reading: no permission (likwid's daemon lets");
    pwr_guard_stop(guard);
    pwr_topo_close(topo);
    assert_true(fixture_eventually(accessd_is_gone, fixture));
}

static void not_installed(void **state)
{
    fixture_t *fixture = *state;
    accessd_install(fixture, "");
    fixture_remove(fixture, "/usr/sbin/likwid-accessD");
    assert_opens(fixture, 0, PWR_ERR_UNSUPPORTED);
    assert_string_equal(accessd_text, "likwid-accessD: not installed");
}

static void no_such_cpu(void **state)
{
    fixture_t *fixture = *state;
    accessd_install(fixture, "");
    assert_opens(fixture, 4095, PWR_ERR_UNSUPPORTED);
    assert_says("no /dev/cpu/4095/msr");
}

static void closed_device(void **state)
{
    fixture_t *fixture = *state;
    accessd_install(fixture, "closed=2");
    assert_opens(fixture, 2, PWR_ERR_PERM);
    assert_says("likwid-accessD: CPU 2: no permission");
    assert_true(fixture_eventually(accessd_is_gone, fixture));
}

static void server_that_quits(void **state)
{
    fixture_t *fixture = *state;
    accessd_install(fixture, "quit");
    assert_opens(fixture, 0, PWR_ERR_UNSUPPORTED);
    assert_says("likwid-accessD: ended at once");
    assert_childless();
}

static void server_without_socket(void **state)
{
    fixture_t *fixture = *state;
    accessd_install(fixture, "silent");
    assert_opens(fixture, 0, PWR_ERR_UNSUPPORTED);
    assert_says("ended at once");
}

static void program_that_is_none(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    accessd_install(fixture, "");
    fixture_remove(fixture, "/usr/sbin/likwid-accessD");
    fixture_put(fixture, "/usr/sbin/likwid-accessD", "text\n");
    snprintf(name, sizeof name, "%s/usr/sbin/likwid-accessD", fixture->root);
    assert_int_equal(chmod(name, 0755), 0);
    assert_int_not_equal(accessd_open(fixture, 0), PWR_OK);
    assert_says("cannot be started: Exec format error");
}

/* /tmp is everybody's: a socket of the right name may be a trap. */
static void socket_of_a_stranger(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    if (geteuid() != 0) {
        skip(); /* needs a second user */
    }
    accessd_install(fixture, "user=65534");
    snprintf(name, sizeof name, "%s/tmp", fixture->root);
    assert_int_equal(chmod(name, 01777), 0);
    fixture_put(fixture, "/accessd.started", "");
    snprintf(name, sizeof name, "%s/accessd.started", fixture->root);
    assert_int_equal(chmod(name, 0666), 0);
    assert_opens(fixture, 0, PWR_ERR_PERM);
    assert_says("its socket belongs to user 65534");
    assert_true(fixture_eventually(accessd_is_gone, fixture));
}

static int open_without_rights(fixture_t *fixture)
{
    return (int)accessd_open(fixture, 0);
}

static void no_rights(void **state)
{
    fixture_t *fixture = *state;
    char name[300];
    accessd_install(fixture, "");
    snprintf(name, sizeof name, "%s/dev/cpu/0/msr", fixture->root);
    assert_int_equal(chmod(name, 0555), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, open_without_rights), PWR_ERR_PERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(reads_and_writes),      FIXTURE_TEST(server_that_does_not_fork),
        FIXTURE_TEST(one_server_for_all),    FIXTURE_TEST(probe_keeps_it),
        FIXTURE_TEST(lever_through_it),      FIXTURE_TEST(threads_take_turns),
        FIXTURE_TEST(finds_configured),      FIXTURE_TEST(restricted_register),
        FIXTURE_TEST(not_installed),         FIXTURE_TEST(no_such_cpu),
        FIXTURE_TEST(closed_device),         FIXTURE_TEST(server_that_quits),
        FIXTURE_TEST(server_without_socket), FIXTURE_TEST(program_that_is_none),
        FIXTURE_TEST(socket_of_a_stranger),  FIXTURE_TEST(no_rights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
