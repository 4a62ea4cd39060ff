/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Repeated checks: the affinity mask against the topology, CPU time of other threads against the
 * time that levers were held.
 */
#include "config.h"

#include "topo/watch.h"

#include <stdio.h>

#include "pwr/clock.h"

/* A tick of the slowest kernels (HZ=100): what another thread's CPU time may be off by. */
static const uint64_t tick_ns = 10000000;
static const uint64_t window_ns = 1000000000;
static const unsigned too_much_percent = 5;

static uint64_t real_process_cpu_ns(void *arg)
{
    (void)arg;
    return pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t real_thread_cpu_ns(void *arg)
{
    (void)arg;
    return pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static bool real_affinity(void *arg, pwr_cpuset_t *set)
{
    (void)arg;
    return pwr_cpuset_bound(set);
}

static const pwr_watch_kernel_t real_kernel = {.process_cpu_ns = real_process_cpu_ns,
                                               .thread_cpu_ns = real_thread_cpu_ns,
                                               .affinity = real_affinity};

pwr_watch_t pwr_watch_init(const pwr_env_t *env, const pwr_topo_t *topo,
                           const pwr_watch_kernel_t *kernel)
{
    return (pwr_watch_t){
        .env = env, .kernel = kernel ? kernel : &real_kernel, .sets = pwr_topo_sets(topo)};
}

/* ---- binding ---- */

static pwr_binding_t report(pwr_binding_t binding, int cpu, unsigned *out)
{
    if (out) {
        *out = (unsigned)cpu;
    }
    return binding;
}

pwr_binding_t pwr_watch_binding(const pwr_watch_t *watch, unsigned *cpu)
{
    pwr_cpuset_t now = {{0}};
    if (!watch->kernel->affinity(watch->env->arg, &now)) {
        return PWR_BINDING_UNKNOWN;
    }
    pwr_cpuset_intersect(&now, &watch->sets->known);
    int extra = pwr_cpuset_first_missing(&watch->sets->mine, &now);
    if (extra >= 0) {
        return report(PWR_BINDING_MOVED, extra, cpu);
    }
    int lost = pwr_cpuset_first_missing(&now, &watch->sets->mine);
    if (lost >= 0) {
        return report(PWR_BINDING_SHRUNK, lost, cpu);
    }
    return PWR_BINDING_SAME;
}

/* The first CPU often cannot go offline and then has no such file. */
static bool is_offline(const pwr_env_t *env, unsigned cpu)
{
    char path[64];
    uint64_t online;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", cpu);
    return pwr_env_read_u64(env, path, &online) == PWR_OK && online == 0;
}

void pwr_watch_describe(const pwr_watch_t *watch, pwr_binding_t binding, unsigned cpu, char *text,
                        unsigned size)
{
    switch (binding) {
    case PWR_BINDING_SAME:
        snprintf(text, size, "%s", "");
        break;
    case PWR_BINDING_SHRUNK:
        snprintf(text, size,
                 is_offline(watch->env, cpu)
                     ? "CPU %u of this process went offline"
                     : "CPU %u was taken from this process (its cpuset shrank, or it was bound "
                       "anew)",
                 cpu);
        break;
    case PWR_BINDING_MOVED:
        snprintf(text, size,
                 "this process may now run on CPU %u, which was not among its own (it was bound "
                 "anew, or lost all of its CPUs)",
                 cpu);
        break;
    case PWR_BINDING_UNKNOWN:
        snprintf(text, size, "the kernel does not tell where this process is bound");
        break;
    }
}

/* ---- threads ---- */

/* CPU time of all threads but this one.  The two readings are some microseconds apart, the same at
   begin and at end. */
static uint64_t others_ns(const pwr_watch_t *watch)
{
    uint64_t process = watch->kernel->process_cpu_ns(watch->env->arg);
    return process - watch->kernel->thread_cpu_ns(watch->env->arg);
}

void pwr_watch_begin(pwr_watch_t *watch)
{
    watch->held = true;
    watch->begin_others_ns = others_ns(watch);
    watch->begin_ns = pwr_env_now_ns(watch->env);
}

bool pwr_watch_end(pwr_watch_t *watch, double *others)
{
    if (!watch->held) {
        return false;
    }
    watch->held = false;
    watch->window_held_ns += pwr_env_now_ns(watch->env) - watch->begin_ns;
    int64_t grown = (int64_t)(others_ns(watch) - watch->begin_others_ns);
    watch->window_others_ns += grown > 0 ? (uint64_t)grown : 0;
    bool too_much = watch->window_others_ns > tick_ns &&
                    watch->window_others_ns * 100 > watch->window_held_ns * too_much_percent;
    if (too_much && others) {
        *others = watch->window_held_ns > 0
                      ? (double)watch->window_others_ns / (double)watch->window_held_ns
                      : 1.0;
    }
    if (too_much || watch->window_held_ns >= window_ns) {
        watch->window_held_ns = 0;
        watch->window_others_ns = 0;
    }
    return too_much;
}
