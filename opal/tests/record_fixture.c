/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Processes of a job that keep a record, and what it comes to.
 */
#include "config.h"

#include "record_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pwr/clock.h"

enum { ALGORITHM = 0, BCAST = 1 };

pwr_record_t *record_open_page(fixture_t *fixture, const char *job, unsigned process)
{
    pwr_record_t *record;
    const pwr_record_config_t config = {
        .job = job, .process = process, .timeout_ns = 5 * (uint64_t)PWR_NS_PER_S};
    assert_int_equal(pwr_record_open(&fixture->env, &config, &record), PWR_OK);
    return record;
}

void record_count(pwr_record_t *record, uint64_t calls)
{
    pwr_account_t *account = pwr_record_account(record);
    const pwr_account_kind_t kind = {.comm = pwr_account_comm(account, "wo\xffrld", 4),
                                     .operation = BCAST,
                                     .algorithm = ALGORITHM,
                                     .size_class = 1};
    const pwr_account_sums_t sums = {.calls = calls, .ns = calls * 1000, .longest_ns = 1000};
    pwr_account_add(&pwr_account_cell(account, &kind)->sums, &sums, false);
}

void record_finish(pwr_record_t *record)
{
    const pwr_record_end_t end = {.setup_ns = PWR_NS_PER_S / 2,
                                  .levers = {{.why_off = "they are tired"}}};
    pwr_record_finish(record, &end);
}

pwr_status_t record_lead_to(const char *directory, pwr_record_t *record, unsigned processes,
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

pwr_status_t record_lead(fixture_t *fixture, pwr_record_t *record, unsigned processes,
                         const char *summary)
{
    return record_lead_to(fixture->root, record, processes, summary);
}

bool record_wait(pwr_record_t *record)
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

void *record_ledger(pwr_record_t *record, size_t *bytes)
{
    void *packed;
    assert_int_equal(pwr_record_ask_ledger(record), PWR_OK);
    assert_true(record_wait(record));
    assert_int_equal(pwr_record_ledger(record, &packed, bytes), PWR_OK);
    return packed;
}

char *record_publish(pwr_record_t *record, const void *packed, size_t bytes, char why[RECORD_WHY])
{
    char *summary;
    assert_int_equal(pwr_record_ask_document(record, packed, bytes), PWR_OK);
    assert_true(record_wait(record));
    assert_int_equal(pwr_record_summary(record, &summary, why, RECORD_WHY), PWR_OK);
    return summary;
}

char *record_publish_ledger(pwr_record_t *record, char why[RECORD_WHY])
{
    size_t bytes;
    void *packed = record_ledger(record, &bytes);
    char *summary = record_publish(record, packed, bytes, why);
    free(packed);
    return summary;
}

json_t *record_load(const fixture_t *fixture, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture->root, name);
    return json_load_file(path, 0, NULL);
}

json_int_t record_calls(const json_t *document)
{
    return json_integer_value(
        json_object_get(json_array_get(json_object_get(document, "calls"), 0), "calls"));
}

int record_pages(const fixture_t *fixture)
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

bool record_has_no_pages(const fixture_t *fixture)
{
    return record_pages(fixture) == 0;
}

pid_t record_recorder(const fixture_t *fixture)
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

int record_setup(void **state)
{
    int rc = fixture_setup(state);
    fixture_copy_program(*state, "poweraware-record");
    return rc;
}
