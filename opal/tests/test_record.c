/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The record of a job on a node: pages, the recorder, what is left of jobs that are killed.
 */
#include "config.h"

#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pwr/ledger.h"
#include "pwr/record.h"
#include "rundir.h"

static const uint64_t second = 1000000000;

enum { ALGORITHM = 0, BCAST = 1, CALLS = 10 };

static pwr_record_t *open_page(fixture_t *fixture, const char *job, unsigned process)
{
    pwr_record_t *record;
    const pwr_record_config_t config = {.job = job, .process = process, .timeout_ns = 5 * second};
    assert_int_equal(pwr_record_open(&fixture->env, &config, &record), PWR_OK);
    return record;
}

static void count_calls(pwr_record_t *record, uint64_t calls)
{
    pwr_account_t *account = pwr_record_account(record);
    const pwr_account_kind_t kind = {.comm = pwr_account_comm(account, "wo\xffrld", 4),
                                     .operation = BCAST,
                                     .algorithm = ALGORITHM,
                                     .size_class = 1};
    const pwr_account_sums_t sums = {.calls = calls, .ns = calls * 1000, .longest_ns = 1000};
    pwr_account_add(&pwr_account_cell(account, &kind)->sums, &sums, false);
}

static void finish(pwr_record_t *record)
{
    const pwr_record_end_t end = {.setup_ns = second / 2,
                                  .levers = {{.why_off = "they are tired"}}};
    pwr_record_finish(record, &end);
}

static pwr_status_t lead_to(const char *directory, pwr_record_t *record, unsigned processes,
                            const char *summary)
{
    json_t *about = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:[s, s], s:[s], s:[i, i, n], s:{s:{s:s}, s:{s:s, s:f}}}",
        "directory", directory, "name", "job", "summary", summary, "processes", (int)processes,
        "node_processes", (int)processes, "collectives", "barrier", "bcast", "algorithms", "box",
        "class_bytes", 4, 16, "facts", "software", "open_mpi", "1.2.3", "settings", "scheme",
        "auto", "max_slowdown_percent", 1.5);
    assert_non_null(about);
    pwr_status_t status = pwr_record_start(record);
    if (status != PWR_OK) {
        json_decref(about);
        return status;
    }
    return pwr_record_tell(record, about);
}

static pwr_status_t lead(fixture_t *fixture, pwr_record_t *record, unsigned processes,
                         const char *summary)
{
    return lead_to(fixture->root, record, processes, summary);
}

static bool wait_for_answer(pwr_record_t *record)
{
    const struct timespec moment = {.tv_nsec = 5000000};
    for (int i = 0; i < 4000; i++) {
        if (pwr_record_is_answered(record)) {
            return true;
        }
        nanosleep(&moment, NULL);
    }
    return false;
}

static void *ledger_of(pwr_record_t *record, size_t *bytes)
{
    void *packed;
    assert_int_equal(pwr_record_ask_ledger(record), PWR_OK);
    assert_true(wait_for_answer(record));
    assert_int_equal(pwr_record_ledger(record, &packed, bytes), PWR_OK);
    return packed;
}

static char *publish(pwr_record_t *record, const void *packed, size_t bytes, char *why,
                     size_t why_size)
{
    char *summary;
    assert_int_equal(pwr_record_ask_document(record, packed, bytes), PWR_OK);
    assert_true(wait_for_answer(record));
    assert_int_equal(pwr_record_summary(record, &summary, why, why_size), PWR_OK);
    return summary;
}

static json_t *load(const fixture_t *fixture, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture->root, name);
    return json_load_file(path, 0, NULL);
}

static json_int_t calls_of(const json_t *document)
{
    return json_integer_value(
        json_object_get(json_array_get(json_object_get(document, "calls"), 0), "calls"));
}

static int count_pages(const fixture_t *fixture)
{
    char path[512];
    int pages = 0;
    snprintf(path, sizeof path, "%s/dev/shm/poweraware.%d", fixture->root, (int)geteuid());
    DIR *directory = opendir(path);
    assert_non_null(directory);
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        pages += strncmp(entry->d_name, "calls.", 6) == 0;
    }
    closedir(directory);
    return pages;
}

static bool has_no_pages(const fixture_t *fixture)
{
    return count_pages(fixture) == 0;
}

/* The partial document; NULL: there is none. */
static json_t *load_partial(const fixture_t *fixture)
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/job.*.partial.json", fixture->root);
    json_t *document = glob(pattern, 0, NULL, &found) == 0
                           ? load(fixture, found.gl_pathv[0] + strlen(fixture->root) + 1)
                           : NULL;
    globfree(&found);
    return document;
}

static bool has_partial(const fixture_t *fixture)
{
    json_t *document = load_partial(fixture);
    json_decref(document);
    return document != NULL;
}

static void test_processes_add_up_to_a_document(void **state)
{
    fixture_t *fixture = *state;
    char why[512];
    size_t bytes;
    pwr_record_t *leader = open_page(fixture, "1@2", 0);
    pwr_record_t *other = open_page(fixture, "1@2", 1);
    pwr_record_t *stranger = open_page(fixture, "1@20", 0);
    assert_int_equal(lead(fixture, leader, 2, "summary"), PWR_OK);
    count_calls(leader, CALLS);
    count_calls(other, CALLS + 1);
    count_calls(stranger, 1000);
    finish(leader);
    finish(other);
    void *packed = ledger_of(leader, &bytes);
    char *summary = publish(leader, packed, bytes, why, sizeof why);
    assert_string_equal(why, "");
    assert_non_null(strstr(summary, "2 processes on 1 node, scheme auto"));
    assert_non_null(strstr(summary, "bcast"));
    json_t *document = load(fixture, "job.json");
    assert_non_null(document);
    assert_true(json_is_true(json_object_get(document, "complete")));
    assert_int_equal(json_integer_value(json_object_get(document, "finished")), 2);
    assert_int_equal(calls_of(document), 2 * CALLS + 1);
    json_t *class = json_array_get(json_object_get(document, "calls"), 0);
    assert_string_equal(json_string_value(json_object_get(class, "communicator")), "wo?rld");
    assert_string_equal(json_string_value(json_object_get(class, "collective")), "bcast");
    assert_string_equal(json_string_value(json_object_get(class, "algorithm")), "box");
    assert_int_equal(json_integer_value(json_object_get(class, "up_to_bytes")), 16);
    assert_true(json_number_value(json_object_get(json_object_get(document, "settings"),
                                                  "max_slowdown_percent")) == 1.5);
    json_t *node = json_array_get(json_object_get(document, "nodes"), 0);
    assert_true(json_number_value(json_object_get(node, "setup_s")) == 1.0);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(node, "levers"), 0), "why_off")),
                        "they are tired");
    json_decref(document);
    free(summary);
    free(packed);
    pwr_record_close(leader);
    pwr_record_close(other);
    pwr_record_close(stranger);
    assert_true(fixture_eventually(has_no_pages, fixture));
}

/* What the recorder reads is told to all processes; time counts from the first page, and what was
   used before the first reading is no more than the uncertainty. */
static void test_energy_counts_from_the_first_page(void **state)
{
    fixture_t *fixture = *state;
    const char *zone = "/sys/class/powercap/intel-rapl:0";
    const struct timespec moment = {.tv_nsec = 100000000};
    char path[128], why[512];
    uint64_t uj = 1000000;
    size_t bytes;
    fixture_put(fixture, "/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    snprintf(path, sizeof path, "%s/max_energy_range_uj", zone);
    fixture_put(fixture, path, "262143328850\n");
    snprintf(path, sizeof path, "%s/energy_uj", zone);
    fixture_put(fixture, path, "1000000\n");
    pwr_record_t *leader = open_page(fixture, "job", 0);
    for (int i = 0; i < 10; i++) {
        nanosleep(&moment, NULL);
    }
    assert_int_equal(lead(fixture, leader, 1, "off"), PWR_OK);
    for (int i = 0; i < 1200 && pwr_record_node_uj(leader) == 0; i++) {
        char text[32];
        uj += 10000000; /* 10 J in 0.1 s */
        snprintf(text, sizeof text, "%llu\n", (unsigned long long)uj);
        fixture_put(fixture, path, text);
        nanosleep(&moment, NULL);
    }
    assert_true(pwr_record_node_uj(leader) > 0);
    finish(leader);
    void *packed = ledger_of(leader, &bytes);
    free(publish(leader, packed, bytes, why, sizeof why));
    json_t *document = load(fixture, "job.json");
    json_t *totals = json_object_get(document, "totals");
    double counted = 1e-6 * (double)pwr_record_node_uj(leader);
    double joules = json_number_value(json_object_get(totals, "joules"));
    assert_true(json_number_value(json_object_get(totals, "seconds")) >= 1.0);
    assert_true(joules >= counted); /* equal where the first interval had none */
    assert_true(joules - counted <=
                json_number_value(json_object_get(totals, "uncertainty_j")) + 1e-3);
    json_decref(document);
    free(packed);
    pwr_record_close(leader);
}

static void test_who_is_late_is_waited_for(void **state)
{
    fixture_t *fixture = *state;
    size_t bytes;
    pwr_record_t *leader = open_page(fixture, "job", 0);
    pwr_record_t *late = open_page(fixture, "job", 1);
    assert_int_equal(lead(fixture, leader, 2, "off"), PWR_OK);
    finish(leader);
    assert_int_equal(pwr_record_ask_ledger(leader), PWR_OK);
    const struct timespec moment = {.tv_nsec = 300000000};
    nanosleep(&moment, NULL);
    assert_false(pwr_record_is_answered(leader));
    finish(late);
    void *packed;
    assert_true(wait_for_answer(leader));
    assert_int_equal(pwr_record_ledger(leader, &packed, &bytes), PWR_OK);
    pwr_ledger_t *ledger = pwr_ledger_new();
    assert_int_equal(pwr_ledger_add_packed(ledger, packed, bytes), PWR_OK);
    assert_int_equal(ledger->nodes[0].finished, 2);
    pwr_ledger_free(ledger);
    free(packed);
    pwr_record_close(late);
    pwr_record_close(leader);
}

/* A leader and another process that count and then hang, or end without a word. */
static pid_t start_job(fixture_t *fixture, unsigned process)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pwr_record_t *record = open_page(fixture, "killed", process);
        count_calls(record, CALLS);
        if (process == 0 && lead(fixture, record, 2, "off") != PWR_OK) {
            _exit(1);
        }
        if (write(ready[1], &byte, 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void test_a_killed_job_leaves_what_is_known(void **state)
{
    fixture_t *fixture = *state;
    pid_t other = start_job(fixture, 1);
    pid_t leader = start_job(fixture, 0);
    const struct timespec moment = {.tv_nsec = 300000000};
    nanosleep(&moment, NULL);
    kill(leader, SIGKILL);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(leader, NULL, 0), leader);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_true(fixture_eventually(has_no_pages, fixture));
    json_t *document = load_partial(fixture);
    assert_non_null(document);
    assert_true(json_is_false(json_object_get(document, "complete")));
    assert_int_equal(json_integer_value(json_object_get(document, "reported")), 2);
    assert_int_equal(json_integer_value(json_object_get(document, "finished")), 0);
    assert_int_equal(calls_of(document), 2 * CALLS);
    assert_null(load(fixture, "job.json"));
    json_decref(document);
}

/* By its program: jobs of other tests have recorders, too. */
static pid_t recorder_of(const fixture_t *fixture)
{
    char command[512];
    int pid = 0;
    snprintf(command, sizeof command, "pgrep -n -f '^%s/poweraware-record'", fixture->root);
    FILE *pgrep = popen(command, "r");
    assert_non_null(pgrep);
    assert_int_equal(fscanf(pgrep, "%d", &pid), 1);
    pclose(pgrep);
    return pid;
}

/* Both die at once: what was written before is all there is. */
static void test_a_job_killed_with_its_recorder_leaves_a_partial_document(void **state)
{
    fixture_t *fixture = *state;
    pid_t other = start_job(fixture, 1);
    pid_t leader = start_job(fixture, 0);
    assert_true(fixture_eventually(has_partial, fixture));
    kill(recorder_of(fixture), SIGKILL);
    kill(leader, SIGKILL);
    kill(other, SIGKILL);
    waitpid(leader, NULL, 0);
    waitpid(other, NULL, 0);
    json_t *document = load_partial(fixture);
    assert_true(json_is_false(json_object_get(document, "complete")));
    json_decref(document);
    assert_int_equal(count_pages(fixture), 2);
    pwr_record_t *next = open_page(fixture, "next", 0); /* the next job cleans up */
    assert_int_equal(lead(fixture, next, 1, "off"), PWR_OK);
    finish(next);
    size_t bytes;
    free(ledger_of(next, &bytes));
    assert_int_equal(count_pages(fixture), 1);
    pwr_record_close(next);
}

static void test_a_recorder_that_is_gone_or_stands_still_is_given_up(void **state)
{
    fixture_t *fixture = *state;
    static const int signals[] = {SIGKILL, SIGSTOP};
    static const pwr_status_t expected[] = {PWR_ERR_IO, PWR_ERR_TIMEOUT};
    for (int i = 0; i < 2; i++) {
        pwr_record_t *record;
        void *packed;
        size_t bytes;
        const pwr_record_config_t config = {
            .job = "job", .process = (unsigned)i, .timeout_ns = second / 2};
        assert_int_equal(pwr_record_open(&fixture->env, &config, &record), PWR_OK);
        assert_int_equal(lead(fixture, record, 1, "off"), PWR_OK);
        pid_t recorder = recorder_of(fixture);
        kill(recorder, signals[i]);
        finish(record);
        if (pwr_record_ask_ledger(record) == PWR_OK) {
            assert_true(wait_for_answer(record));
            assert_int_equal(pwr_record_ledger(record, &packed, &bytes), expected[i]);
        }
        kill(recorder, SIGKILL);
        pwr_record_close(record);
    }
}

static void test_where_no_page_can_be_made_calls_still_count(void **state)
{
    fixture_t *fixture = *state;
    fixture_remove(fixture, "/dev/shm");
    pwr_record_t *record = open_page(fixture, "job", 0);
    count_calls(record, CALLS);
    assert_int_equal(lead(fixture, record, 1, "off"), PWR_ERR_UNSUPPORTED);
    finish(record);
    assert_int_equal(pwr_record_ask_ledger(record), PWR_ERR_IO);
    pwr_record_close(record);
}

static void test_a_page_that_lives_is_not_touched(void **state)
{
    fixture_t *fixture = *state;
    pwr_record_t *one = open_page(fixture, "same", 3);
    count_calls(one, CALLS);
    pwr_record_t *same = open_page(fixture, "same", 3); /* gets no page */
    assert_ptr_not_equal(pwr_record_account(one), pwr_record_account(same));
    assert_non_null(strstr(fixture->log, "calls.same.3"));
    pwr_record_close(same);
    assert_int_equal(count_pages(fixture), 1);
    pwr_record_close(one);
    assert_int_equal(count_pages(fixture), 0);
}

static void test_without_a_recorder_there_is_a_reason(void **state)
{
    fixture_t *fixture = *state;
    pwr_record_t *record = open_page(fixture, "job", 0);
    fixture->env.helper_dir = "/nowhere";
    assert_int_equal(lead(fixture, record, 1, "off"), PWR_ERR_UNSUPPORTED);
    pwr_record_close(record);
}

static void make_document(fixture_t *fixture, const char *job)
{
    char why[512];
    size_t bytes;
    pwr_record_t *leader = open_page(fixture, job, 0);
    assert_int_equal(lead(fixture, leader, 1, "off"), PWR_OK);
    count_calls(leader, CALLS);
    finish(leader);
    void *packed = ledger_of(leader, &bytes);
    free(publish(leader, packed, bytes, why, sizeof why));
    assert_string_equal(why, "");
    free(packed);
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
        json_t *document = load(fixture, name);
        assert_non_null(document);
        json_decref(document);
    }
}

static void test_a_document_that_cannot_be_written_is_said(void **state)
{
    fixture_t *fixture = *state;
    char why[512];
    size_t bytes;
    char directory[256];
    snprintf(directory, sizeof directory, "%s/documents", fixture->root);
    fixture_make_directory(fixture, "/documents");
    pwr_record_t *leader = open_page(fixture, "job", 0);
    assert_int_equal(lead_to(directory, leader, 1, "full"), PWR_OK);
    count_calls(leader, CALLS);
    finish(leader);
    void *packed = ledger_of(leader, &bytes);
    fixture_remove(fixture, "/documents");
    char *summary = publish(leader, packed, bytes, why, sizeof why);
    assert_non_null(strstr(why, "/documents/job.json: No such file or directory"));
    assert_non_null(strstr(summary, "bcast"));
    free(summary);
    memset(packed, 'x', 16); /* nor one that is made of nonsense */
    summary = publish(leader, packed, bytes, why, sizeof why);
    assert_non_null(strstr(why, "cannot be read"));
    free(summary);
    free(packed);
    pwr_record_close(leader);
}

/* A program that writes where it should not reaches its own page, too. */
static void test_a_spoilt_page_spoils_nothing_else(void **state)
{
    fixture_t *fixture = *state;
    size_t bytes;
    char why[512];
    pwr_record_t *leader = open_page(fixture, "job", 0);
    pwr_record_t *spoilt = open_page(fixture, "job", 1);
    assert_int_equal(lead(fixture, leader, 2, "full"), PWR_OK);
    count_calls(leader, CALLS);
    finish(leader);
    finish(spoilt);
    memset(pwr_record_account(spoilt), 0xff, sizeof(pwr_account_t));
    void *packed = ledger_of(leader, &bytes);
    free(publish(leader, packed, bytes, why, sizeof why));
    json_t *document = load(fixture, "job.json");
    assert_non_null(document);
    json_decref(document);
    free(packed);
    pwr_record_close(spoilt);
    pwr_record_close(leader);
}

static int setup(void **state)
{
    int rc = fixture_setup(state);
    fixture_copy_program(*state, "poweraware-record");
    return rc;
}

#define RECORD_TEST(test) cmocka_unit_test_setup_teardown(test, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORD_TEST(test_processes_add_up_to_a_document),
        RECORD_TEST(test_energy_counts_from_the_first_page),
        RECORD_TEST(test_who_is_late_is_waited_for),
        RECORD_TEST(test_a_killed_job_leaves_what_is_known),
        RECORD_TEST(test_a_job_killed_with_its_recorder_leaves_a_partial_document),
        RECORD_TEST(test_a_recorder_that_is_gone_or_stands_still_is_given_up),
        RECORD_TEST(test_where_no_page_can_be_made_calls_still_count),
        RECORD_TEST(test_a_page_that_lives_is_not_touched),
        RECORD_TEST(test_without_a_recorder_there_is_a_reason),
        RECORD_TEST(test_no_document_is_overwritten),
        RECORD_TEST(test_a_document_that_cannot_be_written_is_said),
        RECORD_TEST(test_a_spoilt_page_spoils_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
