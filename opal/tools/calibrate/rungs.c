/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a wait rung costs, measured on the library's own ladder (pwr/wait.h).
 *
 *   waiter, on the CPU under test            signaller, on the same or on another CPU
 *   1. tells that round n begins
 *   2. reads its CPU time, waits             3. sleeps until round n has begun, and a while longer,
 *                                               so that the waiter rests as it would in a job
 *   5. takes the time: exit = 5 - 4          4. takes the time, signals round n
 *   6. reads its CPU time: entry = 6 - 2
 *
 * Entry is CPU time because nobody sees the moment in which a sleeper leaves its CPU; it contains
 * the way back too, so entry + exit errs on the high side.  For rungs that do not sleep CPU time
 * says nothing: their entry is a wait that is over at once.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "topo/cpulist.h"
#include "wait/monitor.h"

enum { REST_NS = 100000, LONG_SLEEP_NS = 1000000000, BATCH = 64 };

typedef struct rung {
    pwr_wait_policy_t policy; /* of the ladder that stays on this rung */
    bool sleeps;              /* entry is the CPU time of a wait */
    bool futex;               /* flag.sleepers tells when the waiter sleeps */
    bool same_cpu;            /* the signaller shares the waiter's CPU */
    bool crowded;
} rung_t;

/* In memory that is shared as a segment's is: the kernel finds its futexes the slow way.  What the
   threads tell each other begins a cache line (pwr_flag_t is aligned to one). */
typedef struct run {
    const calibrate_plan_t *plan;
    const calibrate_place_t *place;
    pwr_policy_row_id_t id;
    const rung_t *rung;
    pwr_wait_policy_t policy;
    int event;
    int epoll;
    calibrate_series_t entry;
    calibrate_series_t exit;
    uint64_t clock_cost_ns;        /* of reading the CPU time once */
    _Atomic bool misplaced;        /* a thread could not be bound */
    pwr_flag_t flag;               /* the signal: the round */
    _Atomic uint32_t begun;        /* round that the waiter is in */
    _Atomic uint64_t signalled_ns; /* step 4 of this round */
    _Atomic bool last;             /* this round is the last one */
    _Atomic bool stop_crowding;
} run_t;

/* ---- the rungs ---- */

#define FUTEX_ONLY                                                                                 \
    {                                                                                              \
        .sleep_min_ns = LONG_SLEEP_NS, .sleep_max_ns = LONG_SLEEP_NS                               \
    }

/* Spinning and epoll are not on the ladder. */
static const rung_t rungs[PWR_POLICY_LEVERS] = {
    [PWR_POLICY_PAUSE] = {.policy = {.poll_ns = PWR_WAIT_POLL_ONLY}},
    [PWR_POLICY_MONITOR] = {.policy = {.sleep_min_ns = LONG_SLEEP_NS,
                                       .sleep_max_ns = LONG_SLEEP_NS,
                                       .monitor_ns = UINT32_MAX}},
    [PWR_POLICY_YIELD] = {.policy = {.poll_ns = PWR_WAIT_POLL_ONLY, .oversubscribed = true},
                          .same_cpu = true},
    [PWR_POLICY_FUTEX] = {.policy = FUTEX_ONLY, .sleeps = true, .futex = true},
    [PWR_POLICY_FUTEX_SAME_CPU] = {.policy = FUTEX_ONLY,
                                   .sleeps = true,
                                   .futex = true,
                                   .same_cpu = true},
    [PWR_POLICY_FUTEX_CROWDED] = {.policy = FUTEX_ONLY,
                                  .sleeps = true,
                                  .futex = true,
                                  .crowded = true},
    [PWR_POLICY_EPOLL] = {.sleeps = true},
};

pwr_wait_policy_t calibrate_rung_policy(pwr_policy_row_id_t id)
{
    pwr_wait_policy_t policy = rungs[id].policy;
    policy.monitor = policy.monitor_ns > 0 ? pwr_monitor_find() : NULL;
    return policy;
}

static void wait_epoll(const run_t *run)
{
    struct epoll_event event;
    uint64_t count;
    while (epoll_wait(run->epoll, &event, 1, -1) < 1 ||
           read(run->event, &count, sizeof count) != (ssize_t)sizeof count) {
    }
}

static void wait_for(run_t *run, uint32_t round)
{
    if (run->id == PWR_POLICY_EPOLL) {
        wait_epoll(run);
    } else if (run->id == PWR_POLICY_SPIN) {
        while (!pwr_flag_reached(&run->flag, round)) {
        }
    } else {
        pwr_wait_until(&run->flag, round, &run->policy, NULL, NULL, 0, NULL);
    }
}

static void signal_round(run_t *run, uint32_t round)
{
    const uint64_t one = 1;
    if (run->id != PWR_POLICY_EPOLL) {
        pwr_flag_set(&run->flag, round);
        return;
    }
    while (write(run->event, &one, sizeof one) != (ssize_t)sizeof one) {
    }
}

/* Of rungs that do not sleep. */
static void enter(run_t *run)
{
    if (run->id == PWR_POLICY_YIELD) {
        sched_yield();
    } else if (run->id == PWR_POLICY_MONITOR) {
        /* Another value than it has: arms the monitor and looks. */
        pwr_monitor_wait(run->policy.monitor, &run->flag.value, UINT32_MAX, 1);
    } else {
        wait_for(run, 0);
    }
}

/* ---- the threads ---- */

static void bind_or_note(run_t *run, unsigned cpu)
{
    pwr_cpuset_t cpus = {{0}};
    pwr_cpuset_add(&cpus, cpu);
    if (!pwr_cpuset_bind(&cpus)) {
        atomic_store(&run->misplaced, true);
    }
}

static void *waiter(void *arg)
{
    run_t *run = arg;
    bind_or_note(run, run->place->cpu);
    for (uint32_t round = 1; !atomic_load(&run->last); round++) {
        uint64_t cpu_before =
            pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID); /* before step 1: announced rounds are watched */
        atomic_store(&run->begun, round);          /* 1 */
        wait_for(run, round);                      /* 2 */
        uint64_t now = pwr_now_ns();               /* 5 */
        uint64_t spent = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before; /* 6 */
        calibrate_series_add(&run->exit, now - atomic_load(&run->signalled_ns));
        if (run->rung->sleeps) {
            calibrate_series_add(&run->entry,
                                 spent > run->clock_cost_ns ? spent - run->clock_cost_ns : 0);
        }
    }
    return NULL;
}

/* Step 3. */
static void await_waiter(const run_t *run, uint32_t round)
{
    while (atomic_load(&run->begun) < round ||
           (run->rung->futex && atomic_load(&run->flag.sleepers) == 0)) {
        pwr_sleep_ns(REST_NS);
    }
    pwr_sleep_ns(REST_NS);
}

/* A busy machine gets longer rather than no answer. */
static bool is_enough(const run_t *run, uint32_t samples, uint64_t end_ns)
{
    return samples == run->plan->samples ||
           (samples >= CALIBRATE_MIN_SAMPLES && pwr_now_ns() >= end_ns);
}

static void *signaller(void *arg)
{
    run_t *run = arg;
    bind_or_note(run, run->rung->same_cpu ? run->place->cpu : (unsigned)run->place->other_cpu);
    uint64_t end = pwr_now_ns() + run->plan->series_ns;
    bool last = false;
    for (uint32_t round = 1; !last; round++) {
        await_waiter(run, round);
        last = is_enough(run, round, end);
        atomic_store(&run->last, last);
        atomic_store(&run->signalled_ns, pwr_now_ns()); /* 4 */
        signal_round(run, round);
    }
    return NULL;
}

/* Computes on the waiter's CPU all the time. */
static void *crowd(void *arg)
{
    run_t *run = arg;
    bind_or_note(run, run->place->cpu);
    while (!atomic_load(&run->stop_crowding)) {
    }
    return NULL;
}

/* ---- one series ---- */

static void measure_entry(run_t *run)
{
    uint64_t end = pwr_now_ns() + run->plan->series_ns;
    for (uint32_t i = 0; !is_enough(run, i, end); i++) {
        uint64_t begin = pwr_now_ns();
        for (unsigned j = 0; j < BATCH; j++) {
            enter(run);
        }
        calibrate_series_add(&run->entry, (pwr_now_ns() - begin) / BATCH);
    }
}

static uint64_t clock_cost_ns(void)
{
    uint64_t cheapest = UINT64_MAX;
    for (unsigned i = 0; i < BATCH; i++) {
        uint64_t before = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        uint64_t cost = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        cheapest = cost < cheapest ? cost : cheapest;
    }
    return cheapest;
}

/* Starts the threads and waits for them; an errno value or 0.  A waiter without a signaller is
   released by hand. */
static int run_threads(run_t *run)
{
    pthread_t threads[3];
    int crowd_error = run->rung->crowded ? pthread_create(&threads[2], NULL, crowd, run) : 0;
    int error = crowd_error != 0 ? crowd_error : pthread_create(&threads[0], NULL, waiter, run);
    if (error == 0) {
        error = pthread_create(&threads[1], NULL, signaller, run);
        if (error == 0) {
            pthread_join(threads[1], NULL);
        } else {
            atomic_store(&run->last, true);
            signal_round(run, 1);
        }
        pthread_join(threads[0], NULL);
    }
    if (run->rung->crowded && crowd_error == 0) {
        atomic_store(&run->stop_crowding, true);
        pthread_join(threads[2], NULL);
    }
    return error;
}

static void measure(run_t *run, char *why, unsigned why_size, pwr_policy_row_t *row)
{
    run->clock_cost_ns = clock_cost_ns();
    if (!run->rung->sleeps) {
        measure_entry(run);
    }
    int error = run_threads(run);
    if (error != 0) {
        snprintf(why, why_size, "cannot start a thread: %s", strerror(error));
    } else if (atomic_load(&run->misplaced)) {
        snprintf(why, why_size, "its threads could not be bound");
    } else {
        *row = calibrate_series_row(&run->entry, &run->exit);
    }
}

/* run is all zero; also of a failure, what was opened is to be closed. */
static bool init(run_t *run, const calibrate_plan_t *plan, const calibrate_place_t *place,
                 pwr_policy_row_id_t id)
{
    struct epoll_event wanted = {.events = EPOLLIN};
    run->plan = plan;
    run->place = place;
    run->id = id;
    run->rung = &rungs[id];
    run->policy = calibrate_rung_policy(id);
    run->event = eventfd(0, EFD_CLOEXEC);
    run->epoll = epoll_create1(EPOLL_CLOEXEC);
    return run->event >= 0 && run->epoll >= 0 &&
           epoll_ctl(run->epoll, EPOLL_CTL_ADD, run->event, &wanted) == 0 &&
           calibrate_series_init(&run->entry, plan->samples) &&
           calibrate_series_init(&run->exit, plan->samples);
}

void calibrate_rung(const calibrate_plan_t *plan, const calibrate_place_t *place,
                    pwr_policy_row_id_t id, char *why, unsigned why_size, pwr_policy_row_t *row)
{
    if (!rungs[id].same_cpu && place->other_cpu < 0) {
        snprintf(why, why_size, "needs a second core to signal from");
        return;
    }
    if (id == PWR_POLICY_MONITOR && !pwr_monitor_find()) {
        snprintf(why, why_size, "this processor offers neither umwait, mwaitx nor WFE");
        return;
    }
    run_t *run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED) {
        snprintf(why, why_size, "%s", strerror(errno));
        return;
    }
    if (init(run, plan, place, id)) {
        measure(run, why, why_size, row);
    } else {
        snprintf(why, why_size, "%s", strerror(errno));
    }
    calibrate_series_free(&run->exit);
    calibrate_series_free(&run->entry);
    close(run->epoll);
    close(run->event);
    munmap(run, sizeof *run);
}
