/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The facade on a machine made of files, and on a kernel that says what the test wants.
 */
#include "config.h"

#include "power_fixture.h"

#include <string.h>

#include "topo/cpulist.h"

const pwr_power_config_t power_both_levers = {
    .use = {[PWR_LEVER_PSTATE] = true, [PWR_LEVER_TSTATE] = true}, .run_directory = "/run"};

power_kernel_t power_kernel;

static uint64_t clock_ns(void *arg)
{
    (void)arg;
    power_kernel.ahead_ns += power_kernel.tick_ns;
    return 1000000000 + power_kernel.ahead_ns;
}

static uint64_t process_cpu_ns(void *arg)
{
    (void)arg;
    return power_kernel.process_ns;
}

static uint64_t thread_cpu_ns(void *arg)
{
    (void)arg;
    return 0;
}

static bool affinity(void *arg, pwr_cpuset_t *set)
{
    (void)arg;
    *set = power_kernel.binding;
    return true;
}

const pwr_watch_kernel_t power_fake_kernel = {
    .process_cpu_ns = process_cpu_ns, .thread_cpu_ns = thread_cpu_ns, .affinity = affinity};

void power_bind(const char *cpulist)
{
    assert_int_equal(pwr_cpulist_parse(cpulist, strlen(cpulist), &power_kernel.binding), PWR_OK);
}

pwr_power_t *power_open(fixture_t *fixture, const pwr_power_config_t *config, const char *cpulist)
{
    pwr_power_t *power;
    power_kernel.ahead_ns = power_kernel.tick_ns = power_kernel.process_ns = 0;
    power_bind(cpulist);
    fixture->env.now_ns = clock_ns;
    assert_int_equal(pwr_power_open_on(&fixture->env, config, fixture_topo(fixture, NULL, cpulist),
                                       &power_fake_kernel, &power),
                     PWR_OK);
    return power;
}

pwr_power_t *power_open_and_arm(fixture_t *fixture, const char *cpulist)
{
    pwr_power_t *power = power_open(fixture, &power_both_levers, cpulist);
    pwr_power_arm(power);
    return power;
}

void power_put_proc(fixture_t *fixture)
{
    fixture_put(fixture, "/proc/thread-self/status",
                "Name:\tx\nTgid:\t9\nPid:\t9\nPPid:\t1\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t0-7\n");
}

void power_put_hardware(fixture_t *fixture)
{
    power_put_proc(fixture);
    static const char *const cpus[] = {"0\n", "1\n", "2\n", "3\n", "4\n", "5\n", "6\n", "7\n"};
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        fixture_put_cpufreq(fixture, cpu, cpus[cpu]);
        fixture_put_msr(fixture, cpu, "msr", POWER_CLOCK_MODULATION, 0);
    }
}

bool power_is_untouched(const fixture_t *fixture)
{
    bool same = true;
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        same = same && fixture_get_msr(fixture, cpu, "msr", POWER_CLOCK_MODULATION) == 0 &&
               fixture_get_khz(fixture, cpu, "scaling_min_freq") == FIXTURE_FLOOR_KHZ &&
               fixture_get_khz(fixture, cpu, "scaling_max_freq") == FIXTURE_CEILING_KHZ;
    }
    return same;
}

const pwr_lever_counts_t *power_counts(const pwr_power_t *power, pwr_lever_id_t lever)
{
    static pwr_power_counters_t counters;
    counters = pwr_power_counters(power);
    return &counters.lever[lever];
}

void power_expect_off(pwr_power_t *power, const char *reason)
{
    assert_false(pwr_power_has(power, PWR_LEVER_PSTATE));
    assert_false(pwr_power_has(power, PWR_LEVER_TSTATE));
    assert_non_null(strstr(pwr_power_why_off(power), reason));
    const pwr_power_counters_t before = pwr_power_counters(power);
    pwr_power_low(power, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    pwr_power_unthrottle(power);
    pwr_power_full(power);
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        assert_int_equal(power_counts(power, id)->skipped,
                         before.lever[id].skipped + (power->levers[id].use ? 1 : 0));
    }
    assert_int_equal(pwr_power_level(power), 0);
}
