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
#include "pwr/wait.h"
#include "wait/monitor.h"

enum { REST_NS = 100000, LONG_SLEEP_NS = 1000000000, BATCH = 64 };

typedef struct shared {
    pwr_flag_t flag;               /* the signal: the round */
    _Atomic uint32_t begun;        /* round that the waiter is in */
    _Atomic uint64_t signalled_ns; /* step 4 of this round */
    _Atomic bool last;             /* this round is the last one */
    _Atomic bool stop_crowding;
    const pwr_monitor_t *monitor; /* NULL: the processor has none */
    int event;
    int epoll;
} shared_t;

typedef struct rung {
    void (*wait)(shared_t *shared, uint32_t round);
    void (*signal)(shared_t *shared, uint32_t round);
    void (*entry)(shared_t *shared); /* NULL: CPU time of the wait */
    bool same_cpu;                   /* the signaller shares the waiter's CPU */
    bool futex;                      /* flag.sleepers tells when the waiter sleeps */
    bool crowded;
    bool monitor; /* only where the processor has one */
} rung_t;

typedef struct run {
    const calibrate_plan_t *plan;
    const calibrate_place_t *place;
    const rung_t *rung;
    shared_t *shared;
    calibrate_series_t entry;
    calibrate_series_t exit;
    uint64_t clock_cost_ns; /* of reading the CPU time once */
    _Atomic bool misplaced; /* a thread could not be bound */
} run_t;

/* ---- the rungs ---- */

static void ladder(shared_t *shared, uint32_t round, const pwr_wait_policy_t *policy)
{
    pwr_wait_until(&shared->flag, round, policy, NULL, NULL, 0, NULL);
}

static void wait_spin(shared_t *shared, uint32_t round)
{
    while (!pwr_flag_reached(&shared->flag, round)) {
    }
}

static void wait_pause(shared_t *shared, uint32_t round)
{
    static const pwr_wait_policy_t policy = {.poll_ns = PWR_WAIT_POLL_ONLY};
    ladder(shared, round, &policy);
}

static void wait_monitor(shared_t *shared, uint32_t round)
{
    const pwr_wait_policy_t policy = {.sleep_min_ns = LONG_SLEEP_NS,
                                      .sleep_max_ns = LONG_SLEEP_NS,
                                      .monitor = shared->monitor,
                                      .monitor_ns = UINT32_MAX};
    ladder(shared, round, &policy);
}

static void wait_yield(shared_t *shared, uint32_t round)
{
    static const pwr_wait_policy_t policy = {.poll_ns = PWR_WAIT_POLL_ONLY, .oversubscribed = true};
    ladder(shared, round, &policy);
}

static void wait_futex(shared_t *shared, uint32_t round)
{
    static const pwr_wait_policy_t policy = {.sleep_min_ns = LONG_SLEEP_NS,
                                             .sleep_max_ns = LONG_SLEEP_NS};
    ladder(shared, round, &policy);
}

static void wait_epoll(shared_t *shared, uint32_t round)
{
    struct epoll_event event;
    uint64_t count;
    (void)round;
    while (epoll_wait(shared->epoll, &event, 1, -1) < 1 ||
           read(shared->event, &count, sizeof count) != (ssize_t)sizeof count) {
    }
}

static void signal_flag(shared_t *shared, uint32_t round)
{
    pwr_flag_set(&shared->flag, round);
}

static void signal_event(shared_t *shared, uint32_t round)
{
    const uint64_t one = 1;
    (void)round;
    while (write(shared->event, &one, sizeof one) != (ssize_t)sizeof one) {
    }
}

static void enter_spin(shared_t *shared)
{
    wait_spin(shared, 0);
}

static void enter_pause(shared_t *shared)
{
    wait_pause(shared, 0);
}

/* Another value than it has: arms the monitor and looks. */
static void enter_monitor(shared_t *shared)
{
    pwr_monitor_wait(shared->monitor, &shared->flag.value, UINT32_MAX, 1);
}

static void enter_yield(shared_t *shared)
{
    (void)shared;
    sched_yield();
}

static const rung_t rungs[PWR_POLICY_NUM_ROWS] = {
    [PWR_POLICY_SPIN] = {.wait = wait_spin, .signal = signal_flag, .entry = enter_spin},
    [PWR_POLICY_PAUSE] = {.wait = wait_pause, .signal = signal_flag, .entry = enter_pause},
    [PWR_POLICY_MONITOR] = {.wait = wait_monitor,
                            .signal = signal_flag,
                            .entry = enter_monitor,
                            .monitor = true},
    [PWR_POLICY_YIELD] = {.wait = wait_yield,
                          .signal = signal_flag,
                          .entry = enter_yield,
                          .same_cpu = true},
    [PWR_POLICY_FUTEX] = {.wait = wait_futex, .signal = signal_flag, .futex = true},
    [PWR_POLICY_FUTEX_SAME_CPU] = {.wait = wait_futex,
                                   .signal = signal_flag,
                                   .same_cpu = true,
                                   .futex = true},
    [PWR_POLICY_FUTEX_CROWDED] = {.wait = wait_futex,
                                  .signal = signal_flag,
                                  .futex = true,
                                  .crowded = true},
    [PWR_POLICY_EPOLL] = {.wait = wait_epoll, .signal = signal_event},
};

/* ---- the threads ---- */

static void bind_or_note(run_t *run, unsigned cpu)
{
    if (!calibrate_bind(&cpu, 1)) {
        atomic_store(&run->misplaced, true);
    }
}

static void *waiter(void *arg)
{
    run_t *run = arg;
    shared_t *shared = run->shared;
    bind_or_note(run, run->place->cpu);
    for (uint32_t round = 1; !atomic_load(&shared->last); round++) {
        uint64_t cpu_before =
            pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID); /* before step 1: announced rounds are watched */
        atomic_store(&shared->begun, round);       /* 1 */
        run->rung->wait(shared, round);            /* 2 */
        uint64_t now = calibrate_now_ns();         /* 5 */
        uint64_t spent = pwr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before; /* 6 */
        calibrate_series_add(&run->exit, now - atomic_load(&shared->signalled_ns));
        if (!run->rung->entry) {
            calibrate_series_add(&run->entry,
                                 spent > run->clock_cost_ns ? spent - run->clock_cost_ns : 0);
        }
    }
    return NULL;
}

static void rest(void)
{
    const struct timespec time = {.tv_nsec = REST_NS};
    nanosleep(&time, NULL);
}

/* Step 3. */
static void await_waiter(const run_t *run, uint32_t round)
{
    const shared_t *shared = run->shared;
    while (atomic_load(&shared->begun) < round ||
           (run->rung->futex && atomic_load(&shared->flag.sleepers) == 0)) {
        rest();
    }
    rest();
}

/* A busy machine gets longer rather than no answer. */
static bool is_enough(const run_t *run, uint32_t samples, uint64_t end_ns)
{
    return samples == run->plan->samples ||
           (samples >= CALIBRATE_MIN_SAMPLES && calibrate_now_ns() >= end_ns);
}

static void *signaller(void *arg)
{
    run_t *run = arg;
    shared_t *shared = run->shared;
    bind_or_note(run, run->rung->same_cpu ? run->place->cpu : (unsigned)run->place->other_cpu);
    uint64_t end = calibrate_now_ns() + run->plan->series_ns;
    bool last = false;
    for (uint32_t round = 1; !last; round++) {
        await_waiter(run, round);
        last = is_enough(run, round, end);
        atomic_store(&shared->last, last);
        atomic_store(&shared->signalled_ns, calibrate_now_ns()); /* 4 */
        run->rung->signal(shared, round);
    }
    return NULL;
}

/* Computes on the waiter's CPU all the time. */
static void *crowd(void *arg)
{
    run_t *run = arg;
    bind_or_note(run, run->place->cpu);
    while (!atomic_load(&run->shared->stop_crowding)) {
    }
    return NULL;
}

/* ---- one series ---- */

static void measure_entry(run_t *run)
{
    uint64_t end = calibrate_now_ns() + run->plan->series_ns;
    for (uint32_t i = 0; !is_enough(run, i, end); i++) {
        uint64_t begin = calibrate_now_ns();
        for (unsigned j = 0; j < BATCH; j++) {
            run->rung->entry(run->shared);
        }
        calibrate_series_add(&run->entry, (calibrate_now_ns() - begin) / BATCH);
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
            atomic_store(&run->shared->last, true);
            run->rung->signal(run->shared, 1);
        }
        pthread_join(threads[0], NULL);
    }
    if (run->rung->crowded && crowd_error == 0) {
        atomic_store(&run->shared->stop_crowding, true);
        pthread_join(threads[2], NULL);
    }
    return error;
}

/* The memory is shared as a segment's is: the kernel finds its futexes the slow way. */
static shared_t *make_shared(void)
{
    shared_t *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return NULL;
    }
    shared->monitor = pwr_monitor_find();
    shared->event = eventfd(0, EFD_CLOEXEC);
    shared->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event wanted = {.events = EPOLLIN};
    if (shared->event < 0 || shared->epoll < 0 ||
        epoll_ctl(shared->epoll, EPOLL_CTL_ADD, shared->event, &wanted) != 0) {
        close(shared->epoll);
        close(shared->event);
        munmap(shared, sizeof *shared);
        return NULL;
    }
    return shared;
}

static void free_shared(shared_t *shared)
{
    close(shared->epoll);
    close(shared->event);
    munmap(shared, sizeof *shared);
}

static bool sum_up(run_t *run, char *why, unsigned why_size, pwr_policy_row_t *row)
{
    if (atomic_load(&run->misplaced)) {
        snprintf(why, why_size, "its threads could not be bound");
        return false;
    }
    *row = (pwr_policy_row_t){
        .origin = PWR_POLICY_MEASURED,
        .samples = run->exit.count < run->entry.count ? run->exit.count : run->entry.count,
        .entry_ns = calibrate_series_median(&run->entry),
        .exit_ns = calibrate_series_median(&run->exit),
        .entry_spread_ns = calibrate_series_spread(&run->entry),
        .exit_spread_ns = calibrate_series_spread(&run->exit),
        .power_w = PWR_POLICY_W_UNKNOWN,
    };
    return true;
}

static bool measure(run_t *run, char *why, unsigned why_size, pwr_policy_row_t *row)
{
    run->clock_cost_ns = clock_cost_ns();
    if (run->rung->entry) {
        measure_entry(run);
    }
    int error = run_threads(run);
    if (error != 0) {
        snprintf(why, why_size, "cannot start a thread: %s", strerror(error));
        return false;
    }
    return sum_up(run, why, why_size, row);
}

bool calibrate_rung(const calibrate_plan_t *plan, const calibrate_place_t *place,
                    pwr_policy_row_id_t id, char *why, unsigned why_size, pwr_policy_row_t *row)
{
    run_t run = {.plan = plan, .place = place, .rung = &rungs[id]};
    if (!run.rung->same_cpu && place->other_cpu < 0) {
        snprintf(why, why_size, "needs a second core to signal from");
        return false;
    }
    if (run.rung->monitor && !pwr_monitor_find()) {
        snprintf(why, why_size, "this processor offers neither umwait, mwaitx nor WFE");
        return false;
    }
    bool measured = false;
    run.shared = make_shared();
    if (run.shared && calibrate_series_init(&run.entry, plan->samples) &&
        calibrate_series_init(&run.exit, plan->samples)) {
        measured = measure(&run, why, why_size, row);
    } else {
        snprintf(why, why_size, "%s", strerror(errno));
    }
    calibrate_series_free(&run.exit);
    calibrate_series_free(&run.entry);
    if (run.shared) {
        free_shared(run.shared);
    }
    return measured;
}
