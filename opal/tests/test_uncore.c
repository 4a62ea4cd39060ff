/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Uncore frequencies on the kernel's files and MSR files: of packages that are one process's, and
 * of those that several share.
 */
#define _GNU_SOURCE
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr/claim.h"
#include "pwr/lever.h"

enum { RATIO_LIMIT = 0x620, LOWEST_KHZ = 1200000, FULL_KHZ = 2400000 };

typedef struct opened {
    pwr_topo_t *topo;
    pwr_claim_t *claim;
    pwr_guard_t *guard;
    pwr_lever_t *lever; /* NULL: did not open */
    pwr_status_t status;
    char why[1024];
} opened_t;

/* A process with these CPUs; 0-3 and 4-7 are packages. */
static opened_t claim_cpus(fixture_t *fixture, const char *cpulist)
{
    opened_t opened = {.topo = fixture_topo(fixture, NULL, cpulist)};
    assert_int_equal(pwr_claim_take(&fixture->env, opened.topo, NULL, &opened.claim), PWR_OK);
    return opened;
}

static void open_lever(fixture_t *fixture, opened_t *opened)
{
    opened->guard = fixture_guard(fixture);
    opened->status = pwr_lever_open(PWR_LEVER_UNCORE, &fixture->env, opened->topo, opened->guard,
                                    opened->why, sizeof opened->why, &opened->lever);
}

static opened_t open_uncore(fixture_t *fixture, const char *cpulist)
{
    opened_t opened = claim_cpus(fixture, cpulist);
    open_lever(fixture, &opened);
    return opened;
}

static void close_uncore(opened_t *opened)
{
    pwr_lever_close(opened->lever);
    pwr_guard_stop(opened->guard);
    pwr_claim_release(opened->claim);
    pwr_topo_close(opened->topo);
}

static pwr_lever_counts_t counts_of(const opened_t *opened)
{
    pwr_lever_counts_t counts = {0};
    pwr_lever_count(opened->lever, &counts);
    return counts;
}

static void expect_refusal(fixture_t *fixture, const char *cpulist, pwr_status_t status,
                           const char *why)
{
    opened_t opened = open_uncore(fixture, cpulist);
    assert_int_equal(opened.status, status);
    assert_null(opened.lever);
    assert_non_null(strstr(opened.why, why));
    close_uncore(&opened);
}

static void put_packages(fixture_t *fixture)
{
    fixture_put_uncore(fixture, 0, 0, 3);
    fixture_put_uncore(fixture, 1, 4, 7);
}

static void expect_limits(const fixture_t *fixture, unsigned package, unsigned long floor_khz,
                          unsigned long ceiling_khz)
{
    assert_int_equal(fixture_get_uncore_khz(fixture, package, "min_freq_khz"), floor_khz);
    assert_int_equal(fixture_get_uncore_khz(fixture, package, "max_freq_khz"), ceiling_khz);
}

static void test_a_package_that_is_ours(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    opened_t opened = open_uncore(fixture, "4-7");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.lever), "intel_uncore_frequency");
    assert_int_equal(pwr_lever_lowest(opened.lever), LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.lever), FULL_KHZ);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    expect_limits(fixture, 1, LOWEST_KHZ, LOWEST_KHZ);
    expect_limits(fixture, 0, LOWEST_KHZ, FULL_KHZ);
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_OK);
    expect_limits(fixture, 1, LOWEST_KHZ, FULL_KHZ);
    close_uncore(&opened);
}

static void test_both_packages(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    opened_t opened = open_uncore(fixture, "0-7");
    assert_int_equal(pwr_lever_set(opened.lever, 1500000), PWR_OK);
    expect_limits(fixture, 0, LOWEST_KHZ, 1500000);
    expect_limits(fixture, 1, LOWEST_KHZ, 1500000);
    close_uncore(&opened);
    expect_limits(fixture, 0, LOWEST_KHZ, FULL_KHZ);
    expect_limits(fixture, 1, LOWEST_KHZ, FULL_KHZ);
}

/* A floor that a site has raised comes down with the ceiling, and goes back up. */
static void test_a_raised_floor_comes_back(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz";
    put_packages(fixture);
    fixture_put(fixture, path, "2000000\n");
    opened_t opened = open_uncore(fixture, "0-3");
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    expect_limits(fixture, 0, LOWEST_KHZ, LOWEST_KHZ);
    close_uncore(&opened);
    expect_limits(fixture, 0, 2000000, FULL_KHZ);
}

static void test_cpus_that_nobody_claims_are_refused(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    expect_refusal(fixture, "4-6", PWR_ERR_SHARED,
                   "CPU 7 has the same control as ours, and no process of this user has claimed "
                   "it");
    expect_refusal(fixture, "0-4", PWR_ERR_SHARED, "CPU 5 has the same control");
    expect_limits(fixture, 0, LOWEST_KHZ, FULL_KHZ);
    expect_limits(fixture, 1, LOWEST_KHZ, FULL_KHZ);
}

/* Two dies of one package are two controls, and each is written once. */
static void test_dies(void **state)
{
    fixture_t *fixture = *state;
    char path[128];
    put_packages(fixture);
    for (unsigned cpu = 4; cpu < 8; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
                 cpu);
        fixture_put(fixture, path, "0\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/die_id", cpu);
        fixture_put(fixture, path, "1\n");
    }
    static const char *const files[] = {"max_freq_khz", "min_freq_khz", "initial_min_freq_khz"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/%s", files[i]);
        fixture_put(fixture, path, i == 0 ? "2200000\n" : "1200000\n");
    }
    opened_t opened = {.topo = fixture_topo(fixture, "package:1 core:8 pu:1", "0-7")};
    open_lever(fixture, &opened);
    assert_int_equal(opened.status, PWR_OK);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    char text[32];
    fixture_get(fixture,
                "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/max_freq_khz",
                text, sizeof text);
    assert_string_equal(text, "1200000\n");
    expect_limits(fixture, 0, LOWEST_KHZ, LOWEST_KHZ);
    close_uncore(&opened);
    fixture_get(fixture,
                "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_01/max_freq_khz",
                text, sizeof text);
    assert_string_equal(text, "2200000\n");
}

static void test_the_register(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", RATIO_LIMIT, 0xab0c18); /* 1.2 to 2.4 GHz, and other bits */
    opened_t opened = open_uncore(fixture, "0-3");
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_lever_backend(opened.lever), "msr");
    assert_int_equal(pwr_lever_lowest(opened.lever), LOWEST_KHZ);
    assert_int_equal(pwr_lever_full(opened.lever), FULL_KHZ);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0xab0c0c);
    close_uncore(&opened);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0xab0c18);
}

static void test_a_register_of_cpus_that_nobody_claims_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", RATIO_LIMIT, 0x0c18);
    expect_refusal(fixture, "0-1", PWR_ERR_SHARED, "CPU 2 has the same control");
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0x0c18);
}

static void test_a_register_that_limits_nothing(void **state)
{
    fixture_t *fixture = *state;
    fixture_put_msr(fixture, 0, "msr", RATIO_LIMIT, 0);
    expect_refusal(fixture, "0-3", PWR_ERR_UNSUPPORTED, "CPU 0, MSR 0x620: not supported");
}

static void test_no_hardware(void **state)
{
    expect_refusal(*state, "0-3", PWR_ERR_UNSUPPORTED, "physical_package_id");
}

/* A power manager that writes while we hold it keeps its value; between our uses its is adopted. */
static void test_foreign_writers_are_respected(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz";
    put_packages(fixture);
    opened_t opened = open_uncore(fixture, "0-3");
    fixture_put(fixture, path, "2000000\n");
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_OK);
    assert_int_equal(counts_of(&opened).adopted, 1);
    expect_limits(fixture, 0, LOWEST_KHZ, 2000000);
    assert_int_equal(pwr_lever_set(opened.lever, LOWEST_KHZ), PWR_OK);
    fixture_put(fixture, path, "1800000\n");
    assert_int_equal(pwr_lever_restore(opened.lever), PWR_ERR_FOREIGN);
    close_uncore(&opened);
    expect_limits(fixture, 0, LOWEST_KHZ, 1800000);
}

static bool is_restored(const fixture_t *fixture)
{
    return fixture_get_uncore_khz(fixture, 0, "max_freq_khz") == FULL_KHZ &&
           fixture_get_uncore_khz(fixture, 0, "min_freq_khz") == 1500000;
}

/* What the guardian knows is enough for it to find the files by the CPU alone. */
static void test_a_killed_process_is_restored(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz";
    put_packages(fixture);
    fixture_put(fixture, path, "1500000\n");
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        opened_t opened = open_uncore(fixture, "0-3");
        bool good = pwr_lever_set(opened.lever, LOWEST_KHZ) == PWR_OK;
        _exit(good && write(ready[1], "x", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    expect_limits(fixture, 0, LOWEST_KHZ, LOWEST_KHZ);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(fixture_eventually(is_restored, fixture));
    close(ready[0]);
    close(ready[1]);
}

/* ---- a package that processes share ---- */

static void open_two(fixture_t *fixture, opened_t *left, opened_t *right)
{
    put_packages(fixture);
    *left = claim_cpus(fixture, "0-1");
    *right = claim_cpus(fixture, "2-3");
    open_lever(fixture, left);
    open_lever(fixture, right);
    assert_int_equal(left->status, PWR_OK);
    assert_int_equal(right->status, PWR_OK);
}

static void set(opened_t *opened)
{
    assert_int_equal(pwr_lever_set(opened->lever, LOWEST_KHZ), PWR_OK);
}

static void restore(opened_t *opened)
{
    assert_int_equal(pwr_lever_restore(opened->lever), PWR_OK);
}

static void expect_low(const fixture_t *fixture, bool low)
{
    expect_limits(fixture, 0, LOWEST_KHZ, low ? LOWEST_KHZ : FULL_KHZ);
}

static void test_the_last_lowers_the_first_raises(void **state)
{
    fixture_t *fixture = *state;
    opened_t left, right;
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
    assert_int_equal(counts_of(&left).writes + counts_of(&right).writes, 8);
    close_uncore(&left);
    close_uncore(&right);
}

/* What is reported is how long it was low, not how long somebody wanted it. */
static void test_time_counts_while_it_is_low(void **state)
{
    fixture_t *fixture = *state;
    opened_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    restore(&left);
    assert_int_equal(counts_of(&left).held_ns, 0);
    set(&left);
    set(&right);
    restore(&left);
    restore(&right);
    assert_true(counts_of(&left).held_ns > 0);
    assert_int_equal(counts_of(&left).held_ns, counts_of(&right).held_ns);
    close_uncore(&left);
    close_uncore(&right);
}

static void test_a_process_that_closes_raises(void **state)
{
    fixture_t *fixture = *state;
    opened_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    set(&right);
    close_uncore(&right);
    expect_low(fixture, false);
    restore(&left);
    set(&left); /* alone */
    expect_low(fixture, false);
    close_uncore(&left);
}

/* Claimed is not joined: such a process has the lever off, and may compute. */
static void test_all_must_join(void **state)
{
    fixture_t *fixture = *state;
    put_packages(fixture);
    opened_t left = claim_cpus(fixture, "0-2");
    opened_t right = claim_cpus(fixture, "3");
    open_lever(fixture, &left);
    assert_int_equal(left.status, PWR_OK);
    set(&left);
    expect_low(fixture, false);
    restore(&left);
    assert_int_equal(counts_of(&left).writes, 0);
    close_uncore(&left);
    close_uncore(&right);
}

static void test_a_register_is_shared(void **state)
{
    fixture_t *fixture = *state;
    for (unsigned cpu = 0; cpu < 4; cpu += 2) { /* one register in hardware, two files here */
        fixture_put_msr(fixture, cpu, "msr", RATIO_LIMIT, 0xab0c18);
    }
    opened_t left = claim_cpus(fixture, "0-1");
    opened_t right = claim_cpus(fixture, "2-3");
    open_lever(fixture, &left);
    open_lever(fixture, &right);
    assert_string_equal(pwr_lever_backend(right.lever), "msr");
    set(&left);
    set(&right);
    assert_int_equal(fixture_get_msr(fixture, 0, "msr", RATIO_LIMIT), 0xab0c18);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", RATIO_LIMIT), 0xab0c0c);
    restore(&right);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", RATIO_LIMIT), 0xab0c18);
    close_uncore(&left);
    close_uncore(&right);
}

/* A guardian must know an original before a value of ours is in force, so a new one ends what was
   agreed. */
static void test_a_new_original_ends_agreements(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz";
    opened_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    fixture_put(fixture, path, "2000000\n");
    set(&right);
    expect_limits(fixture, 0, LOWEST_KHZ, 2000000);
    restore(&left);
    set(&left);
    expect_low(fixture, true);
    restore(&right);
    expect_limits(fixture, 0, LOWEST_KHZ, 2000000);
    assert_int_equal(counts_of(&left).adopted, 0);
    assert_int_equal(counts_of(&right).adopted, 1);
    close_uncore(&left);
    close_uncore(&right);
}

/* Somebody else's value that is found while ours is in force stays, and all leave it alone. */
static void test_all_yield(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz";
    opened_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    set(&right);
    fixture_put(fixture, path, "1800000\n");
    assert_int_equal(pwr_lever_restore(left.lever), PWR_ERR_FOREIGN);
    restore(&right);
    assert_int_equal(pwr_lever_set(left.lever, LOWEST_KHZ), PWR_ERR_FOREIGN);
    assert_int_equal(pwr_lever_set(right.lever, LOWEST_KHZ), PWR_ERR_FOREIGN);
    close_uncore(&left);
    close_uncore(&right);
    expect_limits(fixture, 0, LOWEST_KHZ, 1800000);
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
    opened_t opened = open_uncore(fixture, "2-3");
    pid_t guard = opened.status == PWR_OK ? pwr_guard_pid(opened.guard) : 0;
    bool good = write(done, &guard, sizeof guard) == sizeof guard;
    char step;
    while (good && read(steps, &step, 1) == 1) {
        pwr_status_t status =
            step == 's' ? pwr_lever_set(opened.lever, LOWEST_KHZ) : pwr_lever_restore(opened.lever);
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
    assert_int_equal(kill(other->pid, SIGKILL), 0);
    assert_int_equal(waitpid(other->pid, NULL, 0), other->pid);
    close(other->steps);
    close(other->done);
}

/* One of ours that may lower with it. */
static opened_t claim_and_start(fixture_t *fixture, other_t *other)
{
    put_packages(fixture);
    opened_t ours = claim_cpus(fixture, "0-1");
    *other = start_other(fixture);
    open_lever(fixture, &ours);
    assert_int_equal(ours.status, PWR_OK);
    return ours;
}

static bool is_full(const fixture_t *fixture)
{
    return fixture_get_uncore_khz(fixture, 0, "max_freq_khz") == FULL_KHZ;
}

/* It lowered, and its guardian raises; we withdraw from what is no longer in force. */
static void test_one_that_lowered_is_killed(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    opened_t ours = claim_and_start(fixture, &other);
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
    close_uncore(&ours);
}

/* We lowered: the first of us to withdraw raises. */
static void test_one_that_agreed_is_killed(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    opened_t ours = claim_and_start(fixture, &other);
    tell(&other, 's');
    set(&ours);
    expect_low(fixture, true);
    kill_other(&other);
    restore(&ours);
    expect_low(fixture, false);
    close_uncore(&ours);
}

/* Its guardian knows the old original only, and must not find a value of its own. */
static void test_one_with_an_old_original_is_killed(void **state)
{
    fixture_t *fixture = *state;
    char path[] = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz";
    other_t other;
    opened_t ours = claim_and_start(fixture, &other);
    set(&ours);
    tell(&other, 's');
    restore(&ours);
    fixture_put(fixture, path, "2000000\n");
    set(&ours);
    kill_other(&other);
    while (kill(other.guard, 0) == 0) {
        usleep(1000);
    }
    expect_limits(fixture, 0, LOWEST_KHZ, 2000000);
    restore(&ours);
    close_uncore(&ours);
    expect_limits(fixture, 0, LOWEST_KHZ, 2000000);
}

/* Its value is no original for who comes next. */
static void test_nobody_joins_while_it_is_low(void **state)
{
    fixture_t *fixture = *state;
    other_t other;
    opened_t ours = claim_and_start(fixture, &other);
    set(&ours);
    tell(&other, 's');
    assert_int_equal(kill(other.guard, SIGSTOP), 0);
    kill_other(&other);
    opened_t next = open_uncore(fixture, "2-3");
    assert_int_equal(next.status, PWR_ERR_SHARED);
    assert_non_null(strstr(next.why, "uncore: a value that other processes agreed on is in force"));
    close_uncore(&next);
    assert_int_equal(kill(other.guard, SIGCONT), 0);
    restore(&ours);
    assert_true(fixture_eventually(is_full, fixture));
    close_uncore(&ours);
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
    opened_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    int fd = open_record(fixture);
    assert_int_equal(pwrite(fd, "damaged!", 8, 0), 8);
    close(fd);
    assert_int_equal(pwr_lever_set(right.lever, LOWEST_KHZ), PWR_ERR_PARSE);
    close_uncore(&right);
    opened_t next = open_uncore(fixture, "2-3");
    assert_int_equal(next.status, PWR_ERR_PARSE);
    assert_non_null(strstr(next.why, "uncore: its record is damaged or of another version"));
    close_uncore(&next);
    close_uncore(&left);
    expect_low(fixture, false);
}

/* Whoever was stopped with the lock keeps nobody waiting for ever. */
static void test_a_lock_that_is_not_given_back(void **state)
{
    fixture_t *fixture = *state;
    opened_t left, right;
    open_two(fixture, &left, &right);
    int fd = open_record(fixture);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 8192, .l_len = 8192};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &all), 0);
    assert_int_equal(pwr_lever_set(left.lever, LOWEST_KHZ), PWR_ERR_IO);
    close(fd);
    close_uncore(&left);
    close_uncore(&right);
    expect_low(fixture, false);
}

/* Nothing that is not recorded stays in force. */
static void test_a_record_that_cannot_be_written(void **state)
{
    fixture_t *fixture = *state;
    opened_t left, right;
    open_two(fixture, &left, &right);
    set(&left);
    fixture_limit_writes(8);
    pwr_status_t status = pwr_lever_set(right.lever, LOWEST_KHZ);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_not_equal(status, PWR_OK);
    expect_low(fixture, false);
    close_uncore(&left);
    close_uncore(&right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_a_package_that_is_ours),
        FIXTURE_TEST(test_both_packages),
        FIXTURE_TEST(test_a_raised_floor_comes_back),
        FIXTURE_TEST(test_cpus_that_nobody_claims_are_refused),
        FIXTURE_TEST(test_dies),
        FIXTURE_TEST(test_the_register),
        FIXTURE_TEST(test_a_register_of_cpus_that_nobody_claims_is_refused),
        FIXTURE_TEST(test_a_register_that_limits_nothing),
        FIXTURE_TEST(test_no_hardware),
        FIXTURE_TEST(test_foreign_writers_are_respected),
        FIXTURE_TEST(test_a_killed_process_is_restored),
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
