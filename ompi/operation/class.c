/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What this rank knows of operations of one name and size on one communicator: how long their waits
 * last (pwr/history.h), and what saving in them costs (pwr/audit.h).
 */
#include "operation_private.h"

#include <stdlib.h>

#include "pwr/clock.h"
#include "pwr/policy.h"
#include "pwr_ompi/process.h"

/* ---- the clocks of the audit ---- */

static uint64_t now_ns(void *arg)
{
    (void)arg;
    return pwr_env_now_ns(&pwr_process.env);
}

static uint64_t cpu_ns(void *arg)
{
    (void)arg;
    return pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Of the node's processors. */
static uint64_t energy_uj(void *arg)
{
    enum { MOST_DOMAINS = 64 };
    pwr_meter_reading_t readings[MOST_DOMAINS];
    const pwr_meter_t *meter = pwr_process.meter;
    uint64_t sum = 0;
    (void)arg;
    if (NULL == meter || pwr_meter_num_domains(meter) > MOST_DOMAINS ||
        PWR_OK != pwr_meter_read(pwr_process.meter, readings)) {
        return 0;
    }
    for (unsigned i = 0; i < pwr_meter_num_domains(meter); ++i) {
        if (PWR_DOMAIN_PACKAGE == pwr_meter_domain(meter, i)->kind) {
            if (PWR_OK != readings[i].status) {
                return 0;
            }
            sum += readings[i].energy_uj;
        }
    }
    return sum;
}

static const pwr_audit_clock_t clocks = {
    .now_ns = now_ns, .cpu_ns = cpu_ns, .energy_uj = energy_uj};

/* ---- classes ---- */

/* Whether operations of up to so many bytes may move levers.  The audit asks before the first of
   them, so they are armed here; where the bytes are not known, and may be few, they may be there.
 */
static bool has_levers(const pwr_operations_t *of, size_t bytes)
{
    if (NULL == pwr_process.power || PWR_LEVERS_NEVER == of->levers ||
        !pwr_operations_move_enough(of, bytes)) {
        return false;
    }
    if (PWR_BYTES_UNKNOWN == bytes && !pwr_process.armed) {
        return true;
    }
    pwr_process_arm_levers();
    return pwr_power_has_any(pwr_process.power);
}

/* What operations a little smaller or larger have come to; else all there is. */
static pwr_audit_depth_t start_of(const pwr_class_t *classes, int size_class,
                                  pwr_audit_depth_t deepest)
{
    enum { ENOUGH_PAIRS = 8 };
    pwr_audit_depth_t start = deepest;
    for (int i = size_class - 1; i <= size_class + 1; i += 2) {
        if (i < 1 || i >= PWR_SIZE_CLASSES || !classes[i].audited) {
            continue;
        }
        const pwr_audit_result_t found = pwr_audit_result(&classes[i].audit);
        if (found.pairs >= ENOUGH_PAIRS && found.depth > start) {
            start = found.depth;
        }
    }
    return start;
}

static void begin_class(const pwr_operations_t *of, unsigned index, int size_class)
{
    pwr_class_t *classes = of->classes[index];

    pwr_class_t *class = &classes[size_class];
    class->known = true;
    if (pwr_process_audits(of->scheme)) {
        pwr_audit_depth_t deepest =
            has_levers(of, pwr_size_class_bytes(size_class)) ? PWR_AUDIT_LEVERS : PWR_AUDIT_LADDER;
        pwr_audit_init(&class->audit, &clocks, pwr_process.settings.max_slowdown / 100.0, deepest,
                       start_of(classes, size_class, deepest),
                       (uint64_t)index * PWR_SIZE_CLASSES + (uint64_t)size_class);
        class->audited = true;
    }
}

pwr_class_t *pwr_class_of(pwr_operations_t *of, unsigned name, size_t bytes)
{
    unsigned index = name - of->first;
    if (index >= of->num_classed || (!of->scheme->saves && NULL == pwr_process.account)) {
        return NULL;
    }
    pwr_class_t **classes = &of->classes[index];
    if (NULL == *classes) {
        *classes = calloc(PWR_SIZE_CLASSES, sizeof **classes);
        if (NULL == *classes) {
            return NULL;
        }
    }
    int size_class = pwr_size_class(bytes);
    pwr_class_t *class = &(*classes)[size_class];
    if (!class->known) {
        begin_class(of, index, size_class);
    }
    return class;
}

void pwr_classes_free(pwr_operations_t *of)
{
    pwr_decided_keep(of);
    for (unsigned i = 0; i < of->num_classed; ++i) {
        free(of->classes[i]);
        of->classes[i] = NULL;
    }
}

/* ---- an operation ---- */

static pwr_audit_depth_t depth_of(const pwr_class_t *class)
{
    return NULL != class && class->audited ? pwr_audit_depth(&class->audit) : PWR_AUDIT_LEVERS;
}

bool pwr_class_may_move_levers(const pwr_class_t *class)
{
    return PWR_AUDIT_LEVERS == depth_of(class);
}

static uint64_t longer_of(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static uint32_t lingering(uint32_t ns)
{
    uint64_t longer = (uint64_t)PWR_AUDIT_LINGER_FACTOR * ns;
    return longer < PWR_AUDIT_LINGER_LEAST_NS ? PWR_AUDIT_LINGER_LEAST_NS
           : longer < UINT32_MAX              ? (uint32_t)longer
                                              : UINT32_MAX;
}

/* Nothing is saved but in waits so long that nobody notices how late a sleep ends: the deepest idle
   states of processors take 0.3 ms to leave.  Else whoever waits a second would burn half of it in
   the first hundred operations. */
enum { REFERENCE_POLL_NS = 20 * 1000 * 1000 };

bool pwr_class_knows_sites(const pwr_class_t *class)
{
    return NULL != class && depth_of(class) < PWR_AUDIT_LINGER && 0 == pwr_process.waits.poll_ns;
}

void pwr_class_adjust(const pwr_class_t *class, pwr_wait_policy_t *policy)
{
    pwr_audit_depth_t depth = depth_of(class);
    if (PWR_AUDIT_REFERENCE == depth) {
        policy->poll_ns = longer_of(policy->poll_ns, REFERENCE_POLL_NS);
    } else if (PWR_AUDIT_LINGER == depth && policy->oversubscribed) {
        policy->poll_ns = longer_of(policy->poll_ns, lingering(policy->spin_ns));
    } else if (PWR_AUDIT_LINGER == depth) {
        policy->spin_ns = lingering(policy->spin_ns);
        policy->monitor_ns = 0 == policy->monitor_ns ? 0 : lingering(policy->monitor_ns);
    }
}

/* By how much a sleep makes its wait last longer, at most: spins last a known multiple of that,
   unless the user has set how long they last.  Where ranks share CPUs it is not known. */
static uint64_t late_ns(uint64_t sleeps)
{
    return pwr_process.settings.spin_us >= 0 || pwr_process_wait_policy().oversubscribed
               ? PWR_AUDIT_LATE_UNKNOWN_NS
               : sleeps * (pwr_process.waits.spin_ns / PWR_POLICY_ON_TIME_FACTOR);
}

void pwr_class_slept(pwr_class_t *class, uint64_t sleeps)
{
    if (0 != sleeps && NULL != class && class->audited) {
        pwr_audit_late(&class->audit, late_ns(sleeps));
    }
}

uint32_t pwr_class_repeats(const pwr_class_t *class)
{
    return NULL == class ? 0 : class->audited ? pwr_audit_quiet(&class->audit) : UINT32_MAX;
}

void pwr_class_repeated(pwr_class_t *class, uint32_t calls)
{
    if (class->audited) {
        pwr_audit_skip(&class->audit, calls);
    }
}

void pwr_class_end(pwr_class_t *class, uint64_t sleeps)
{
    pwr_class_slept(class, sleeps);
    if (NULL == class || !class->audited) {
        return;
    }
    if (!pwr_audit_call_over(&class->audit, &clocks)) {
        return;
    }
    const pwr_audit_change_t *change = &class->audit.last;
    pwr_say(2, "audit: from %s to %s at call %llu: slower by %.1f %% (%.1f to %.1f %%)",
            pwr_audit_depth_name(change->from), pwr_audit_depth_name(change->to),
            (unsigned long long)change->call, 100.0 * change->slowdown.middle,
            100.0 * change->slowdown.low, 100.0 * change->slowdown.high);
}
