/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The client of poweraware-likwid where likwid is not.  With likwid: test_likwid_machines.py.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "control/control.h"
#include "likwid/likwid.h"

/* liblikwid always acts on the real machine: never for a recorded one. */
static void likwid_on_another_root(void **state)
{
    fixture_t *fixture = *state;
    pwr_control_t control;
    char text[256];
    const pwr_why_t why = pwr_why_init(text, sizeof text);
    fixture_put_cpufreq(fixture, 0, "0");
    assert_int_equal(
        pwr_control_open(&pwr_access_likwid, &fixture->env, PWR_CONTROL_CEILING, 0, &why, &control),
        PWR_ERR_UNSUPPORTED);
    assert_non_null(strstr(text, "real machine only"));
    assert_int_equal(pwr_control_open(&pwr_access_likwid, &fixture->env, PWR_CONTROL_PERF_CTL, 0,
                                      &why, &control),
                     PWR_ERR_UNSUPPORTED);
}

static void likwid_not_installed(void **state)
{
    fixture_t *fixture = *state;
    pwr_env_t env = fixture->env; /* no such program among the fixture's helpers */
    env.root = "";
    char text[256];
    const pwr_why_t why = pwr_why_init(text, sizeof text);
    assert_int_equal(pwr_link_acquire(&pwr_likwid_frequency, &env, &why), PWR_ERR_UNSUPPORTED);
    assert_string_equal(text, "poweraware-likwid: not installed (built without likwid)");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(likwid_on_another_root),
        FIXTURE_TEST(likwid_not_installed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
