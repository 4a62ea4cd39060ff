/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ledgers: parts add up, whatever the order; packed ones and wrong ones; energy of calls.
 */
#include "config.h"

#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr/ledger.h"

static const uint64_t s = 1000000000;
static const uint64_t now = UINT64_C(1790000000) * 1000000000;

static pwr_ledger_node_t node_of(int number)
{
    pwr_ledger_node_t node = {
        .processes = 4,
        .reported = 4,
        .finished = 4,
        .begin_ns = now,
        .end_ns = now + 10 * s,
        .wall_ns = 40 * s,
        .cpu_ns = 30 * s,
        .domains = {[PWR_DOMAIN_PACKAGE] = {1, 1000000, 10}},
        .uj = 1000000,
        .source = "msr",
    };
    snprintf(node.host, sizeof node.host, "node%d", number);
    return node;
}

static pwr_account_sums_t *cell(pwr_account_t *account, unsigned what, int algorithm)
{
    const pwr_account_kind_t kind = {.comm = pwr_account_comm(account, "everybody", 8),
                                     .operation = what,
                                     .algorithm = algorithm};
    return &pwr_account_cell(account, &kind)->sums;
}

/* A node's ledger, with calls. */
static pwr_ledger_t *ledger_of(int number)
{
    pwr_ledger_t *ledger = pwr_ledger_new();
    assert_non_null(ledger);
    const pwr_ledger_node_t node = node_of(number);
    pwr_series_t power = {0};
    pwr_series_add(&power, node.begin_ns, node.end_ns, node.uj);
    cell(&ledger->account, 3, 1)->calls += (uint64_t)number;
    assert_int_equal(pwr_ledger_add_node(ledger, &node, &power), PWR_OK);
    return ledger;
}

static void add(pwr_ledger_t *into, const pwr_ledger_t *from)
{
    size_t bytes;
    void *packed = pwr_ledger_pack(from, &bytes);
    assert_non_null(packed);
    assert_int_equal(pwr_ledger_add_packed(into, packed, bytes), PWR_OK);
    free(packed);
}

/* As in a tree: the ledgers of [first, first + num). */
static pwr_ledger_t *sum_of(int first, int num)
{
    if (num == 1) {
        return ledger_of(first);
    }
    pwr_ledger_t *left = sum_of(first, num / 2);
    pwr_ledger_t *right = sum_of(first + num / 2, num - num / 2);
    add(left, right);
    pwr_ledger_free(right);
    return left;
}

static void test_parts_add_up(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 63, 64, 65, 66, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int num = sizes[i];
        pwr_ledger_t *sum = sum_of(0, num);
        assert_int_equal(sum->num_nodes, num);
        assert_int_equal(cell(&sum->account, 3, 1)->calls, num * (num - 1) / 2);
        assert_int_equal(pwr_series_sum(&sum->power), num * 1000000);
        for (int n = 0; n < num; n++) {
            const pwr_ledger_node_t node = node_of(n);
            assert_string_equal(sum->nodes[n].host, node.host);
            if (num <= PWR_LEDGER_SERIES) {
                assert_int_equal(pwr_series_sum(&sum->series[n]), 1000000);
            } else {
                assert_null(sum->series);
            }
        }
        pwr_ledger_free(sum);
    }
}

enum { GPU_UJ = 400, CPU_UJ = 1000000 };

/* Nodes 0, 3, 6 .. are containers on one machine, nodes 1, 4, 7 .. on another, the others have
   their own, one of them unknown; all have a GPU. */
static pwr_ledger_t *containers(int num, pwr_meter_provenance_t provenance)
{
    pwr_ledger_t *sum = pwr_ledger_new();
    for (int i = 0; i < num; i++) {
        pwr_ledger_t *part = pwr_ledger_new();
        pwr_ledger_node_t node = node_of(i);
        pwr_series_t power = {0};
        node.provenance = (uint32_t)provenance;
        node.domains[PWR_DOMAIN_GPU] = (pwr_ledger_domain_t){1, GPU_UJ, 0};
        node.uj = CPU_UJ + GPU_UJ;
        if (i % 3 < 2) {
            snprintf(node.machine, sizeof node.machine, "machine %d", i % 3);
        } else if (i > 2) {
            snprintf(node.machine, sizeof node.machine, "own %d", i);
        }
        pwr_series_add(&power, node.begin_ns, node.end_ns, node.uj);
        pwr_account_sums_t *calls = cell(&part->account, 3, 1);
        calls->calls = 1;
        calls->ns = 20 * s;
        calls->cpu_ns = calls->cpu_of_ns = 10 * s;
        pwr_ledger_attribute(&part->account, &node, pwr_ledger_weights());
        assert_int_equal(pwr_ledger_add_node(part, &node, &power), PWR_OK);
        add(sum, part);
        pwr_ledger_free(part);
    }
    return sum;
}

static void test_containers_share_a_machine(void **state)
{
    (void)state;
    static const int sizes[] = {2, 3, 7, 64, 65, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int num = sizes[i], of_machine[3] = {0};
        pwr_ledger_t *sum = containers(num, PWR_METER_MEASURED);
        double calls_before = (double)cell(&sum->account, 3, 1)->uj;
        for (int n = 0; n < num; n++) {
            of_machine[n % 3]++;
        }
        /* a second time it finds nothing to do */
        assert_int_equal(pwr_ledger_share_machines(sum), PWR_OK);
        assert_int_equal(pwr_ledger_share_machines(sum), PWR_OK);
        uint64_t all_uj = 0;
        for (int n = 0; n < num; n++) {
            const pwr_ledger_node_t *node = &sum->nodes[n];
            uint64_t among = n % 3 < 2 && of_machine[n % 3] > 1 ? (uint64_t)of_machine[n % 3] : 1;
            assert_int_equal(node->uj, GPU_UJ + CPU_UJ / among);
            assert_int_equal(node->domains[PWR_DOMAIN_PACKAGE].uj, CPU_UJ / among);
            assert_int_equal(node->domains[PWR_DOMAIN_GPU].uj, GPU_UJ);
            assert_true(node->shared_by == among || (among == 1 && node->shared_by == 0));
            assert_true(!sum->series || pwr_series_sum(&sum->series[n]) == node->uj);
            all_uj += node->uj;
        }
        uint64_t power_uj = pwr_series_sum(&sum->power);
        assert_true(power_uj <= all_uj + 1 && power_uj + 1 >= all_uj);
        double cpus_uj = (double)(all_uj - (uint64_t)num * GPU_UJ);
        double calls_uj = (double)cell(&sum->account, 3, 1)->uj;
        assert_true(fabs(calls_uj - calls_before * cpus_uj / ((double)num * CPU_UJ)) < 2.0);
        pwr_ledger_free(sum);
    }
}

static void test_emulated_machines_are_no_containers(void **state)
{
    (void)state;
    pwr_ledger_t *sum = containers(9, PWR_METER_EMULATED);
    assert_int_equal(pwr_ledger_share_machines(sum), PWR_OK);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(sum->nodes[i].uj, CPU_UJ + GPU_UJ);
        assert_int_equal(sum->nodes[i].shared_by, 0);
    }
    pwr_ledger_free(sum);
}

static void test_an_empty_one_adds_nothing(void **state)
{
    (void)state;
    pwr_ledger_t *empty = pwr_ledger_new(), *one = ledger_of(7);
    add(one, empty);
    add(empty, one);
    assert_int_equal(one->num_nodes, 1);
    assert_int_equal(empty->num_nodes, 1);
    assert_int_equal(pwr_series_sum(&empty->series[0]), 1000000);
    pwr_ledger_free(empty);
    pwr_ledger_free(one);
}

static void refuse(const char *packed, size_t bytes)
{
    pwr_ledger_t *ledger = pwr_ledger_new();
    void *copy = malloc(bytes + 1); /* so that reading behind it is seen */
    assert_non_null(copy);
    memcpy(copy, packed, bytes);
    assert_int_equal(pwr_ledger_add_packed(ledger, copy, bytes), PWR_ERR_PARSE);
    assert_int_equal(ledger->num_nodes, 0);
    free(copy);
    pwr_ledger_free(ledger);
}

static void test_wrong_bytes_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    pwr_ledger_t *ledger = sum_of(1, 3);
    char *packed = pwr_ledger_pack(ledger, &bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        refuse(packed, i);
    }
    uint32_t *head = (uint32_t *)(void *)packed;
    for (int field = 0; field < 4; field++) { /* magic, nodes, series, bytes of the account */
        static const uint32_t wrong[] = {0, 1, 2, 4, 0x7fffffff, 0xffffffff};
        uint32_t right = head[field];
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            head[field] = wrong[i];
            refuse(packed, bytes);
        }
        head[field] = right;
    }
    char *host = NULL;
    for (size_t i = 0; !host && i + 5 < bytes; i++) {
        host = memcmp(packed + i, "node1", 5) == 0 ? packed + i : NULL;
    }
    assert_non_null(host);
    memset(host, 'x', 64);
    refuse(packed, bytes);
    free(packed);
    pwr_ledger_free(ledger);
}

static const pwr_ledger_weights_t half_asleep = {.asleep = 0.5, .left = {0.4, 0.25}};

static void assert_about(uint64_t uj, double wanted)
{
    assert_true((double)uj >= wanted - 1.0 && (double)uj <= wanted + 1.0);
}

/* 4 processes for 10 s: 8 s in call A polling, 16 s in call B of which 2 s of CPU time, the rest
   outside, computing. */
static void test_energy_is_attributed_by_time_and_state(void **state)
{
    (void)state;
    pwr_ledger_t *ledger = pwr_ledger_new();
    pwr_account_t *account = &ledger->account;
    pwr_ledger_node_t node = node_of(0);
    *cell(account, 1, 0) =
        (pwr_account_sums_t){.calls = 5, .ns = 8 * s, .cpu_ns = 8 * s, .cpu_of_ns = 8 * s};
    *cell(account, 2, 0) =
        (pwr_account_sums_t){.calls = 5, .ns = 16 * s, .cpu_ns = s, .cpu_of_ns = 8 * s};
    node.cpu_ns = (8 + 2 + 16) * s;
    node.uj = 1000000;
    /* w: A 8, B 2 + 0.5 * 14 = 9, outside 16: 33 */
    pwr_ledger_attribute(account, &node, half_asleep);
    assert_about(cell(account, 1, 0)->uj, 1000000.0 * 8 / 33);
    assert_about(cell(account, 2, 0)->uj, 1000000.0 * 9 / 33);
    /* a region has its calls, A's, and what was computed in it: 10 s of 24 */
    pwr_account_region_t *region = pwr_account_region(account, "solve");
    region->ns = 18 * s;
    region->cpu_ns = 18 * s;
    region->calls = *cell(account, 1, 0);
    pwr_ledger_attribute(account, &node, half_asleep);
    assert_about(region->uj, 1000000.0 * 18 / 33);
    /* what GPUs used is not theirs */
    node.domains[PWR_DOMAIN_GPU] = (pwr_ledger_domain_t){1, 500000, 0};
    pwr_ledger_attribute(account, &node, half_asleep);
    assert_about(cell(account, 1, 0)->uj, 500000.0 * 8 / 33);
    pwr_ledger_free(ledger);
}

static bool is_algorithm_of(const void *number, int algorithm)
{
    return *(const int *)number == algorithm;
}

/* Of 40 s of processes 8 s in calls that GPUs make. */
static void test_energy_of_gpus_is_that_of_their_calls(void **state)
{
    (void)state;
    const int by_gpus = 3;
    pwr_ledger_t *ledger = pwr_ledger_new();
    for (int i = 0; i < 2; i++) {
        pwr_ledger_node_t node = node_of(i);
        const pwr_series_t power = {0};
        node.uj = 1000000;
        node.domains[PWR_DOMAIN_GPU] = (pwr_ledger_domain_t){1, 500000, 0};
        node.wall_ns = 20 * s;
        assert_int_equal(pwr_ledger_add_node(ledger, &node, &power), PWR_OK);
    }
    pwr_account_sums_t *theirs = cell(&ledger->account, 1, by_gpus);
    pwr_account_sums_t *others = cell(&ledger->account, 1, by_gpus + 1);
    *theirs = (pwr_account_sums_t){.calls = 1, .ns = 8 * s, .uj = 7};
    *others = (pwr_account_sums_t){.calls = 1, .ns = 8 * s, .uj = 7};
    pwr_ledger_attribute_gpus(ledger, is_algorithm_of, &by_gpus);
    assert_about(theirs->uj, 7 + 1000000.0 * 8 / 40);
    assert_int_equal(others->uj, 7);
    pwr_ledger_free(ledger);
}

/* 3 processes that poll for 10 s: at full speed, at the lowest frequency, throttled as well for 5
 * s. */
static void test_slow_calls_are_charged_less(void **state)
{
    (void)state;
    pwr_ledger_t *ledger = pwr_ledger_new();
    pwr_account_t *account = &ledger->account;
    pwr_ledger_node_t node = node_of(0);
    const pwr_account_sums_t polls = {
        .calls = 1, .ns = 10 * s, .cpu_ns = 10 * s, .cpu_of_ns = 10 * s};
    for (unsigned what = 1; what <= 3; what++) {
        *cell(account, what, 0) = polls;
    }
    cell(account, 2, 0)->held_ns[PWR_LEVER_PSTATE] = 10 * s;
    cell(account, 3, 0)->held_ns[PWR_LEVER_PSTATE] = 10 * s;
    cell(account, 3, 0)->held_ns[PWR_LEVER_TSTATE] = 5 * s;
    node.wall_ns = 30 * s;
    node.cpu_ns = 30 * s;
    node.uj = 1000000;
    /* w: 10, 5 + 5 * 0.4 = 7, 5 + 5 * 0.4 * (1 - 0.75 / 2) = 6.25: 23.25 */
    pwr_ledger_attribute(account, &node, half_asleep);
    assert_about(cell(account, 1, 0)->uj, 1000000 * 10 / 23.25);
    assert_about(cell(account, 2, 0)->uj, 1000000 * 7 / 23.25);
    assert_about(cell(account, 3, 0)->uj, 1000000 * 6.25 / 23.25);
    pwr_ledger_free(ledger);
}

/* Node 1 begins a fifth of its own time late, node 2 is an hour late by its clock. */
static void test_all_nodes_have_the_window_of_the_job(void **state)
{
    (void)state;
    for (unsigned num = 2; num <= 3; num++) {
        pwr_ledger_t *ledger = pwr_ledger_new();
        for (unsigned i = 0; i < num; i++) {
            pwr_series_t power = {0};
            pwr_ledger_node_t node = node_of(i);
            node.uj = node.domains[PWR_DOMAIN_PACKAGE].uj = 12000000;
            node.uncertainty_uj = 5;
            node.begin_ns = now + (i == 0 ? 0 : 2 * s) + (i == 2 ? 3600 * s : 0);
            node.end_ns = now + 12 * s + (i == 2 ? 3600 * s : 0);
            pwr_series_add(&power, node.begin_ns, node.end_ns, node.uj);
            assert_int_equal(pwr_ledger_add_node(ledger, &node, &power), PWR_OK);
        }
        pwr_ledger_align_windows(ledger);
        if (num == 2) {
            assert_int_equal(ledger->nodes[0].uj, 12000000);
            assert_int_equal(ledger->nodes[1].uj, 12000000 + 2400000);
            assert_int_equal(ledger->nodes[1].uncertainty_uj, 5 + 2400000);
            assert_int_equal(ledger->nodes[1].domains[PWR_DOMAIN_PACKAGE].uj, 14400000);
            assert_int_equal(ledger->nodes[1].begin_ns, now);
            assert_int_equal(pwr_series_sum(&ledger->series[1]), 14400000);
            assert_int_equal(pwr_series_sum(&ledger->power), 12000000 + 14400000);
        } else {
            assert_int_equal(ledger->nodes[1].uj, 12000000);
            assert_int_equal(ledger->nodes[1].begin_ns, now + 2 * s);
            assert_int_equal(pwr_series_sum(&ledger->power), 3 * 12000000);
        }
        pwr_ledger_free(ledger);
    }
}

static void test_calls_are_never_charged_more_than_there_is(void **state)
{
    (void)state;
    pwr_ledger_t *ledger = pwr_ledger_new();
    pwr_account_t *account = &ledger->account;
    pwr_ledger_node_t node = node_of(0);
    uint64_t sum = 0;
    node.wall_ns = 0; /* what cannot be: calls in no time, more CPU time than that */
    node.cpu_ns = 0;
    for (unsigned what = 0; what < 100; what++) {
        *cell(account, what, 0) =
            (pwr_account_sums_t){.ns = 1 + what, .cpu_ns = 50, .cpu_of_ns = what, .held_ns = {40}};
    }
    account->rest.sums = (pwr_account_sums_t){.ns = 1000};
    pwr_ledger_attribute(account, &node, pwr_ledger_weights());
    for (unsigned what = 0; what < 100; what++) {
        sum += cell(account, what, 0)->uj;
    }
    sum += account->rest.sums.uj;
    assert_true(sum >= 999000 && sum <= 1000000);
    node.uj = 0;
    pwr_ledger_attribute(account, &node, pwr_ledger_weights());
    assert_int_equal(cell(account, 5, 0)->uj, 0);
    memset(account, 0, sizeof *account); /* nothing at all */
    pwr_ledger_attribute(account, &node, pwr_ledger_weights());
    pwr_ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_containers_share_a_machine),
        cmocka_unit_test(test_emulated_machines_are_no_containers),
        cmocka_unit_test(test_an_empty_one_adds_nothing),
        cmocka_unit_test(test_all_nodes_have_the_window_of_the_job),
        cmocka_unit_test(test_wrong_bytes_are_refused),
        cmocka_unit_test(test_energy_is_attributed_by_time_and_state),
        cmocka_unit_test(test_energy_of_gpus_is_that_of_their_calls),
        cmocka_unit_test(test_slow_calls_are_charged_less),
        cmocka_unit_test(test_calls_are_never_charged_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
