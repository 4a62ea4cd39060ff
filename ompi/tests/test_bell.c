/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bells: who is rung when, whose bell is opened, and two processes that wake each other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pwr_ompi/bell.h"

enum { OWNER = 3, RINGER = 7, OTHER = 8 };

static bool maps_nothing;

/* In the place of libc's. */
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
    if (maps_nothing) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, from);
}

typedef struct pair {
    pwr_bell_t bell;
    pwr_ringer_t ringer;
} pair_t;

static int set_up(void **state)
{
    pair_t *pair = calloc(1, sizeof *pair);
    *state = pair;
    return NULL != pair && 0 == pwr_bell_open(&pair->bell, OWNER) &&
                   0 == pwr_ringer_open(&pair->ringer, &pair->bell.address, RINGER)
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    pair_t *pair = *state;
    pwr_ringer_close(&pair->ringer);
    pwr_bell_close(&pair->bell);
    free(pair);
    return 0;
}

static bool is_rung(const pwr_bell_t *bell)
{
    struct pollfd ear = {.fd = bell->pipe[0], .events = POLLIN};
    return 1 == poll(&ear, 1, 0);
}

/* ---- rings ---- */

static void nobody_asleep_is_not_rung(void **state)
{
    pair_t *pair = *state;
    assert_false(pwr_ringer_ring(&pair->ringer));
    assert_false(is_rung(&pair->bell));
    pwr_bell_sleeps(&pair->bell, true);
    pwr_bell_sleeps(&pair->bell, false);
    assert_false(pwr_ringer_ring(&pair->ringer));
    assert_false(is_rung(&pair->bell));
}

static void a_sleeper_is_rung_once(void **state)
{
    pair_t *pair = *state;
    pwr_bell_sleeps(&pair->bell, true);
    assert_true(pwr_ringer_ring(&pair->ringer));
    assert_true(is_rung(&pair->bell));
    assert_false(pwr_ringer_ring(&pair->ringer));
    pwr_bell_hush(&pair->bell);
    assert_false(is_rung(&pair->bell));
    pwr_bell_sleeps(&pair->bell, true);
    assert_true(pwr_ringer_ring(&pair->ringer));
    assert_true(is_rung(&pair->bell));
}

/* Nobody empties it: it stays readable, and nobody who rings is held up. */
static void a_full_pipe_holds_nobody_up(void **state)
{
    enum { MORE_THAN_A_PIPE_HOLDS = 100000 };
    pair_t *pair = *state;
    for (int i = 0; i < MORE_THAN_A_PIPE_HOLDS; ++i) {
        pwr_bell_sleeps(&pair->bell, true);
        assert_true(pwr_ringer_ring(&pair->ringer));
    }
    assert_true(is_rung(&pair->bell));
    pwr_bell_hush(&pair->bell);
    assert_false(is_rung(&pair->bell));
}

/* SIGPIPE would end this test. */
static void who_has_ended_can_be_rung(void **state)
{
    pair_t *pair = *state;
    pwr_bell_sleeps(&pair->bell, true);
    pwr_bell_close(&pair->bell);
    assert_true(pwr_ringer_ring(&pair->ringer));
}

/* ---- who rings ---- */

static void the_owner_knows_who_rings(void **state)
{
    pair_t *pair = *state;
    assert_true(pwr_bell_is_rung_by(&pair->bell, RINGER));
    assert_false(pwr_bell_is_rung_by(&pair->bell, OTHER));
    pwr_ringer_close(&pair->ringer);
    assert_false(pwr_bell_is_rung_by(&pair->bell, RINGER));
}

static void only_the_bell_that_is_meant_is_opened(void **state)
{
    const pair_t *pair = *state;
    pwr_bell_address_t address;
    pwr_ringer_t ringer;
    const struct {
        size_t offset;
        uint8_t change;
        int error;
    } wrong[] = {
        {offsetof(pwr_bell_address_t, version), 1, EXDEV},
        {offsetof(pwr_bell_address_t, page), 0x40, ENOENT},
        {offsetof(pwr_bell_address_t, pipe), 0x40, ENOENT},
        {offsetof(pwr_bell_address_t, word), 1, EXDEV},
        {offsetof(pwr_bell_address_t, pipe_inode), 1, EXDEV},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        address = pair->bell.address;
        ((uint8_t *)&address)[wrong[i].offset] ^= wrong[i].change;
        assert_int_equal(wrong[i].error, pwr_ringer_open(&ringer, &address, OTHER));
        assert_null(ringer.page);
    }
    address = pair->bell.address;
    address.page = address.pipe;
    assert_int_equal(EXDEV, pwr_ringer_open(&ringer, &address, OTHER));
    assert_false(pwr_bell_is_rung_by(&pair->bell, OTHER));
}

static void numbers_have_an_end(void **state)
{
    const pair_t *pair = *state;
    pwr_bell_t bell;
    pwr_ringer_t ringer;
    assert_int_equal(ERANGE, pwr_bell_open(&bell, PWR_BELL_MAX_RINGERS));
    assert_null(bell.page);
    assert_int_equal(EXDEV, pwr_ringer_open(&ringer, &pair->bell.address, PWR_BELL_MAX_RINGERS));
    assert_null(ringer.page);
}

/* ---- asking ---- */

/* Who maps it cannot be hit by SIGBUS. */
static void a_page_keeps_its_size(void **state)
{
    pair_t *pair = *state;
    int page = pair->bell.address.page;
    assert_int_equal(fcntl(page, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    assert_int_equal(ftruncate(page, 0), -1);
}

static void without_memory_there_is_no_bell(void **state)
{
    pair_t *pair = *state;
    pwr_bell_t bell;
    pwr_ringer_t ringer;
    maps_nothing = true;
    assert_int_equal(pwr_bell_open(&bell, OTHER), ENOMEM);
    assert_int_equal(pwr_ringer_open(&ringer, &pair->bell.address, OTHER), EXDEV);
    maps_nothing = false;
    assert_null(bell.page);
    assert_null(ringer.page);
    assert_false(pwr_bell_is_rung_by(&pair->bell, OTHER));
}

static void an_ask_is_taken_once(void **state)
{
    pair_t *pair = *state;
    assert_false(pwr_bell_is_asked(&pair->bell));
    pwr_ringer_ask(&pair->ringer);
    assert_true(pwr_bell_is_asked(&pair->bell));
    pwr_bell_take_asked(&pair->bell);
    assert_false(pwr_bell_is_asked(&pair->bell));
    assert_false(pwr_bell_take_ask(&pair->bell, OTHER));
    assert_true(pwr_bell_take_ask(&pair->bell, RINGER));
    assert_false(pwr_bell_take_ask(&pair->bell, RINGER));
}

/* ---- two processes ---- */

/* Who does not linger misses a message that R2 passed by, as bell.h says.  The sleep is
   bounded then. */
enum { ROUNDS = 20000, MISSED_AT_MOST = 20, BOUND_MS = 100, LIMIT_S = 600 };

typedef struct table {
    _Alignas(64) _Atomic uint32_t message[2];
    pwr_bell_address_t address[2];
    _Atomic bool ready[2];
    _Atomic uint32_t missed;
} table_t;

static bool is_deaf(table_t *table)
{
    return table->missed > MISSED_AT_MOST;
}

static bool has_come(table_t *table, int other, uint32_t round)
{
    return round == atomic_load_explicit(&table->message[other], memory_order_acquire);
}

/* Until the other's message has come, or too many have not ended a sleep. */
static void wait_for(table_t *table, const pwr_bell_t *bell, int other, uint32_t round)
{
    struct pollfd ear = {.fd = bell->pipe[0], .events = POLLIN};
    while (!has_come(table, other, round) && !is_deaf(table)) {
        pwr_bell_sleeps(bell, true);
        if (!has_come(table, other, round)) {
            bool is_rung = 0 != poll(&ear, 1, BOUND_MS);
            table->missed += !is_rung && has_come(table, other, round);
            pwr_bell_hush(bell);
        }
        pwr_bell_sleeps(bell, false);
    }
}

static int play(table_t *table, int me)
{
    pwr_bell_t bell;
    pwr_ringer_t ringer;
    if (0 != pwr_bell_open(&bell, (uint32_t)me)) {
        return 1;
    }
    table->address[me] = bell.address;
    atomic_store(&table->ready[me], true);
    while (!atomic_load(&table->ready[1 - me])) {
        usleep(100);
    }
    if (0 != pwr_ringer_open(&ringer, &table->address[1 - me], (uint32_t)me)) {
        return 2;
    }
    for (uint32_t round = 1; round <= ROUNDS && !is_deaf(table); ++round) {
        if (1 == me) {
            wait_for(table, &bell, 0, round);
        }
        atomic_store_explicit(&table->message[me], round, memory_order_release);
        pwr_ringer_ring(&ringer);
        if (0 == me) {
            wait_for(table, &bell, 1, round);
        }
    }
    pwr_ringer_close(&ringer);
    pwr_bell_close(&bell);
    return is_deaf(table) ? 3 : 0;
}

static void processes_wake_each_other(void **state)
{
    int status;
    table_t *table =
        mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(MAP_FAILED, table);
    pid_t child = fork();
    assert_true(child >= 0);
    alarm(LIMIT_S);
    if (0 == child) {
        _exit(play(table, 1));
    }
    assert_int_equal(0, play(table, 0));
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFEXITED(status));
    assert_int_equal(0, WEXITSTATUS(status));
    munmap(table, sizeof *table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_asleep_is_not_rung, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sleeper_is_rung_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_pipe_holds_nobody_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_has_ended_can_be_rung, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_owner_knows_who_rings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_bell_that_is_meant_is_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_have_an_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_keeps_its_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_there_is_no_bell, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_ask_is_taken_once, set_up, tear_down),
        cmocka_unit_test(processes_wake_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
