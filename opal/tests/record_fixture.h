/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Processes of a job that keep a record, and what it comes to.
 */
#ifndef PWR_TEST_RECORD_FIXTURE_H
#define PWR_TEST_RECORD_FIXTURE_H

#include "fixture.h"

#include <jansson.h>

#include "pwr/record.h"

enum { RECORD_CALLS = 10, RECORD_WHY = 512 };

/* As FIXTURE_TEST, with a copy of poweraware-record. */
#define RECORD_TEST(test) cmocka_unit_test_setup_teardown(test, record_setup, fixture_teardown)
int record_setup(void **state);

/* A process of a job, its calls, and its end. */
pwr_record_t *record_open_page(fixture_t *fixture, const char *job, unsigned process);
void record_count(pwr_record_t *record, uint64_t calls);
void record_finish(pwr_record_t *record);
/* It starts the recorder; the document goes to directory, or to the root. */
pwr_status_t record_lead_to(const char *directory, pwr_record_t *record, unsigned processes,
                            const char *summary);
pwr_status_t record_lead(fixture_t *fixture, pwr_record_t *record, unsigned processes,
                         const char *summary);
/* By its program: jobs of other tests have recorders, too. */
pid_t record_recorder(const fixture_t *fixture);

/* False: there is no answer. */
bool record_wait(pwr_record_t *record);
/* To be freed. */
void *record_ledger(pwr_record_t *record, size_t *bytes);
/* Returns the summary, to be freed; why there is no document, or "". */
char *record_publish(pwr_record_t *record, const void *packed, size_t bytes, char why[RECORD_WHY]);
char *record_publish_ledger(pwr_record_t *record, char why[RECORD_WHY]);

/* A document below the root; NULL: there is none.  Calls of its first class. */
json_t *record_load(const fixture_t *fixture, const char *name);
json_int_t record_calls(const json_t *document);

/* Pages that are left. */
int record_pages(const fixture_t *fixture);
bool record_has_no_pages(const fixture_t *fixture);

#endif
