/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel offers by way of frequencies, found out by libcpupower.
 *
 * Levers never go this way: libcpupower opens its files anew at every call and knows no other file
 * system root.  For a description once per run it saves us from knowing every driver's files.
 */
#include "config.h"

#include "pwr/json.h"
#include "tools/inspect/inspect.h"

#ifdef HAVE_LIBCPUPOWER

#include <cpufreq.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_BYTES = 128 };

/* libcpupower returns NULL or 0 for whatever a driver does not tell. */
static json_t *number_or_null(unsigned long number)
{
    return number > 0 ? json_integer((json_int_t)number) : json_null();
}

static json_t *governor(unsigned cpu)
{
    struct cpufreq_policy *policy = cpufreq_get_policy(cpu);
    json_t *name = pwr_json_text_or_null(policy ? policy->governor : NULL, NAMES_BYTES);
    if (policy) {
        cpufreq_put_policy(policy);
    }
    return name;
}

static json_t *governors(unsigned cpu)
{
    char names[NAMES_BYTES] = "";
    struct cpufreq_available_governors *list = cpufreq_get_available_governors(cpu);
    for (struct cpufreq_available_governors *at = list; at; at = at->next) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", at->governor);
    }
    cpufreq_put_available_governors(list);
    return pwr_json_text_or_null(names, sizeof names);
}

static int count(struct cpufreq_available_frequencies *list)
{
    int listed = 0;
    for (struct cpufreq_available_frequencies *at = list; at; at = at->next) {
        listed++;
    }
    cpufreq_put_available_frequencies(list);
    return listed;
}

static unsigned long highest(struct cpufreq_available_frequencies *list)
{
    unsigned long khz = 0;
    for (struct cpufreq_available_frequencies *at = list; at; at = at->next) {
        khz = at->frequency > khz ? at->frequency : khz;
    }
    cpufreq_put_available_frequencies(list);
    return khz;
}

static json_t *discover(unsigned cpu)
{
    unsigned long min_khz, max_khz;
    char *driver = cpufreq_get_driver(cpu);
    if (!driver) {
        return inspect_why_not("the kernel has no cpufreq driver for this CPU");
    }
    if (cpufreq_get_hardware_limits(cpu, &min_khz, &max_khz) != 0) {
        min_khz = max_khz = 0;
    }
    json_t *found = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "driver",
        pwr_json_text_or_null(driver, NAMES_BYTES), "governor", governor(cpu), "governors",
        governors(cpu), "min_khz", number_or_null(min_khz), "max_khz", number_or_null(max_khz),
        "listed_frequencies", count(cpufreq_get_available_frequencies(cpu)), "boost_khz",
        number_or_null(highest(cpufreq_get_boost_frequencies(cpu))), "transition_latency_ns",
        number_or_null(cpufreq_get_transition_latency(cpu)));
    cpufreq_put_driver(driver);
    return found;
}

#else

static json_t *discover(unsigned cpu)
{
    (void)cpu;
    return inspect_why_not("built without libcpupower");
}

#endif

json_t *inspect_cpufreq(const pwr_env_t *env, unsigned cpu)
{
    return env->root[0] == '\0' ? discover(cpu)
                                : inspect_why_not("libcpupower knows only the real machine");
}
