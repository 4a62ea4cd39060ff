/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is left of jobs that are killed, and of jobs whose recorder is.
 */
#include "config.h"

#include "record_fixture.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pwr/clock.h"

/* The partial document; NULL: there is none. */
static json_t *load_partial(const fixture_t *fixture)
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/job.*.partial.json", fixture->root);
    json_t *document = glob(pattern, 0, NULL, &found) == 0
                           ? record_load(fixture, found.gl_pathv[0] + strlen(fixture->root) + 1)
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

/* A leader and another process that count and then hang, or end without a word. */
static bool lead_killed(fixture_t *fixture)
{
    pwr_record_t *record = record_open_page(fixture, "killed", 0);
    record_count(record, RECORD_CALLS);
    return record_lead(fixture, record, 2, "off") == PWR_OK;
}

static bool join_killed(fixture_t *fixture)
{
    record_count(record_open_page(fixture, "killed", 1), RECORD_CALLS);
    return true;
}

static void test_a_killed_job_leaves_what_is_known(void **state)
{
    fixture_t *fixture = *state;
    pid_t other = fixture_start(fixture, join_killed);
    pid_t leader = fixture_start(fixture, lead_killed);
    const struct timespec moment = {.tv_nsec = 300000000};
    nanosleep(&moment, NULL);
    fixture_kill(leader);
    fixture_kill(other);
    assert_true(fixture_eventually(record_has_no_pages, fixture));
    json_t *document = load_partial(fixture);
    assert_non_null(document);
    assert_true(json_is_false(json_object_get(document, "complete")));
    assert_int_equal(json_integer_value(json_object_get(document, "reported")), 2);
    assert_int_equal(json_integer_value(json_object_get(document, "finished")), 0);
    assert_int_equal(record_calls(document), 2 * RECORD_CALLS);
    assert_null(record_load(fixture, "job.json"));
    json_decref(document);
}

/* Both die at once: what was written before is all there is. */
static void test_a_job_killed_with_its_recorder_leaves_a_partial_document(void **state)
{
    fixture_t *fixture = *state;
    pid_t other = fixture_start(fixture, join_killed);
    pid_t leader = fixture_start(fixture, lead_killed);
    assert_true(fixture_eventually(has_partial, fixture));
    kill(record_recorder(fixture), SIGKILL);
    fixture_kill(leader);
    fixture_kill(other);
    json_t *document = load_partial(fixture);
    assert_true(json_is_false(json_object_get(document, "complete")));
    json_decref(document);
    assert_int_equal(record_pages(fixture), 2);
    pwr_record_t *next = record_open_page(fixture, "next", 0); /* the next job cleans up */
    assert_int_equal(record_lead(fixture, next, 1, "off"), PWR_OK);
    record_finish(next);
    size_t bytes;
    free(record_ledger(next, &bytes));
    assert_int_equal(record_pages(fixture), 1);
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
            .job = "job", .process = (unsigned)i, .timeout_ns = PWR_NS_PER_S / 2};
        assert_int_equal(pwr_record_open(&fixture->env, &config, &record), PWR_OK);
        assert_int_equal(record_lead(fixture, record, 1, "off"), PWR_OK);
        pid_t recorder = record_recorder(fixture);
        kill(recorder, signals[i]);
        record_finish(record);
        if (pwr_record_ask_ledger(record) == PWR_OK) {
            assert_true(record_wait(record));
            assert_int_equal(pwr_record_ledger(record, &packed, &bytes), expected[i]);
        }
        kill(recorder, SIGKILL);
        pwr_record_close(record);
    }
}

static uint64_t clock_ns;

static uint64_t read_clock(void *arg)
{
    (void)arg;
    return clock_ns;
}

/* The whole job was stopped, or the machine: the recorder has had no more time than we had. */
static void test_a_clock_that_jumps_is_not_the_recorders_fault(void **state)
{
    fixture_t *fixture = *state;
    pwr_env_t env = fixture->env;
    env.now_ns = read_clock;
    clock_ns = PWR_NS_PER_S;
    pwr_record_t *record;
    const pwr_record_config_t config = {.job = "job", .timeout_ns = 2 * PWR_NS_PER_S};
    assert_int_equal(pwr_record_open(&env, &config, &record), PWR_OK);
    assert_int_equal(record_lead(fixture, record, 1, "off"), PWR_OK);
    pid_t recorder = record_recorder(fixture);
    kill(recorder, SIGSTOP);
    assert_int_equal(pwr_record_ask_ledger(record), PWR_OK);
    for (int i = 0; i < 10; i++) {
        clock_ns += UINT64_C(1000) * PWR_NS_PER_S;
        assert_false(pwr_record_is_answered(record));
    }
    int looks = 0;
    while (looks < 30 && !pwr_record_is_answered(record)) {
        clock_ns += PWR_NS_PER_S / 10;
        looks++;
    }
    assert_true(looks >= 10 && looks <= 13);
    kill(recorder, SIGKILL);
    pwr_record_close(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORD_TEST(test_a_killed_job_leaves_what_is_known),
        RECORD_TEST(test_a_job_killed_with_its_recorder_leaves_a_partial_document),
        RECORD_TEST(test_a_recorder_that_is_gone_or_stands_still_is_given_up),
        RECORD_TEST(test_a_clock_that_jumps_is_not_the_recorders_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
