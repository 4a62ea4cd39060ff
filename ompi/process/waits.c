/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How ranks of this process wait: the policy, and what wakes them.
 */
#include "process_private.h"

#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/idle.h"

#include "opal/util/proc.h"

/* How long waiting ranks spin and rest before they sleep. */
static void set_lengths(const pwr_policy_t *policy, pwr_wait_policy_t *waits)
{
    if (pwr_process.settings.spin_us >= 0) {
        waits->spin_ns = (uint32_t)pwr_process.settings.spin_us * 1000u;
        waits->monitor_ns = waits->spin_ns;
        return;
    }
    if (NULL == policy) {
        return; /* out of memory: sleeping at once is right, if not best */
    }
    waits->spin_ns = pwr_policy_spin_ns(policy);
    waits->monitor_ns = pwr_policy_monitor_ns(policy);
    pwr_say(2, "waiting ranks spin for %u.%03u us before they sleep (%s)", waits->spin_ns / 1000,
            waits->spin_ns % 1000, policy->source);
}

/* By which instruction waiting ranks rest before they sleep. */
static const pwr_monitor_t *find_monitor(uint32_t monitor_ns)
{
    if (!pwr_process.settings.wait_monitor) {
        return NULL;
    }
    const pwr_monitor_t *monitor = pwr_monitor_find();
    if (NULL == monitor) {
        pwr_say(2, "waiting ranks do not rest on cache lines: the processor offers no umwait, "
                   "mwaitx or WFE");
    } else if (0 == monitor_ns) {
        pwr_say(2, "waiting ranks do not rest on cache lines: %s",
                pwr_process.settings.spin_us < 0 ? "by its calibration that saves nothing here"
                                                 : "they are to sleep at once (spin_us 0)");
    } else {
        pwr_say(2, "waiting ranks rest by %s for %u.%03u us before they sleep",
                pwr_monitor_name(monitor), monitor_ns / 1000, monitor_ns % 1000);
    }
    return monitor;
}

static bool has_more_ranks_than_cpus(void)
{
    return NULL != pwr_process.power && (unsigned)opal_process_info.num_local_peers + 1 >
                                            pwr_topo_num_cpus(pwr_power_topo(pwr_process.power));
}

/* Only ranks that run our algorithms, or are to be idle everywhere, wait by themselves. */
void pwr_waits_prepare(const pwr_policy_t *policy, bool mpi_threads)
{
    pwr_idle_where_t idle = (pwr_idle_where_t)pwr_process.settings.idle;
    enum { SLEEP_MIN_NS = 100 * 1000, SLEEP_MAX_NS = 16 * 1000 * 1000 };
    if (!pwr_process.scheme.saves && PWR_IDLE_ALL != idle) {
        return;
    }
    pwr_process.waits = (pwr_wait_policy_t){
        .sleep_min_ns = SLEEP_MIN_NS,
        .sleep_max_ns = SLEEP_MAX_NS,
        .oversubscribed = has_more_ranks_than_cpus(),
        .poll_ns = PWR_IDLE_OFF == idle ? PWR_WAIT_POLL_ONLY : 0,
    };
    set_lengths(policy, &pwr_process.waits);
    pwr_process.waits.monitor = find_monitor(pwr_process.waits.monitor_ns);
    if (pwr_process_idles(&pwr_process.scheme)) {
        pwr_doorbell_hang(mpi_threads);
    }
    if (PWR_IDLE_ALL == idle) {
        pwr_idle_everywhere_start(&pwr_process.waits, &pwr_process.idle_stats);
    } else if (pwr_process_idles(&pwr_process.scheme)) {
        pwr_idle_within_start();
    }
}

pwr_wait_policy_t pwr_process_wait_policy(void)
{
    enum { NS_PER_S = 1000 * 1000 * 1000 };
    pwr_wait_policy_t policy = pwr_process.waits;
    policy.oversubscribed = policy.oversubscribed || pwr_idle_is_crowded();
    policy.longest_ns = (uint64_t)pwr_process.settings.hang_report * NS_PER_S;
    return policy;
}
