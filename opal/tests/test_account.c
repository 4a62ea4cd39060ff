/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Tables of sums: kinds, what has no room, threads, several tables, packed ones and wrong ones.
 */
#include "config.h"

#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr/account.h"

enum { BCAST = 7, BARRIER = 6, MANY_THREADS = 4, CALLS = 2000, KINDS = 50 };

static pwr_account_t *new_account(void)
{
    pwr_account_t *account = calloc(1, sizeof *account);
    assert_non_null(account);
    return account;
}

static const pwr_account_sums_t one_call = {
    .calls = 1,
    .bytes = 8,
    .ns = 1000,
    .longest_ns = 1000,
    .spin_ns = 100,
    .monitor_ns = 200,
    .sleep_ns = 300,
    .cpu_ns = 400,
    .cpu_of_ns = 500,
    .held_ns = {600, 150},
    .transitions = 2,
    .uj = 50,
};

static pwr_account_cell_t *cell(pwr_account_t *account, unsigned comm, unsigned what, int algorithm,
                                unsigned size_class)
{
    const pwr_account_kind_t kind = {
        .comm = comm, .operation = what, .algorithm = algorithm, .size_class = size_class};
    return pwr_account_cell(account, &kind);
}

static pwr_account_sums_t total(const pwr_account_t *account)
{
    pwr_account_cell_t sum = {.sums = account->rest.sums};
    unsigned index = 0;
    const pwr_account_cell_t *next;
    while ((next = pwr_account_next(account, &index)) != NULL) {
        pwr_account_add(&sum.sums, &next->sums, false);
    }
    return sum.sums;
}

static void test_calls_add_up(void **state)
{
    (void)state;
    pwr_account_t *account = new_account();
    pwr_account_cell_t *mine = cell(account, 1, BCAST, PWR_ACCOUNT_NO_ALGORITHM, 3);
    pwr_account_sums_t longer = one_call;
    longer.longest_ns = 7000;
    pwr_account_add(&mine->sums, &longer, false);
    pwr_account_add(&mine->sums, &one_call, false);
    assert_int_equal(mine->sums.calls, 2);
    assert_int_equal(mine->sums.ns, 2000);
    assert_int_equal(mine->sums.longest_ns, 7000);
    assert_int_equal(mine->sums.transitions, 4);
    assert_true(pwr_account_cpu_ns(&mine->sums) == 1120.0); /* 800 of 1000, and 400 like them */
    free(account);
}

static void test_cpu_time_of_calls_that_were_not_measured(void **state)
{
    (void)state;
    /* 2 ms were awake and not measured */
    pwr_account_sums_t sums = {
        .ns = 12000000, .sleep_ns = 6000000, .cpu_ns = 1000000, .cpu_of_ns = 4000000};
    assert_true(pwr_account_cpu_ns(&sums) == 1500000.0);
    /* waking up cost more than the time that was not asleep: of others it is their time at most */
    sums.cpu_ns = 5000000;
    assert_true(pwr_account_cpu_ns(&sums) == 7000000.0);
    /* one long sleep after short calls adds nothing */
    sums.ns += 300000000;
    sums.sleep_ns += 300000000;
    assert_true(pwr_account_cpu_ns(&sums) == 7000000.0);
    /* all were measured; clocks differ a little */
    sums.cpu_of_ns = 7000000;
    assert_true(pwr_account_cpu_ns(&sums) == 5000000.0);
    /* none was */
    sums.cpu_ns = sums.cpu_of_ns = 0;
    assert_true(pwr_account_cpu_ns(&sums) == 0.0);
    sums = (pwr_account_sums_t){.ns = UINT64_MAX, .cpu_ns = UINT64_MAX};
    assert_true(pwr_account_cpu_ns(&sums) <= 2.0 * (double)UINT64_MAX);
}

static void test_each_kind_has_a_cell(void **state)
{
    (void)state;
    static const pwr_account_kind_t kinds[] = {
        {1, BCAST, -1, 0},  {1, BCAST, 0, 0}, {1, BCAST, 0, 1},  {2, BCAST, 0, 0},
        {1, BARRIER, 0, 0}, {0, 0, -1, 0},    {127, 40, 30, 15}, {127, 32767, 32766, 65535},
    };
    enum { NUM = sizeof kinds / sizeof kinds[0] };
    pwr_account_t *account = new_account();
    pwr_account_cell_t *cells[NUM];
    for (int i = 0; i < NUM; i++) {
        cells[i] = pwr_account_cell(account, &kinds[i]);
        pwr_account_kind_t found = pwr_account_kind(cells[i]);
        assert_memory_equal(&found, &kinds[i], sizeof found);
        for (int j = 0; j < i; j++) {
            assert_ptr_not_equal(cells[i], cells[j]);
        }
    }
    for (int i = 0; i < NUM; i++) {
        assert_ptr_equal(pwr_account_cell(account, &kinds[i]), cells[i]);
    }
    free(account);
}

static void test_communicators_are_names_and_sizes(void **state)
{
    (void)state;
    char name[100];
    pwr_account_t *account = new_account();
    unsigned world = pwr_account_comm(account, "everybody", 8);
    assert_int_not_equal(world, PWR_ACCOUNT_OTHERS);
    assert_int_equal(pwr_account_comm(account, "everybody", 8), world);
    assert_int_not_equal(pwr_account_comm(account, "everybody", 4), world);
    assert_int_equal(pwr_account_comm(account, "nobody", 0), PWR_ACCOUNT_OTHERS);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    unsigned long_one = pwr_account_comm(account, name, 2);
    assert_int_equal(strlen(account->comms[long_one].name), PWR_ACCOUNT_NAME - 1);
    assert_int_equal(pwr_account_comm(account, name, 2), long_one);
    for (int i = 0; i < 2 * PWR_ACCOUNT_COMMS; i++) {
        snprintf(name, sizeof name, "row %d", i);
        unsigned number = pwr_account_comm(account, name, 3);
        assert_true(number < PWR_ACCOUNT_COMMS);
        assert_int_equal(number == PWR_ACCOUNT_OTHERS, i >= PWR_ACCOUNT_COMMS - 4);
    }
    assert_int_equal(pwr_account_comm(account, "everybody", 8), world);
    free(account);
}

static void test_what_has_no_room_is_counted(void **state)
{
    (void)state;
    enum { MORE = 3 * PWR_ACCOUNT_CELLS };
    pwr_account_t *account = new_account();
    for (unsigned i = 0; i < MORE; i++) {
        pwr_account_add(&cell(account, i % 100, i / 100, (int)(i % 7), i % 16)->sums, &one_call,
                        false);
    }
    assert_int_equal(total(account).calls, MORE);
    assert_int_equal(account->rest.sums.calls, MORE - PWR_ACCOUNT_CELLS);
    free(account);
}

static void *add_calls(void *arg)
{
    pwr_account_t *account = arg;
    for (int i = 0; i < CALLS; i++) {
        unsigned comm = pwr_account_comm(account, i % 2 == 0 ? "even" : "odd", 2);
        pwr_account_add(&cell(account, comm, (unsigned)i % KINDS, 0, 0)->sums, &one_call, true);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pwr_account_t *account = new_account();
    pthread_t threads[MANY_THREADS];
    unsigned index = 0, cells = 0;
    for (int i = 0; i < MANY_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_calls, account), 0);
    }
    for (int i = 0; i < MANY_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    while (pwr_account_next(account, &index) != NULL) {
        cells++;
    }
    assert_int_equal(cells, KINDS);
    assert_int_equal(total(account).calls, MANY_THREADS * CALLS);
    free(account);
}

/* Some calls, with communicators that have other numbers in other tables. */
static void fill(pwr_account_t *account, const char *first, const char *second, int calls)
{
    unsigned comms[] = {pwr_account_comm(account, first, 4), pwr_account_comm(account, second, 2)};
    for (int i = 0; i < calls; i++) {
        pwr_account_add(&cell(account, comms[i % 2], BCAST, i % 3 - 1, (unsigned)i % 4)->sums,
                        &one_call, false);
    }
}

static uint64_t calls_of(const pwr_account_t *account, const char *name)
{
    uint64_t calls = 0;
    unsigned index = 0;
    const pwr_account_cell_t *next;
    while ((next = pwr_account_next(account, &index)) != NULL) {
        if (strcmp(account->comms[pwr_account_kind(next).comm].name, name) == 0) {
            calls += next->sums.calls;
        }
    }
    return calls;
}

static void *packed_of(const pwr_account_t *account, size_t *bytes)
{
    void *packed = malloc(PWR_ACCOUNT_PACKED_MAX);
    assert_non_null(packed);
    *bytes = pwr_account_pack(account, packed);
    assert_true(*bytes <= PWR_ACCOUNT_PACKED_MAX);
    return packed;
}

static void test_tables_are_merged(void **state)
{
    (void)state;
    for (int packs = 0; packs < 2; packs++) {
        pwr_account_t *left = new_account(), *right = new_account();
        fill(left, "world", "row", 100);
        fill(right, "row", "world", 30);
        fill(right, "column", "x", 10);
        pwr_account_add(&right->rest.sums, &one_call, false);
        if (packs) {
            size_t bytes;
            void *packed = packed_of(right, &bytes);
            assert_int_equal(pwr_account_merge_packed(left, packed, bytes), PWR_OK);
            free(packed);
        } else {
            pwr_account_merge(left, right, 0);
        }
        assert_int_equal(total(left).calls, 141);
        assert_int_equal(total(left).ns, 141000);
        assert_int_equal(total(left).longest_ns, 1000);
        assert_int_equal(calls_of(left, "world"), 65); /* of 4 and of 2 ranks */
        assert_int_equal(calls_of(left, "column"), 5);
        assert_int_equal(left->rest.sums.calls, 1);
        free(left);
        free(right);
    }
}

/* A table of a process, which made so many calls of one kind. */
static pwr_account_t *of_process(int calls)
{
    pwr_account_t *account = new_account();
    unsigned world = pwr_account_comm(account, "world", 3);
    for (int i = 0; i < calls; i++) {
        pwr_account_add(&cell(account, world, BARRIER, 0, 0)->sums, &one_call, false);
    }
    (void)cell(account, world, BCAST, 0, 0); /* which it never made */
    return account;
}

static void test_who_spends_least_time_is_known(void **state)
{
    (void)state;
    static const int calls[] = {7, 3, 5};
    pwr_account_t *all = new_account();
    for (unsigned node = 0; node < 2; node++) {
        size_t bytes;
        pwr_account_t *sum = new_account();
        for (unsigned process = node; process < 3; process += 2) {
            pwr_account_t *mine = of_process(calls[process]);
            pwr_account_merge(sum, mine, process);
            free(mine);
        }
        void *packed = packed_of(sum, &bytes);
        assert_int_equal(pwr_account_merge_packed(all, packed, bytes), PWR_OK);
        free(packed);
        free(sum);
    }
    unsigned world = pwr_account_comm(all, "world", 3);
    const pwr_account_cell_t *barrier = cell(all, world, BARRIER, 0, 0);
    assert_int_equal(barrier->processes, 3);
    assert_int_equal(barrier->least_ns, 3000);
    assert_int_equal(barrier->least_process, 1);
    assert_int_equal(cell(all, world, BCAST, 0, 0)->processes, 0);
    free(all);
}

/* ---- regions ---- */

static void test_time_counts_for_the_region_that_is_open(void **state)
{
    (void)state;
    pwr_account_t *account = new_account();
    pwr_account_region_t *solve = pwr_account_region(account, "solve");
    pwr_account_region_t *halo = pwr_account_region(account, "solve/halo");
    assert_ptr_not_equal(solve, halo);
    assert_ptr_equal(pwr_account_region(account, "solve"), solve);
    assert_null(pwr_account_open_region(account));
    pwr_account_enter(account, solve, 100, 10);
    assert_ptr_equal(pwr_account_open_region(account), solve);
    pwr_account_enter(account, halo, 130, 11);
    pwr_account_enter(account, solve, 200, 31);
    pwr_account_enter(account, NULL, 205, 32);
    pwr_account_enter(account, NULL, 900, 90);
    assert_null(pwr_account_open_region(account));
    assert_int_equal(solve->ns, 35);
    assert_int_equal(solve->cpu_ns, 2);
    assert_int_equal(halo->ns, 70);
    assert_int_equal(halo->cpu_ns, 20);
    free(account);
}

static void test_regions_are_merged(void **state)
{
    (void)state;
    size_t bytes;
    pwr_account_t *left = new_account(), *right = new_account();
    for (int i = 0; i < 2 * PWR_ACCOUNT_REGIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "region %d", i);
        pwr_account_region_t *region = pwr_account_region(right, name);
        region->entered++;
        region->ns += 10;
        region->calls.calls += 2;
    }
    pwr_account_region(left, "region 1")->ns = 5;
    pwr_account_merge(left, right, 0);
    void *packed = packed_of(right, &bytes);
    assert_int_equal(pwr_account_merge_packed(left, packed, bytes), PWR_OK);
    assert_int_equal(pwr_account_region(left, "region 1")->ns, 25);
    assert_int_equal(pwr_account_region(left, "region 1")->calls.calls, 4);
    uint64_t ns = 0;
    for (int i = 0; i < PWR_ACCOUNT_REGIONS; i++) {
        ns += left->regions[i].ns;
    }
    assert_int_equal(ns, 5 + 2 * 2 * PWR_ACCOUNT_REGIONS * 10);
    free(packed);
    /* a table that its program has written over */
    memset(right->regions, 'x', sizeof right->regions);
    right->now.region = UINT32_MAX;
    assert_null(pwr_account_open_region(right));
    pwr_account_merge(left, right, 0);
    free(left);
    free(right);
}

static void test_full_tables_are_merged(void **state)
{
    (void)state;
    size_t bytes;
    pwr_account_t *left = new_account(), *right = new_account();
    char name[32];
    for (int i = 0; i < PWR_ACCOUNT_COMMS; i++) {
        snprintf(name, sizeof name, "left %d", i);
        pwr_account_add(&cell(left, pwr_account_comm(left, name, 2), 1, 0, 0)->sums, &one_call,
                        false);
        snprintf(name, sizeof name, "right %d", i);
        unsigned comm = pwr_account_comm(right, name, 2);
        for (int c = 0; c < 20; c++) {
            pwr_account_add(&cell(right, comm, (unsigned)c, 0, 0)->sums, &one_call, false);
        }
    }
    void *packed = packed_of(right, &bytes);
    assert_int_equal(pwr_account_merge_packed(left, packed, bytes), PWR_OK);
    assert_int_equal(total(left).calls, PWR_ACCOUNT_COMMS * 21);
    free(packed);
    free(left);
    free(right);
}

static void refuse(const void *packed, size_t bytes)
{
    pwr_account_t *account = new_account();
    assert_int_equal(pwr_account_merge_packed(account, packed, bytes), PWR_ERR_PARSE);
    assert_int_equal(total(account).calls, 0);
    assert_int_equal(account->comms[1].size, 0);
    free(account);
}

static void test_wrong_bytes_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    pwr_account_t *account = new_account();
    fill(account, "world", "row", 50);
    char *packed = packed_of(account, &bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        char *shorter = malloc(i + 1); /* so that reading behind it is seen */
        memcpy(shorter, packed, i);
        refuse(shorter, i);
        free(shorter);
    }
    pwr_account_packed_head_t *head = (pwr_account_packed_head_t *)(void *)packed;
    pwr_account_packed_head_t sound = *head;
    head->num_comms++;
    refuse(packed, bytes);
    *head = sound;
    head->num_cells--;
    refuse(packed, bytes - sizeof(pwr_account_cell_t)); /* the rest is missing */
    *head = sound;
    pwr_account_comm_t *comms = (pwr_account_comm_t *)(head + 1);
    memset(comms[1].name, 'x', sizeof comms[1].name);
    refuse(packed, bytes);
    memcpy(comms[1].name, "world", 6);
    pwr_account_cell_t *cells = (pwr_account_cell_t *)(comms + head->num_comms);
    uint64_t key = cells[0].key;
    cells[0].key = key | UINT64_C(0x7fff) << 48; /* a communicator that is not there */
    refuse(packed, bytes);
    cells[0].key = 0;
    refuse(packed, bytes);
    cells[0].key = key;
    assert_int_equal(pwr_account_merge_packed(account, packed, bytes), PWR_OK);
    free(packed);
    free(account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_add_up),
        cmocka_unit_test(test_cpu_time_of_calls_that_were_not_measured),
        cmocka_unit_test(test_each_kind_has_a_cell),
        cmocka_unit_test(test_communicators_are_names_and_sizes),
        cmocka_unit_test(test_what_has_no_room_is_counted),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_tables_are_merged),
        cmocka_unit_test(test_who_spends_least_time_is_known),
        cmocka_unit_test(test_time_counts_for_the_region_that_is_open),
        cmocka_unit_test(test_regions_are_merged),
        cmocka_unit_test(test_full_tables_are_merged),
        cmocka_unit_test(test_wrong_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
