/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequencies of packages that several processes share.
 */
#define _GNU_SOURCE /* pipe2 */
#include "config.h"

#include "uncore_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void open_two(fixture_t *fixture, uncore_t *left, uncore_t *right)
{
    uncore_put_packages(fixture);
    *left = uncore_claim(fixture, "0-1");
    *right = uncore_claim(fixture, "2-3");
    uncore_open_lever(fixture, left);
    uncore_open_lever(fixture, right);
    assert_int_equal(left->status, PWR_OK);
    assert_int_equal(right->status, PWR_OK);
}

static void set(uncore_t *opened)
{
    assert_int_equal(pwr_lever_set(opened->lever, UNCORE_LOWEST_KHZ), PWR_OK);
}

static void restore(uncore_t *opened)
{
    assert_int_equal(pwr_lever_restore(opened->lever), PWR_OK);
}

static void expect_low(const fixture_t *fixture, bool low)
{
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, low ? UNCORE_LOWEST_KHZ : UNCORE_FULL_KHZ);
}

static void test_the_last_lowers_the_first_raises(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    for (int round = 0; round < 2; round++) {
        set(&left);
        expect_low(fixture, false);
        set(&right);
        expect_low(fixture, true);
        restore(&left);
        expect_low(fixture, false);
        set(&left); /* who was gone comes back while the other still waits */
        expect_low(fixture, true);
        restore(&right);
        expect_low(fixture, false);
        restore(&left);
        expect_low(fixture, false);
    }
    assert_int_equal(uncore_counts(&left).writes + uncore_counts(&right).writes, 8);
    uncore_close(&left);
    uncore_close(&right);
}

/* What is reported is how long it was low, not how long somebody wanted it. */
static void test_time_counts_while_it_is_low(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    restore(&left);
    assert_int_equal(uncore_counts(&left).held_ns, 0);
    set(&left);
    set(&right);
    restore(&left);
    restore(&right);
    assert_true(uncore_counts(&left).held_ns > 0);
    assert_int_equal(uncore_counts(&left).held_ns, uncore_counts(&right).held_ns);
    uncore_close(&left);
    uncore_close(&right);
}

static void test_a_process_that_closes_raises(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    set(&right);
    uncore_close(&right);
    expect_low(fixture, false);
    restore(&left);
    set(&left); /* alone */
    expect_low(fixture, false);
    uncore_close(&left);
}

/* Claimed is not joined: such a process has the lever off, and may compute. */
static void test_all_must_join(void **state)
{
    fixture_t *fixture = *state;
    uncore_put_packages(fixture);
    uncore_t left = uncore_claim(fixture, "0-2");
    uncore_t right = uncore_claim(fixture, "3");
    uncore_open_lever(fixture, &left);
    assert_int_equal(left.status, PWR_OK);
    set(&left);
    expect_low(fixture, false);
    restore(&left);
    assert_int_equal(uncore_counts(&left).writes, 0);
    uncore_close(&left);
    uncore_close(&right);
}

static void test_a_register_is_shared(void **state)
{
    fixture_t *fixture = *state;
    for (unsigned cpu = 0; cpu < 4; cpu += 2) { /* one register in hardware, two files here */
        fixture_put_msr(fixture, cpu, "msr", UNCORE_RATIO_LIMIT, 0xab0c18);
    }
    uncore_t left = uncore_claim(fixture, "0-1");
    uncore_t right = uncore_claim(fixture, "2-3");
    uncore_open_lever(fixture, &left);
    uncore_open_lever(fixture, &right);
    assert_string_equal(pwr_lever_backend(right.lever), "msr");
    set(&left);
    set(&right);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", UNCORE_RATIO_LIMIT), 0xab0c18);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", UNCORE_RATIO_LIMIT), 0xab0c0c);
    restore(&right);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", UNCORE_RATIO_LIMIT), 0xab0c18);
    uncore_close(&left);
    uncore_close(&right);
}

/* A guardian must know an original before a value of ours is in force, so a new one ends what was
   agreed. */
static void test_a_new_original_ends_agreements(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    fixture_put_uncore_file(fixture, 0, "max_freq_khz", "2000000\n");
    set(&right);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 2000000);
    restore(&left);
    set(&left);
    expect_low(fixture, true);
    restore(&right);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 2000000);
    assert_int_equal(uncore_counts(&left).adopted, 0);
    assert_int_equal(uncore_counts(&right).adopted, 1);
    uncore_close(&left);
    uncore_close(&right);
}

/* Somebody else's value that is found while ours is in force stays, and all leave it alone. */
static void test_all_yield(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    set(&right);
    fixture_put_uncore_file(fixture, 0, "max_freq_khz", "1800000\n");
    assert_int_equal(pwr_lever_restore(left.lever), PWR_ERR_FOREIGN);
    restore(&right);
    assert_int_equal(pwr_lever_set(left.lever, UNCORE_LOWEST_KHZ), PWR_ERR_FOREIGN);
    assert_int_equal(pwr_lever_set(right.lever, UNCORE_LOWEST_KHZ), PWR_ERR_FOREIGN);
    uncore_close(&left);
    uncore_close(&right);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 1800000);
}

/* A process with CPUs 2 and 3 that joins, does steps as it is told by bytes, and is killed. */
typedef struct other {
    pid_t pid;
    pid_t guard;
    int steps; /* 's': set, 'r': restore */
    int done;
} other_t;

static void live(fixture_t *fixture, int steps, int done)
{
    uncore_t opened = uncore_open(fixture, "2-3");
    pid_t guard = opened.status == PWR_OK ? pwr_guard_pid(opened.guard) : 0;
    bool good = write(done, &guard, sizeof guard) == sizeof guard;
    char step;
    while (good && read(steps, &step, 1) == 1) {
        pwr_status_t status = step == 's' ? pwr_lever_set(opened.lever, UNCORE_LOWEST_KHZ)
                                          : pwr_lever_restore(opened.lever);
        good = status == PWR_OK && write(done, &step, 1) == 1;
    }
    _exit(1);
}

static other_t start_other(fixture_t *fixture)
{
    int steps[2], done[2];
    other_t other;
    assert_int_equal(pipe2(steps, O_CLOEXEC), 0);
    assert_int_equal(pipe2(done, O_CLOEXEC), 0);
    other.pid = fork();
    assert_true(other.pid >= 0);
    if (other.pid == 0) {
        close(steps[1]);
        live(fixture, steps[0], done[1]);
    }
    close(steps[0]);
    close(done[1]);
    other.steps = steps[1];
    other.done = done[0];
    assert_int_equal(read(other.done, &other.guard, sizeof other.guard), sizeof other.guard);
    assert_true(other.guard > 0);
    return other;
}

static void tell(const other_t *other, char step)
{
    char answer;
    assert_int_equal(write(other->steps, &step, 1), 1);
    assert_int_equal(read(other->done, &answer, 1), 1);
}

static void kill_other(const other_t *other)
{
    fixture_kill(other->pid);
    close(other->steps);
    close(other->done);
}

/* One of ours that may lower with it. */
static uncore_t claim_and_start(fixture_t *fixture, other_t *other)
{
    uncore_put_packages(fixture);
    uncore_t ours = uncore_claim(fixture, "0-1");
    *other = start_other(fixture);
    uncore_open_lever(fixture, &ours);
    assert_int_equal(ours.status, PWR_OK);
    return ours;
}

static bool is_full(const fixture_t *fixture)
{
    return fixture_get_uncore_khz(fixture, 0, "max_freq_khz") == UNCORE_FULL_KHZ;
}

/* It lowered, and its guardian raises; we withdraw from what is no longer in force. */
static void test_one_that_lowered_is_killed(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    uncore_t ours = claim_and_start(fixture, &other);
    set(&ours);
    tell(&other, 's');
    expect_low(fixture, true);
    kill_other(&other);
    assert_true(fixture_eventually(is_full, fixture));
    restore(&ours);
    expect_low(fixture, false);
    set(&ours); /* alone again */
    expect_low(fixture, false);
    assert_null(strstr(fixture->log, "somebody else"));
    uncore_close(&ours);
}

/* We lowered: the first of us to withdraw raises. */
static void test_one_that_agreed_is_killed(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    uncore_t ours = claim_and_start(fixture, &other);
    tell(&other, 's');
    set(&ours);
    expect_low(fixture, true);
    kill_other(&other);
    restore(&ours);
    expect_low(fixture, false);
    uncore_close(&ours);
}

/* Its guardian knows the old original only, and must not find a value of its own. */
static void test_one_with_an_old_original_is_killed(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    uncore_t ours = claim_and_start(fixture, &other);
    set(&ours);
    tell(&other, 's');
    restore(&ours);
    fixture_put_uncore_file(fixture, 0, "max_freq_khz", "2000000\n");
    set(&ours);
    kill_other(&other);
    while (kill(other.guard, 0) == 0) {
        usleep(1000);
    }
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 2000000);
    restore(&ours);
    uncore_close(&ours);
    uncore_expect(fixture, 0, UNCORE_LOWEST_KHZ, 2000000);
}

/* Its value is no original for who comes next. */
static void test_nobody_joins_while_it_is_low(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    uncore_t ours = claim_and_start(fixture, &other);
    set(&ours);
    tell(&other, 's');
    assert_int_equal(kill(other.guard, SIGSTOP), 0);
    kill_other(&other);
    uncore_t next = uncore_open(fixture, "2-3");
    assert_int_equal(next.status, PWR_ERR_SHARED);
    assert_non_null(strstr(next.why, "uncore: a value that other processes agreed on is in force"));
    uncore_close(&next);
    assert_int_equal(kill(other.guard, SIGCONT), 0);
    restore(&ours);
    assert_true(fixture_eventually(is_full, fixture));
    uncore_close(&ours);
}

static int open_record(const fixture_t *fixture)
{
    char path[256];
    snprintf(path, sizeof path, "%s/dev/shm/poweraware.%d/uncore", fixture->root, (int)geteuid());
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void test_a_damaged_record(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    int fd = open_record(fixture);
    assert_int_equal(pwrite(fd, "damaged!", 8, 0), 8);
    close(fd);
    assert_int_equal(pwr_lever_set(right.lever, UNCORE_LOWEST_KHZ), PWR_ERR_PARSE);
    uncore_close(&right);
    uncore_t next = uncore_open(fixture, "2-3");
    assert_int_equal(next.status, PWR_ERR_PARSE);
    assert_non_null(strstr(next.why, "uncore: its record is damaged or of another version"));
    uncore_close(&next);
    uncore_close(&left);
    expect_low(fixture, false);
}

/* Whoever was stopped with the lock keeps nobody waiting for ever. */
static void test_a_lock_that_is_not_given_back(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    int fd = open_record(fixture);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 8192, .l_len = 8192};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &all), 0);
    assert_int_equal(pwr_lever_set(left.lever, UNCORE_LOWEST_KHZ), PWR_ERR_IO);
    close(fd);
    uncore_close(&left);
    uncore_close(&right);
    expect_low(fixture, false);
}

/* Nothing that is not recorded stays in force. */
static void test_a_record_that_cannot_be_written(void **state)
{
    fixture_t *fixture = *state;
    uncore_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    fixture_limit_writes(8);
    pwr_status_t status = pwr_lever_set(right.lever, UNCORE_LOWEST_KHZ);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_not_equal(status, PWR_OK);
    expect_low(fixture, false);
    uncore_close(&left);
    uncore_close(&right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_the_last_lowers_the_first_raises),
        FIXTURE_TEST(test_time_counts_while_it_is_low),
        FIXTURE_TEST(test_a_process_that_closes_raises),
        FIXTURE_TEST(test_all_must_join),
        FIXTURE_TEST(test_a_register_is_shared),
        FIXTURE_TEST(test_a_new_original_ends_agreements),
        FIXTURE_TEST(test_all_yield),
        FIXTURE_TEST(test_one_that_lowered_is_killed),
        FIXTURE_TEST(test_one_that_agreed_is_killed),
        FIXTURE_TEST(test_one_with_an_old_original_is_killed),
        FIXTURE_TEST(test_nobody_joins_while_it_is_low),
        FIXTURE_TEST(test_a_damaged_record),
        FIXTURE_TEST(test_a_lock_that_is_not_given_back),
        FIXTURE_TEST(test_a_record_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
