/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The record of a job on a node: pages, the recorder, the document.
 */
#include "config.h"

#include "record_fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pwr/ledger.h"

static void test_processes_add_up_to_a_document(void **state)
{
    fixture_t *fixture = *state;
    char why[RECORD_WHY];
    pwr_record_t *leader = record_open_page(fixture, "1@2", 0);
    pwr_record_t *other = record_open_page(fixture, "1@2", 1);
    pwr_record_t *stranger = record_open_page(fixture, "1@20", 0);
    assert_int_equal(record_lead(fixture, leader, 2, "summary"), PWR_OK);
    record_count(leader, RECORD_CALLS);
    record_count(other, RECORD_CALLS + 1);
    record_count(stranger, 1000);
    record_finish(leader);
    record_finish(other);
    json_t *late = json_pack("{s:{s:i}}", "decisions", "left_out", 3);
    assert_int_equal(pwr_record_add_facts(leader, late), PWR_OK);
    char *summary = record_publish_ledger(leader, why);
    assert_string_equal(why, "");
    assert_non_null(strstr(summary, "2 processes on 1 node, scheme auto"));
    assert_non_null(strstr(summary, "bcast"));
    json_t *document = record_load(fixture, "job.json");
    assert_non_null(document);
    assert_true(json_is_true(json_object_get(document, "complete")));
    assert_int_equal(json_integer_value(json_object_get(document, "finished")), 2);
    assert_int_equal(record_calls(document), 2 * RECORD_CALLS + 1);
    json_t *class = json_array_get(json_object_get(document, "calls"), 0);
    assert_string_equal(json_string_value(json_object_get(class, "communicator")), "wo?rld");
    assert_string_equal(json_string_value(json_object_get(class, "collective")), "bcast");
    assert_string_equal(json_string_value(json_object_get(class, "algorithm")), "box");
    assert_int_equal(json_integer_value(json_object_get(class, "up_to_bytes")), 16);
    assert_true(json_number_value(json_object_get(json_object_get(document, "settings"),
                                                  "max_slowdown_percent")) == 1.5);
    json_t *decisions = json_object_get(document, "decisions");
    assert_int_equal(json_integer_value(json_object_get(decisions, "left_out")), 3);
    json_t *node = json_array_get(json_object_get(document, "nodes"), 0);
    assert_true(json_number_value(json_object_get(node, "setup_s")) == 1.0);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(node, "levers"), 0), "why_off")),
                        "they are tired");
    json_decref(document);
    free(summary);
    pwr_record_close(leader);
    pwr_record_close(other);
    pwr_record_close(stranger);
    assert_true(fixture_eventually(record_has_no_pages, fixture));
}

/* What GPUs have counted is told apart from what is modelled. */
static void test_gpus_are_measured(void **state)
{
    fixture_t *fixture = *state;
    char why[RECORD_WHY];
    size_t bytes;
    pwr_ledger_t *ledger = pwr_ledger_new();
    pwr_record_t *leader = record_open_page(fixture, "1@2", 0);
    assert_int_equal(record_lead(fixture, leader, 1, "summary"), PWR_OK);
    record_count(leader, RECORD_CALLS);
    record_finish(leader);
    void *packed = record_ledger(leader, &bytes);
    assert_int_equal(pwr_ledger_add_packed(ledger, packed, bytes), PWR_OK);
    pwr_ledger_node_t *node = &ledger->nodes[0];
    node->domains[PWR_DOMAIN_GPU] = (pwr_ledger_domain_t){1, 500000000, 2000000};
    node->uj = 700000000;
    node->provenance = PWR_METER_MODELLED;
    strcpy(node->source, "model");
    free(packed);
    packed = pwr_ledger_pack(ledger, &bytes);
    char *summary = record_publish(leader, packed, bytes, why);
    assert_non_null(strstr(summary, "| Energy [J]             |        700.000 | +- "));
    assert_non_null(
        strstr(summary, "|   of it of GPUs [J]    |        500.000 | +- 2.000, measured (NVML)"));
    json_t *document = record_load(fixture, "job.json");
    json_t *energy = json_object_get(json_object_get(document, "provenance"), "energy");
    assert_non_null(strstr(json_string_value(json_object_get(energy, "note")),
                           "500 J of it, of GPUs, are measured (NVML)"));
    json_decref(document);
    free(summary);
    free(packed);
    pwr_ledger_free(ledger);
    pwr_record_close(leader);
}

/* A component that is loaded late has operations of its own. */
static void test_names_of_operations_may_come_later(void **state)
{
    fixture_t *fixture = *state;
    char why[RECORD_WHY];
    pwr_record_t *leader = record_open_page(fixture, "1@2", 0);
    assert_int_equal(record_lead(fixture, leader, 1, "summary"), PWR_OK);
    record_count(leader, RECORD_CALLS);
    record_finish(leader);
    json_t *names = json_pack("{s:[s, s, s]}", "collectives", "barrier", "shmem_wait", "shmem_get");
    assert_int_equal(pwr_record_add_facts(leader, names), PWR_OK);
    free(record_publish_ledger(leader, why));
    json_t *document = record_load(fixture, "job.json");
    json_t *class = json_array_get(json_object_get(document, "calls"), 0);
    assert_string_equal(json_string_value(json_object_get(class, "collective")), "shmem_wait");
    assert_null(json_object_get(document, "collectives"));
    json_decref(document);
    pwr_record_close(leader);
    assert_true(fixture_eventually(record_has_no_pages, fixture));
}

/* What the recorder reads is told to all processes; time counts from the first page, and what was
   used before the first reading is no more than the uncertainty. */
static void test_energy_counts_from_the_first_page(void **state)
{
    fixture_t *fixture = *state;
    const char *zone = "/sys/class/powercap/intel-rapl:0";
    const struct timespec moment = {.tv_nsec = 100000000};
    char path[128], why[RECORD_WHY];
    uint64_t uj = 1000000;
    fixture_put(fixture, "/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    snprintf(path, sizeof path, "%s/max_energy_range_uj", zone);
    fixture_put(fixture, path, "262143328850\n");
    snprintf(path, sizeof path, "%s/energy_uj", zone);
    fixture_put(fixture, path, "1000000\n");
    pwr_record_t *leader = record_open_page(fixture, "job", 0);
    for (int i = 0; i < 10; i++) {
        nanosleep(&moment, NULL);
    }
    assert_int_equal(record_lead(fixture, leader, 1, "off"), PWR_OK);
    for (int i = 0; i < 1200 && pwr_record_node_uj(leader) == 0; i++) {
        char text[32];
        uj += 10000000; /* 10 J in 0.1 s */
        snprintf(text, sizeof text, "%llu\n", (unsigned long long)uj);
        fixture_put(fixture, path, text);
        nanosleep(&moment, NULL);
    }
    assert_true(pwr_record_node_uj(leader) > 0);
    record_finish(leader);
    free(record_publish_ledger(leader, why));
    json_t *document = record_load(fixture, "job.json");
    json_t *totals = json_object_get(document, "totals");
    double counted = 1e-6 * (double)pwr_record_node_uj(leader);
    double joules = json_number_value(json_object_get(totals, "joules"));
    assert_true(json_number_value(json_object_get(totals, "seconds")) >= 1.0);
    assert_true(joules >= counted); /* equal where the first interval had none */
    assert_true(joules - counted <=
                json_number_value(json_object_get(totals, "uncertainty_j")) + 1e-3);
    json_decref(document);
    pwr_record_close(leader);
}

static void test_who_is_late_is_waited_for(void **state)
{
    fixture_t *fixture = *state;
    size_t bytes;
    pwr_record_t *leader = record_open_page(fixture, "job", 0);
    pwr_record_t *late = record_open_page(fixture, "job", 1);
    assert_int_equal(record_lead(fixture, leader, 2, "off"), PWR_OK);
    record_finish(leader);
    assert_int_equal(pwr_record_ask_ledger(leader), PWR_OK);
    const struct timespec moment = {.tv_nsec = 300000000};
    nanosleep(&moment, NULL);
    assert_false(pwr_record_is_answered(leader));
    record_finish(late);
    void *packed;
    assert_true(record_wait(leader));
    assert_int_equal(pwr_record_ledger(leader, &packed, &bytes), PWR_OK);
    pwr_ledger_t *ledger = pwr_ledger_new();
    assert_int_equal(pwr_ledger_add_packed(ledger, packed, bytes), PWR_OK);
    assert_int_equal(ledger->nodes[0].finished, 2);
    pwr_ledger_free(ledger);
    free(packed);
    pwr_record_close(late);
    pwr_record_close(leader);
}

static void test_where_no_page_can_be_made_calls_still_count(void **state)
{
    fixture_t *fixture = *state;
    fixture_remove(fixture, "/dev/shm");
    pwr_record_t *record = record_open_page(fixture, "job", 0);
    record_count(record, RECORD_CALLS);
    assert_int_equal(record_lead(fixture, record, 1, "off"), PWR_ERR_UNSUPPORTED);
    record_finish(record);
    assert_int_equal(pwr_record_ask_ledger(record), PWR_ERR_IO);
    pwr_record_close(record);
}

static void test_a_page_that_lives_is_not_touched(void **state)
{
    fixture_t *fixture = *state;
    pwr_record_t *one = record_open_page(fixture, "same", 3);
    record_count(one, RECORD_CALLS);
    pwr_record_t *same = record_open_page(fixture, "same", 3); /* gets no page */
    assert_ptr_not_equal(pwr_record_account(one), pwr_record_account(same));
    assert_non_null(strstr(fixture->log, "calls.same.3"));
    pwr_record_close(same);
    assert_int_equal(record_pages(fixture), 1);
    pwr_record_close(one);
    assert_int_equal(record_pages(fixture), 0);
}

static void test_without_a_recorder_there_is_a_reason(void **state)
{
    fixture_t *fixture = *state;
    pwr_record_t *record = record_open_page(fixture, "job", 0);
    fixture->env.helper_dir = "/nowhere";
    assert_int_equal(record_lead(fixture, record, 1, "off"), PWR_ERR_UNSUPPORTED);
    pwr_record_close(record);
}

static void make_document(fixture_t *fixture, const char *job)
{
    char why[RECORD_WHY];
    pwr_record_t *leader = record_open_page(fixture, job, 0);
    assert_int_equal(record_lead(fixture, leader, 1, "off"), PWR_OK);
    record_count(leader, RECORD_CALLS);
    record_finish(leader);
    free(record_publish_ledger(leader, why));
    assert_string_equal(why, "");
    pwr_record_close(leader);
}

/* Jobs with one report_dir, at once or one after the other. */
static void test_no_document_is_overwritten(void **state)
{
    fixture_t *fixture = *state;
    char host[64] = "";
    char name[256];
    fixture_put(fixture, "/job.json", "somebody else's");
    make_document(fixture, "1@2");
    make_document(fixture, "1@2");
    char text[64];
    fixture_get(fixture, "/job.json", text, sizeof text);
    assert_string_equal(text, "somebody else's");
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "job-1_2-%s-%d%s.json", host, (int)getpid(),
                 i == 0 ? "" : "-2");
        json_t *document = record_load(fixture, name);
        assert_non_null(document);
        json_decref(document);
    }
}

static void test_a_document_that_cannot_be_written_is_said(void **state)
{
    fixture_t *fixture = *state;
    char why[RECORD_WHY];
    size_t bytes;
    char directory[256];
    snprintf(directory, sizeof directory, "%s/documents", fixture->root);
    fixture_make_directory(fixture, "/documents");
    pwr_record_t *leader = record_open_page(fixture, "job", 0);
    assert_int_equal(record_lead_to(directory, leader, 1, "full"), PWR_OK);
    record_count(leader, RECORD_CALLS);
    record_finish(leader);
    void *packed = record_ledger(leader, &bytes);
    fixture_remove(fixture, "/documents");
    char *summary = record_publish(leader, packed, bytes, why);
    assert_non_null(strstr(why, "/documents/job.json: No such file or directory"));
    assert_non_null(strstr(summary, "bcast"));
    free(summary);
    memset(packed, 'x', 16); /* nor one that is made of nonsense */
    summary = record_publish(leader, packed, bytes, why);
    assert_non_null(strstr(why, "cannot be read"));
    free(summary);
    free(packed);
    pwr_record_close(leader);
}

/* A program that writes where it should not reaches its own page, too. */
static void test_a_spoilt_page_spoils_nothing_else(void **state)
{
    fixture_t *fixture = *state;
    char why[RECORD_WHY];
    pwr_record_t *leader = record_open_page(fixture, "job", 0);
    pwr_record_t *spoilt = record_open_page(fixture, "job", 1);
    assert_int_equal(record_lead(fixture, leader, 2, "full"), PWR_OK);
    record_count(leader, RECORD_CALLS);
    record_finish(leader);
    record_finish(spoilt);
    memset(pwr_record_account(spoilt), 0xff, sizeof(pwr_account_t));
    free(record_publish_ledger(leader, why));
    json_t *document = record_load(fixture, "job.json");
    assert_non_null(document);
    json_decref(document);
    pwr_record_close(spoilt);
    pwr_record_close(leader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORD_TEST(test_processes_add_up_to_a_document),
        RECORD_TEST(test_gpus_are_measured),
        RECORD_TEST(test_names_of_operations_may_come_later),
        RECORD_TEST(test_energy_counts_from_the_first_page),
        RECORD_TEST(test_who_is_late_is_waited_for),
        RECORD_TEST(test_where_no_page_can_be_made_calls_still_count),
        RECORD_TEST(test_a_page_that_lives_is_not_touched),
        RECORD_TEST(test_without_a_recorder_there_is_a_reason),
        RECORD_TEST(test_no_document_is_overwritten),
        RECORD_TEST(test_a_document_that_cannot_be_written_is_said),
        RECORD_TEST(test_a_spoilt_page_spoils_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
