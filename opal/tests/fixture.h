/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A machine made of files in a temporary directory, and ways to make it fail.
 *
 * The trees are built here after the kernel's documentation (cpufreq.rst, powercap.rst) and the
 * msr driver's rule "offset is the register number"; no recorded machine is needed.
 */
#ifndef PWR_TEST_FIXTURE_H
#define PWR_TEST_FIXTURE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include <cmocka.h>

#include "pwr/env.h"
#include "pwr/guard.h"
#include "pwr/topo.h"

struct pwr_control;

/* The programs of this build. */
#define FIXTURE_GUARD_PROGRAM PWR_TEST_TOOLS "/poweraware-guard"
#define FIXTURE_SAMPLE_PROGRAM PWR_TEST_TOOLS "/poweraware-sample"

enum { FIXTURE_CEILING_KHZ = 3000000, FIXTURE_FLOOR_KHZ = 1500000, FIXTURE_LOWEST_KHZ = 1200000 };

typedef struct fixture {
    pwr_env_t env; /* root and helper_dir are the temporary directory; it has copies of
                      poweraware-guard and poweraware-start that every user may start, and a
                      /dev/shm */
    char root[200];
    char log[4096]; /* all lines of all levels, each with a newline */
} fixture_t;

/* A row of a test table: test gets a fresh fixture_t * as *state. */
#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Copies a program of this build to the root, where every user may start it: the build may lie in a
   folder that only its owner may enter. */
void fixture_copy_program(fixture_t *fixture, const char *name);
/* The same, as another file below the root. */
void fixture_put_program(fixture_t *fixture, const char *name, const char *path);

/* assert_in_range of older versions of cmocka: newer ones call it deprecated. */
static inline void fixture_assert_between(uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least || value > most) {
        fail_msg("%" PRIu64 " is not between %" PRIu64 " and %" PRIu64, value, least, most);
    }
}

/* Files below the root; parents are made. */
void fixture_put(fixture_t *fixture, const char *path, const char *text);
void fixture_get(const fixture_t *fixture, const char *path, char *text, size_t size);
void fixture_make_directory(fixture_t *fixture, const char *path);
/* Replaces whatever path is. */
void fixture_link(fixture_t *fixture, const char *path, const char *target);
void fixture_remove(fixture_t *fixture, const char *path);
/* 8 bytes at offset number of /dev/cpu/<cpu>/<device>. */
void fixture_put_msr(fixture_t *fixture, unsigned cpu, const char *device, uint64_t number,
                     uint64_t value);
uint64_t fixture_get_msr(const fixture_t *fixture, unsigned cpu, const char *device,
                         uint64_t number);
/* A cpufreq folder with the values above and governor "performance". */
void fixture_put_cpufreq(fixture_t *fixture, unsigned cpu, const char *related_cpus);
void fixture_put_cpufreq_file(fixture_t *fixture, unsigned cpu, const char *file, const char *text);
/* The uncore of a package, one die with CPUs first to last: 1.2 to 2.4 GHz, and how its CPUs tell
 * it. */
void fixture_put_uncore(fixture_t *fixture, unsigned package, unsigned first, unsigned last);
void fixture_put_uncore_file(fixture_t *fixture, unsigned package, const char *file,
                             const char *text);
unsigned long fixture_get_uncore_khz(const fixture_t *fixture, unsigned package, const char *file);
/* Leading number of a cpufreq file. */
unsigned long fixture_get_khz(const fixture_t *fixture, unsigned cpu, const char *file);

/* A machine of two packages with four cores each (CPUs 0-3 and 4-7), or with synthetic (hwloc's
   notation) another one, bound to cpulist. */
pwr_topo_t *fixture_topo(fixture_t *fixture, const char *synthetic, const char *cpulist);
/* The guardian of this build, for "job", with its journal in the default run-time directory below
   the root. */
pwr_guard_t *fixture_guard(fixture_t *fixture);

/* The ceiling of a CPU's cpufreq folder, as a control; closed by its access. */
void fixture_open_ceiling(fixture_t *fixture, unsigned cpu, struct pwr_control *control);

/* Runs body in a child without root's rights, and returns its result (0..255). */
int fixture_run_unprivileged(fixture_t *fixture, int (*body)(fixture_t *fixture));
/* A process that does body and then sleeps until fixture_kill; returns when body is done.  False:
   the test fails. */
pid_t fixture_start(fixture_t *fixture, bool (*body)(fixture_t *fixture));
/* Ends it without a chance to clean up. */
void fixture_kill(pid_t pid);
/* From now on no byte of a file at or behind limit can be written (RLIM_INFINITY lifts it). */
void fixture_limit_writes(uint64_t limit);
/* Polls condition for a minute, which means for ever; false when it never came true. */
bool fixture_eventually(bool (*condition)(const fixture_t *fixture), const fixture_t *fixture);

#endif
