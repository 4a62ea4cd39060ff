/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is left when a process and its guardian are killed together, and poweraware-restore on it.
 */
#ifndef PWR_TEST_LEFTOVER_H
#define PWR_TEST_LEFTOVER_H

#include "fixture.h"

/* As FIXTURE_TEST, with a copy of poweraware-restore. */
#define LEFTOVER_TEST(test) cmocka_unit_test_setup_teardown(test, leftover_setup, fixture_teardown)
int leftover_setup(void **state);

enum { LEFTOVER_FOUND = 3000000, LEFTOVER_LOWER = 1200000 };

typedef struct leftover_process {
    pid_t pid;
    pid_t guardian;
} leftover_process_t;

/* A process of user uid and job that has lowered the ceiling of cpu from what it found to
   LEFTOVER_LOWER, with its guardian; both live. */
leftover_process_t leftover_start(fixture_t *fixture, uid_t uid, const char *job, unsigned cpu);
/* Kills the guardian, then the process (and reaps it). */
void leftover_kill(leftover_process_t process);
/* Both. */
void leftover_make(fixture_t *fixture, uid_t uid, const char *job, unsigned cpu);

/* The ceiling of cpu. */
void leftover_put_ceiling(fixture_t *fixture, unsigned cpu, unsigned khz);
unsigned long leftover_ceiling(const fixture_t *fixture, unsigned cpu);

/* The run-time directory of user uid, relative to the root; and how many journals it has, with the
   name of one in name (may be NULL). */
const char *leftover_directory(uid_t uid);
unsigned leftover_journals(const fixture_t *fixture, uid_t uid, char name[256]);

typedef struct leftover_run {
    int status; /* exit status */
    char output[8192];
} leftover_run_t;

/* poweraware-restore with --root of the fixture and up to four options more (NULL ends them);
   standard output and error together. */
void leftover_restore(const fixture_t *fixture, const char *const options[], leftover_run_t *run);

#endif
