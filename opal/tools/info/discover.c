/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel offers by way of frequencies, found out by libcpupower.
 *
 * Levers never go this way: libcpupower opens its files anew at every call and knows no other file
 * system root.  For a description once per run it saves us from knowing every driver's files.
 */
#include "config.h"

#include "tools/info/info.h"

#ifdef HAVE_LIBCPUPOWER

#include <cpufreq.h>
#include <string.h>

/* libcpupower returns NULL or 0 for whatever a driver does not tell. */
static void copy_text(char *to, unsigned size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static void read_policy(unsigned cpu, info_cpufreq_t *cpufreq)
{
    struct cpufreq_policy *policy = cpufreq_get_policy(cpu);
    if (policy) {
        copy_text(cpufreq->governor, sizeof cpufreq->governor, policy->governor);
        cpufreq_put_policy(policy);
    }
    struct cpufreq_available_governors *governors = cpufreq_get_available_governors(cpu);
    for (struct cpufreq_available_governors *at = governors; at; at = at->next) {
        size_t used = strlen(cpufreq->governors);
        snprintf(cpufreq->governors + used, sizeof cpufreq->governors - used, "%s%s",
                 used > 0 ? " " : "", at->governor);
    }
    cpufreq_put_available_governors(governors);
}

static void read_frequencies(unsigned cpu, info_cpufreq_t *cpufreq)
{
    struct cpufreq_available_frequencies *list = cpufreq_get_available_frequencies(cpu);
    for (struct cpufreq_available_frequencies *at = list; at; at = at->next) {
        cpufreq->num_frequencies++;
    }
    cpufreq_put_available_frequencies(list);
    list = cpufreq_get_boost_frequencies(cpu);
    for (struct cpufreq_available_frequencies *at = list; at; at = at->next) {
        cpufreq->boost_khz =
            at->frequency > cpufreq->boost_khz ? at->frequency : cpufreq->boost_khz;
    }
    cpufreq_put_boost_frequencies(list);
}

static void discover(unsigned cpu, info_cpufreq_t *cpufreq)
{
    char *driver = cpufreq_get_driver(cpu);
    if (!driver) {
        cpufreq->why_not = "the kernel has no cpufreq driver for this CPU";
        return;
    }
    copy_text(cpufreq->driver, sizeof cpufreq->driver, driver);
    cpufreq_put_driver(driver);
    if (cpufreq_get_hardware_limits(cpu, &cpufreq->min_khz, &cpufreq->max_khz) != 0) {
        cpufreq->min_khz = cpufreq->max_khz = 0;
    }
    cpufreq->latency_ns = cpufreq_get_transition_latency(cpu);
    read_policy(cpu, cpufreq);
    read_frequencies(cpu, cpufreq);
}

#else

static void discover(unsigned cpu, info_cpufreq_t *cpufreq)
{
    (void)cpu;
    cpufreq->why_not = "built without libcpupower";
}

#endif

void info_discover_cpufreq(const pwr_env_t *env, unsigned cpu, info_cpufreq_t *cpufreq)
{
    *cpufreq = (info_cpufreq_t){0};
    if (env->root[0] != '\0') {
        cpufreq->why_not = "libcpupower knows only the real machine";
        return;
    }
    discover(cpu, cpufreq);
}
