/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Claims between processes.
 */
#include "config.h"

#include "fixture.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr/claim.h"

typedef struct neighbour {
    pid_t pid;
    int release; /* closing it lets the neighbour end */
} neighbour_t;

/* Another process that claims cpulist; returns once it holds the claim. */
static neighbour_t start_neighbour(fixture_t *fixture, const char *synthetic, const char *cpulist)
{
    int ready[2], release[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(release), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pwr_claim_t *claim = NULL;
        pwr_topo_t *topo = fixture_topo(fixture, synthetic, cpulist);
        close(release[1]);
        bool taken = pwr_claim_take(&fixture->env, topo, "/run", &claim) == PWR_OK;
        bool told = taken && write(ready[1], "x", 1) == 1;
        bool ended = told && read(release[0], &byte, 1) == 0;
        pwr_claim_release(claim);
        pwr_topo_close(topo);
        _exit(ended ? 0 : 1);
    }
    close(ready[1]);
    close(release[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return (neighbour_t){.pid = pid, .release = release[1]};
}

static void end_neighbour(neighbour_t neighbour)
{
    close(neighbour.release);
    assert_int_equal(waitpid(neighbour.pid, NULL, 0), neighbour.pid);
}

static pwr_claim_t *claim_cpus(fixture_t *fixture, const char *synthetic, const char *cpulist)
{
    pwr_claim_t *claim;
    pwr_topo_t *topo = fixture_topo(fixture, synthetic, cpulist);
    assert_int_equal(pwr_claim_take(&fixture->env, topo, "/run", &claim), PWR_OK);
    pwr_topo_close(topo);
    return claim;
}

static void test_alone(void **state)
{
    pwr_claim_t *claim = claim_cpus(*state, NULL, "0-3");
    unsigned shared = 99;
    assert_true(pwr_claim_is_exclusive(claim, &shared));
    assert_int_equal(shared, 99);
    pwr_claim_release(claim);
    pwr_claim_release(NULL);
}

static void test_neighbour_on_other_cpus(void **state)
{
    neighbour_t neighbour = start_neighbour(*state, NULL, "4-7");
    pwr_claim_t *claim = claim_cpus(*state, NULL, "0-3");
    assert_true(pwr_claim_is_exclusive(claim, NULL));
    pwr_claim_release(claim);
    end_neighbour(neighbour);
}

static void test_neighbour_on_a_cpu_of_ours(void **state)
{
    neighbour_t neighbour = start_neighbour(*state, NULL, "2-5");
    pwr_claim_t *claim = claim_cpus(*state, NULL, "0-3");
    unsigned shared = 99;
    assert_false(pwr_claim_is_exclusive(claim, &shared));
    assert_int_equal(shared, 2);
    assert_false(pwr_claim_is_exclusive(claim, NULL));
    end_neighbour(neighbour);
    assert_true(pwr_claim_is_exclusive(claim, &shared)); /* a claim ends with its process */
    pwr_claim_release(claim);
}

static void test_killed_neighbour_leaves_nothing(void **state)
{
    neighbour_t neighbour = start_neighbour(*state, NULL, "0");
    pwr_claim_t *claim = claim_cpus(*state, NULL, "0");
    assert_false(pwr_claim_is_exclusive(claim, NULL));
    assert_int_equal(kill(neighbour.pid, SIGKILL), 0);
    end_neighbour(neighbour);
    assert_true(pwr_claim_is_exclusive(claim, NULL));
    pwr_claim_release(claim);
}

static void test_neighbour_on_an_smt_sibling(void **state)
{
    static const char smt[] = "package:1 core:2 pu:2";
    neighbour_t neighbour = start_neighbour(*state, smt, "1");
    pwr_claim_t *claim = claim_cpus(*state, smt, "0");
    unsigned shared = 99;
    assert_false(pwr_claim_is_exclusive(claim, &shared));
    assert_int_equal(shared, 1);
    pwr_claim_release(claim);
    claim = claim_cpus(*state, smt, "2");
    assert_true(pwr_claim_is_exclusive(claim, NULL));
    pwr_claim_release(claim);
    end_neighbour(neighbour);
}

static void expect_refusal(fixture_t *fixture, pwr_status_t expected)
{
    pwr_claim_t *claim = NULL;
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "0");
    assert_int_equal(pwr_claim_take(&fixture->env, topo, "/run", &claim), expected);
    assert_null(claim);
    assert_string_not_equal(fixture->log, "");
    pwr_topo_close(topo);
}

/* What a registry or its directory may not be is tested with opal/rundir.h. */
static void test_registry_that_is_no_file_of_ours(void **state)
{
    fixture_t *fixture = *state;
    fixture_make_directory(fixture, "/run");
    char name[PATH_MAX];
    assert_int_equal(pwr_env_path(&fixture->env, "/run", name, sizeof name), PWR_OK);
    assert_int_equal(chmod(name, 0700), 0);
    fixture_put(fixture, "/elsewhere", "");
    fixture_link(fixture, "/run/cpus", "../elsewhere");
    expect_refusal(fixture, PWR_ERR_PERM);
    assert_non_null(strstr(fixture->log, "/run/cpus"));
}

static void test_directory_open_to_others(void **state)
{
    fixture_t *fixture = *state;
    fixture_make_directory(fixture, "/run");
    expect_refusal(fixture, PWR_ERR_PERM);
    assert_non_null(strstr(fixture->log, "mode 700"));
}

static void test_missing_directory(void **state)
{
    fixture_t *fixture = *state;
    pwr_claim_t *claim = NULL;
    pwr_topo_t *topo = fixture_topo(fixture, NULL, "0");
    assert_int_equal(pwr_claim_take(&fixture->env, topo, "/none/run", &claim), PWR_ERR_UNSUPPORTED);
    assert_null(claim);
    pwr_topo_close(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_alone),
        FIXTURE_TEST(test_neighbour_on_other_cpus),
        FIXTURE_TEST(test_neighbour_on_a_cpu_of_ours),
        FIXTURE_TEST(test_killed_neighbour_leaves_nothing),
        FIXTURE_TEST(test_neighbour_on_an_smt_sibling),
        FIXTURE_TEST(test_registry_that_is_no_file_of_ours),
        FIXTURE_TEST(test_directory_open_to_others),
        FIXTURE_TEST(test_missing_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
