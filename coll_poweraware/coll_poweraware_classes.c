/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What this rank knows about the calls of one collective and size on one communicator: how long
 * their waits last (pwr/history.h), and what saving in them costs (pwr/audit.h).
 */
#include "coll_poweraware_words.h"

#include <stdlib.h>
#include <string.h>

#include "pwr/clock.h"

#include "opal/util/proc.h"

#define SELF (&mca_coll_poweraware_component)

/* ---- classes ---- */

/* Of four-fold sizes, up to 4 bytes, 16, 64 and so on; the first class is of calls whose ranks know
   different sizes, the last of all that are longer. */
static int class_index(size_t bytes)
{
    if (COLL_POWERAWARE_BYTES_UNKNOWN == bytes) {
        return 0;
    }
    if (bytes <= 4) {
        return 1;
    }
    int bits = 64 - __builtin_clzll((unsigned long long)bytes - 1);
    int index = 1 + (bits - 1) / 2;
    return index < COLL_POWERAWARE_NUM_CLASSES ? index : COLL_POWERAWARE_NUM_CLASSES - 1;
}

size_t coll_poweraware_class_bytes(int index)
{
    return 0 == index ? COLL_POWERAWARE_BYTES_UNKNOWN : (size_t)4 << 2 * (index - 1);
}

/* Schemes other than auto do what they are told, whatever it costs. */
static bool is_audited(void)
{
    return COLL_POWERAWARE_AUTO == SELF->params.scheme && SELF->params.max_slowdown > 0.0 &&
           COLL_POWERAWARE_IDLE_OFF != SELF->params.idle;
}

static uint64_t now_ns(void *arg)
{
    (void)arg;
    return pwr_env_now_ns(&SELF->env);
}

static uint64_t cpu_ns(void *arg)
{
    (void)arg;
    return pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Of the node's processors. */
static uint64_t energy_uj(void *arg)
{
    pwr_meter_reading_t readings[COLL_POWERAWARE_METER_DOMAINS];
    uint64_t sum = 0;
    (void)arg;
    if (NULL == SELF->meter || PWR_OK != pwr_meter_read(SELF->meter, readings)) {
        return 0;
    }
    for (unsigned i = 0; i < pwr_meter_num_domains(SELF->meter); ++i) {
        if (PWR_DOMAIN_PACKAGE == pwr_meter_domain(SELF->meter, i)->kind) {
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

/* Only what is measured: what a model says of CPU time the audit knows already. */
static pwr_meter_t *open_measured(char *why, unsigned why_size)
{
    pwr_meter_t *meter = NULL;
    const char *name;
    for (unsigned nth = 0; NULL == meter && NULL != (name = pwr_meter_backend_name(nth)); ++nth) {
        if (0 != strcmp("model", name) && 0 != strcmp("nvml", name) &&
            PWR_OK != pwr_meter_open_nth(&SELF->env, pwr_power_topo(SELF->power), nth, why,
                                         why_size, &meter)) {
            meter = NULL;
        }
    }
    return meter;
}

/* One rank of each node looks, where somebody wants to know. */
void coll_poweraware_meter_open(void)
{
    char why[512] = "";
    if (NULL == SELF->params.ranks_dir || NULL == SELF->power || !is_audited() ||
        0 != opal_process_info.my_local_rank) {
        return;
    }
    SELF->meter = open_measured(why, sizeof why);
    if (NULL == SELF->meter) {
        coll_poweraware_say(2, "no energy in the audit: %s", why);
    } else if (pwr_meter_num_domains(SELF->meter) > COLL_POWERAWARE_METER_DOMAINS) {
        coll_poweraware_meter_close();
    }
}

void coll_poweraware_meter_close(void)
{
    pwr_meter_close(SELF->meter);
    SELF->meter = NULL;
}

/* Whether calls of up to so many bytes may move levers.  The audit asks before the first of them,
   so they are armed here; where the bytes are not known, and may be few, they may be there. */
static bool has_levers(size_t bytes)
{
    if (NULL == SELF->power || bytes < SELF->params.min_bytes) {
        return false;
    }
    if (COLL_POWERAWARE_BYTES_UNKNOWN == bytes && !SELF->armed) {
        return true;
    }
    coll_poweraware_arm_levers();
    return pwr_power_has_tstates(SELF->power) || pwr_power_has_pstates(SELF->power);
}

static void begin_class(coll_poweraware_class_t *class, coll_poweraware_collective_t collective,
                        int index)
{
    uint64_t seed = (uint64_t)collective * COLL_POWERAWARE_NUM_CLASSES + (uint64_t)index;
    class->known = true;
    class->audited = is_audited();
    if (class->audited) {
        pwr_audit_init(&class->audit, &clocks, SELF->params.max_slowdown / 100.0,
                       has_levers(coll_poweraware_class_bytes(index)) ? PWR_AUDIT_LEVERS
                                                                      : PWR_AUDIT_LADDER,
                       seed);
    }
}

coll_poweraware_class_t *coll_poweraware_class_of(mca_coll_poweraware_module_t *m,
                                                  coll_poweraware_collective_t collective,
                                                  size_t bytes)
{
    coll_poweraware_class_t **classes = &m->classes[collective];
    if (COLL_POWERAWARE_OFF == SELF->params.scheme && NULL == SELF->account) {
        return NULL;
    }
    if (NULL == *classes) {
        *classes = calloc(COLL_POWERAWARE_NUM_CLASSES, sizeof **classes);
        if (NULL == *classes) {
            return NULL;
        }
    }
    int index = class_index(bytes);
    coll_poweraware_class_t *class = &(*classes)[index];
    if (!class->known) {
        begin_class(class, collective, index);
    }
    return class;
}

/* Communicators may be freed in several threads at once. */
static void keep_results(const coll_poweraware_class_t *classes,
                         coll_poweraware_collective_t collective)
{
    for (int i = 0; i < COLL_POWERAWARE_NUM_CLASSES; ++i) {
        if (!classes[i].audited) {
            continue;
        }
        unsigned at = __atomic_fetch_add(&SELF->num_audited, 1, __ATOMIC_RELAXED);
        if (at < COLL_POWERAWARE_KEPT_AUDITS) {
            SELF->audited[at] =
                (coll_poweraware_audited_t){.collective = collective,
                                            .class = i,
                                            .result = pwr_audit_result(&classes[i].audit)};
        }
    }
}

void coll_poweraware_classes_free(mca_coll_poweraware_module_t *m)
{
    for (int i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        if (NULL != m->classes[i]) {
            keep_results(m->classes[i], i);
            free(m->classes[i]);
            m->classes[i] = NULL;
        }
    }
}

/* ---- a call ---- */

bool coll_poweraware_class_may_move_levers(const coll_poweraware_class_t *class)
{
    return NULL == class || !class->audited || PWR_AUDIT_LEVERS == pwr_audit_depth(&class->audit);
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
   the first hundred calls. */
enum { REFERENCE_POLL_NS = 20 * 1000 * 1000 };

coll_poweraware_sites_t *coll_poweraware_class_begin(coll_poweraware_class_t *class,
                                                     pwr_wait_policy_t *policy)
{
    pwr_audit_depth_t depth =
        NULL != class && class->audited ? pwr_audit_depth(&class->audit) : PWR_AUDIT_LEVERS;
    if (PWR_AUDIT_REFERENCE == depth) {
        policy->poll_ns = REFERENCE_POLL_NS > policy->poll_ns ? REFERENCE_POLL_NS : policy->poll_ns;
    } else if (PWR_AUDIT_LINGER == depth) {
        policy->spin_ns = lingering(policy->spin_ns);
        policy->monitor_ns = 0 == policy->monitor_ns ? 0 : lingering(policy->monitor_ns);
    } else if (NULL != class && 0 == policy->poll_ns) {
        class->sites.next = 0;
        return &class->sites;
    }
    return NULL;
}

void coll_poweraware_class_end(coll_poweraware_class_t *class)
{
    if (NULL == class || !class->audited || !pwr_audit_call_over(&class->audit, &clocks)) {
        return;
    }
    const pwr_audit_change_t *change = &class->audit.last;
    coll_poweraware_say(2, "audit: from %s to %s at call %llu: slower by %.1f %% (%.1f to %.1f %%)",
                        pwr_audit_depth_name(change->from), pwr_audit_depth_name(change->to),
                        (unsigned long long)change->call, 100.0 * change->slowdown.middle,
                        100.0 * change->slowdown.low, 100.0 * change->slowdown.high);
}

/* ---- a wait ---- */

static uint64_t waited_ns(const coll_poweraware_call_t *call)
{
    return call->wait_stats->spin_ns + call->wait_stats->monitor_ns + call->wait_stats->sleep_ns;
}

/* Those beyond the known ones share the last. */
static pwr_history_t *next_site(const coll_poweraware_call_t *call)
{
    coll_poweraware_sites_t *sites = call->sites;
    if (NULL == sites) {
        return NULL;
    }
    int index = sites->next;
    sites->next += index < COLL_POWERAWARE_KNOWN_WAITS - 1;
    return &sites->history[index];
}

void coll_poweraware_did_not_wait(const coll_poweraware_call_t *call)
{
    pwr_history_t *history = next_site(call);
    if (NULL != history) {
        pwr_history_add(history, 0);
    }
}

coll_poweraware_one_wait_t coll_poweraware_begin_wait(const coll_poweraware_call_t *call)
{
    coll_poweraware_one_wait_t wait = {
        .policy = call->policy, .history = next_site(call), .before_ns = waited_ns(call)};
    if (NULL != wait.history) {
        pwr_history_apply(wait.history, &wait.policy);
    }
    return wait;
}

void coll_poweraware_end_wait(const coll_poweraware_call_t *call,
                              const coll_poweraware_one_wait_t *wait)
{
    if (NULL != wait->history) {
        pwr_history_add(wait->history, waited_ns(call) - wait->before_ns);
    }
}
