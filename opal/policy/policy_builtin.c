/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is assumed of a machine that nobody has calibrated, with the sources.
 *
 * No power: watts of other machines decide nothing on this one.  No spread: the sources give
 * medians.
 */
#include "config.h"

#include "pwr/policy.h"

#include <stdio.h>
#include <string.h>

typedef struct builtin {
    unsigned id; /* pwr_policy_row_id_t */
    unsigned family;
    const char *vendor; /* NULL: any processor */
    unsigned first_model, last_model;
    uint64_t entry_ns, exit_ns;
    uint64_t settle_ns; /* each way */
    const char *citation;
} builtin_t;

/* The calls of a lever: what one pwrite on a held descriptor of an emulated register took.  Next to
   the settling it hardly counts. */
enum { LEVER_CALL_NS = 3000 };

static const char own_measurement[] =
    "poweraware-calibrate on a virtual machine with two CPUs of an AMD EPYC (family 25, model 17) "
    "under Linux 6.18";
static const char skylake[] = "transition median of Schoene et al., Energy Efficiency Features of "
                              "the Intel Skylake-SP Processor, HPCS 2019";
static const char sapphire_rapids[] =
    "transition median reported for Sapphire Rapids; its worst case is 1.1 to 2.0 ms";
static const char zen2[] =
    "upper end of 850 to 900 us of Schoene et al., Energy Efficiency Aspects of the AMD Zen 2 "
    "Architecture, 2021";
static const char slowest[] = "a processor without a figure of its own is taken to be as slow as "
                              "the slowest known: AMD Zen 2";
static const char umwait[] =
    "lower and upper end of 0.2 to 1 us reported for waking from C0.2 (umwait) on Sapphire Rapids; "
    "other processors and instructions are taken to be alike";
static const char uncore_sapphire_rapids[] =
    "transition of the uncore frequency of 0.5 ms reported for Sapphire Rapids";
static const char uncore_skylake[] =
    "transition of the uncore frequency of up to 10 ms reported for Skylake-SP; other processors "
    "are taken to be as slow";
static const char icpp[] =
    "upper end of 10 to 15 us of Kandalla, Mancini, Sur, Panda, ICPP 2010 (Nehalem)";

enum {
    PSTATE = PWR_POLICY_LEVER(PWR_LEVER_PSTATE),
    TSTATE = PWR_POLICY_LEVER(PWR_LEVER_TSTATE),
    UNCORE = PWR_POLICY_LEVER(PWR_LEVER_UNCORE)
};

/* The first row that matches counts. */
static const builtin_t rows[] = {
    {PSTATE, 6, "GenuineIntel", 26, 26, LEVER_CALL_NS, LEVER_CALL_NS, 15000, icpp},
    {PSTATE, 6, "GenuineIntel", 85, 85, LEVER_CALL_NS, LEVER_CALL_NS, 500000, skylake},
    {PSTATE, 6, "GenuineIntel", 143, 143, LEVER_CALL_NS, LEVER_CALL_NS, 600000, sapphire_rapids},
    {PSTATE, 23, "AuthenticAMD", 49, 49, LEVER_CALL_NS, LEVER_CALL_NS, 900000, zen2},
    {PSTATE, 0, NULL, 0, 0, LEVER_CALL_NS, LEVER_CALL_NS, 900000, slowest},
    {TSTATE, 0, NULL, 0, 0, LEVER_CALL_NS, LEVER_CALL_NS, 15000, icpp},
    {UNCORE, 6, "GenuineIntel", 143, 143, LEVER_CALL_NS, LEVER_CALL_NS, 500000,
     uncore_sapphire_rapids},
    {UNCORE, 0, NULL, 0, 0, LEVER_CALL_NS, LEVER_CALL_NS, 10000000, uncore_skylake},
    {PWR_POLICY_SPIN, 0, NULL, 0, 0, 2, 100, 0, own_measurement},
    {PWR_POLICY_PAUSE, 0, NULL, 0, 0, 3, 150, 0, own_measurement},
    {PWR_POLICY_MONITOR, 0, NULL, 0, 0, 200, 1000, 0, umwait},
    {PWR_POLICY_YIELD, 0, NULL, 0, 0, 480, 7300, 0, own_measurement},
    {PWR_POLICY_FUTEX, 0, NULL, 0, 0, 11700, 24100, 0, own_measurement},
    {PWR_POLICY_FUTEX_SAME_CPU, 0, NULL, 0, 0, 3400, 4000, 0, own_measurement},
    {PWR_POLICY_FUTEX_CROWDED, 0, NULL, 0, 0, 12400, 12100, 0, own_measurement},
    {PWR_POLICY_EPOLL, 0, NULL, 0, 0, 11900, 24100, 0, own_measurement},
};

static bool matches(const builtin_t *row, const pwr_cpu_model_t *cpu)
{
    return !row->vendor ||
           (cpu && strcmp(cpu->vendor, row->vendor) == 0 && cpu->family == row->family &&
            cpu->model >= row->first_model && cpu->model <= row->last_model);
}

void pwr_policy_builtin(const pwr_cpu_model_t *cpu, pwr_policy_row_id_t id, pwr_policy_row_t *row)
{
    const builtin_t *found = rows;
    while (found->id != (unsigned)id || !matches(found, cpu)) {
        found++; /* ends: every id has a row for any processor (a test proves it) */
    }
    *row = (pwr_policy_row_t){
        .origin = PWR_POLICY_BUILTIN,
        .entry_ns = found->entry_ns,
        .exit_ns = found->exit_ns,
        .entry_settle_ns = found->settle_ns,
        .exit_settle_ns = found->settle_ns,
        .power_w = PWR_POLICY_W_UNKNOWN,
    };
    snprintf(row->citation, sizeof row->citation, "%s", found->citation);
}
