/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The asynchronous agent of PASCoL (Vishnu et al.): targets that compute serve others.
 *
 *   1. It blocks on the descriptor of the epoll instance of Open MPI's event loop, which has all
 *      sockets, and the bell.  It does not enter the loop: only one thread may be in there, and
 *      that is to be the application's.
 *   2. It wakes when something has come.  If the application has made progress meanwhile, it may
 *      still do so: the agent stands aside for a moment, for longer ones as long as that goes on.
 *   3. Else it makes progress, and goes on with 1.
 *
 * While it sleeps, the process's bell says so: what comes through shared memory rings.
 *
 * It moves no levers.  With threads there are none, and its CPU is that of the thread which
 * computes, at full speed.
 */
#include "config.h"

#include "agent.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "pwr/thread.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/process.h"

uint64_t osc_poweraware_agent_served;

static struct {
    pthread_mutex_t lock; /* threads make and free windows */
    int windows;
    bool declined;
    bool runs;
    pthread_t thread;
    int over;                /* an eventfd: it is to end */
    int network;             /* the epoll instance, or -1 */
    _Atomic bool unheard;    /* there are windows whose messages do not come through network */
    _Atomic uint64_t passes; /* of opal_progress, in other threads */
    uint64_t seen;           /* of them, by the agent */
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool is_agent __attribute__((tls_model("initial-exec")));

/* ---- the application's progress ---- */

/* A callback of opal_progress.  Threads may lose counts: it changes all the same. */
static int count_pass(void)
{
    if (!is_agent) {
        uint64_t passes = atomic_load_explicit(&agent.passes, memory_order_relaxed);
        atomic_store_explicit(&agent.passes, passes + 1, memory_order_relaxed);
    }
    return 0;
}

/* Since the last time. */
static bool others_made_progress(void)
{
    uint64_t before = agent.seen;
    agent.seen = atomic_load_explicit(&agent.passes, memory_order_relaxed);
    return before != agent.seen;
}

/* ---- asleep and awake ---- */

/* Until something comes, it is to end, or longest_ns are over; returns what came. */
typedef enum woken { BY_NOTHING, BY_NETWORK, BY_THE_END } woken_t;

static woken_t sleep_until(bool network, uint64_t longest_ns)
{
    struct pollfd fds[] = {{.fd = agent.over, .events = POLLIN},
                           {.fd = agent.network, .events = POLLIN}};
    const struct timespec longest = pwr_timespec(longest_ns);
    int num = ppoll(fds, network ? 2 : 1, &longest, NULL);
    return num <= 0 ? BY_NOTHING : 0 != fds[0].revents ? BY_THE_END : BY_NETWORK;
}

/* All requests wake it.  In 4.1, atomic operations that the shared-memory btl emulates do not. */
static bool is_heard(void)
{
    return OMPI_MAJOR_VERSION >= 5 && agent.network >= 0 && !atomic_load(&agent.unheard) &&
           pwr_idle_btls_wake(true);
}

/* 1. */
static woken_t sleep_announced(uint64_t longest_ns)
{
    woken_t woken = BY_NETWORK;
    if (pwr_doorbell_may_sleep(NULL)) {
        woken = sleep_until(true, longest_ns);
    }
    pwr_doorbell_awake();
    return woken;
}

/* 2.  Without a look at what has come: where the application is in MPI, something comes often. */
static woken_t stand_aside(uint64_t ns)
{
    woken_t woken = sleep_until(false, ns);
    return BY_NOTHING == woken ? sleep_until(true, 0) : woken;
}

/* 3.  Open MPI looks into its event loop in each pass if there is somebody who wants that; else
   rarely.  And it yields when it finds nothing, where ranks share CPUs: the next pass would come
   when another's slice is over.  Returns whether something moved, as far as that is told. */
static bool serve(void)
{
    enum { PASSES = 4 };
    uint64_t events = pwr_doorbell_events();
    int moved = 0;
    bool yields = opal_progress_set_yield_when_idle(false);
    opal_progress_event_users_increment();
    for (int i = 0; i < PASSES; ++i) {
        moved += pwr_ompi_progress();
    }
    opal_progress_event_users_decrement();
    opal_progress_set_yield_when_idle(yields);
    return moved > 0 || events != pwr_doorbell_events();
}

/* Nothing wakes a process for certain: sleeps that should be woken have a bound of a second.
   Others grow from 0.1 to 16 ms while nothing moves. */
enum { ASIDE_MIN_NS = 20000, ASIDE_MAX_NS = 1000000, HEARD_NS = 1000000000 };
static const pwr_wait_policy_t unheard = {.sleep_min_ns = 100000, .sleep_max_ns = 16000000};

static void *run(void *arg)
{
    uint64_t aside_ns = ASIDE_MIN_NS, next_ns = unheard.sleep_min_ns, moved_ns = pwr_now_ns();
    woken_t woken = BY_NOTHING;
    is_agent = true;
    pwr_idle_by_itself(true); /* its progress does not sleep */
    while (BY_THE_END != woken) {
        if (others_made_progress()) {
            woken = stand_aside(aside_ns);
            aside_ns = 2 * aside_ns < ASIDE_MAX_NS ? 2 * aside_ns : ASIDE_MAX_NS;
            continue;
        }
        uint64_t now = pwr_now_ns();
        aside_ns = ASIDE_MIN_NS;
        bool moved = serve();
        if (moved) {
            moved_ns = now;
            next_ns = 0;
        }
        osc_poweraware_agent_served += BY_NETWORK == woken || moved;
        next_ns = pwr_wait_next_sleep_ns(next_ns, now - moved_ns, &unheard);
        woken = sleep_announced(is_heard() ? HEARD_NS : next_ns);
    }
    return arg;
}

/* ---- what it needs ---- */

static void ignore(int fd, short events, void *arg)
{
    (void)fd, (void)events, (void)arg;
}

/* libevent does not tell which descriptor it waits with.  It is the epoll instance that already has
   one of ours; the kernel tells that who tries to add it once more.  -1: it has another way. */
static int find_epoll(int ours)
{
    enum { LOOKED_AT = 1024 };
    for (int fd = 0; fd < LOOKED_AT; ++fd) {
        struct epoll_event no_events = {0};
        if (0 == epoll_ctl(fd, EPOLL_CTL_ADD, ours, &no_events)) {
            epoll_ctl(fd, EPOLL_CTL_DEL, ours, NULL);
        } else if (EEXIST == errno) {
            return fd;
        }
    }
    return -1;
}

static int find_network(void)
{
    opal_event_t event;
    int network = -1;
    if (0 ==
            opal_event_set(opal_sync_event_base, &event, agent.over, OPAL_EV_READ, ignore, NULL) &&
        0 == opal_event_add(&event, NULL)) {
        network = find_epoll(agent.over);
        opal_event_del(&event);
    }
    return network;
}

static bool begin_thread(void)
{
    int rc = pwr_thread_begin(&agent.thread, run, NULL);
    if (0 == rc) {
        pthread_setname_np(agent.thread, "poweraware");
    }
    return 0 == rc;
}

static bool start(void)
{
    agent.over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (agent.over < 0) {
        return false;
    }
    agent.network = find_network();
    opal_progress_register(count_pass);
    agent.runs = begin_thread();
    if (!agent.runs) {
        opal_progress_unregister(count_pass);
        close(agent.over);
    }
    return agent.runs;
}

/* ---- its life ---- */

static const char *why_not(const char *component)
{
    return 0 == strcmp("pt2pt", component)
               ? "osc/pt2pt does not work with MPI_THREAD_MULTIPLE, which it needs"
           : 5 == OMPI_MAJOR_VERSION && 0 == strcmp("ucx", component)
               ? "osc/ucx of Open MPI 5.0 lets one thread alone make progress"
           : !pwr_process.mpi_threads ? "it needs MPI_THREAD_MULTIPLE: mpirun -x "
                                        "OMPI_MPI_THREAD_LEVEL=3, or MPI_Init_thread"
           : agent.runs || start()    ? NULL
                                      : "this process can have no further thread or descriptor";
}

static void stop(void)
{
    if (agent.runs) {
        agent.runs = false;
        eventfd_write(agent.over, 1);
        pthread_join(agent.thread, NULL);
        opal_progress_unregister(count_pass);
        close(agent.over);
    }
}

/* Calls of osc/sm need nobody. */
bool osc_poweraware_agent_enter(const char *component)
{
    if (0 == strcmp("sm", component)) {
        return false;
    }
    pthread_mutex_lock(&agent.lock);
    const char *why = agent.declined ? "" : why_not(component);
    if (NULL == why) {
        ++agent.windows;
        if (0 == strcmp("ucx", component)) {
            agent.unheard = true;
        }
    } else if (!agent.declined) {
        agent.declined = true;
        stop();
        pwr_say(pwr_level_alike(1), "osc_poweraware_agent: nobody serves while ranks compute: %s",
                why);
    }
    pthread_mutex_unlock(&agent.lock);
    return NULL == why;
}

void osc_poweraware_agent_leave(void)
{
    pthread_mutex_lock(&agent.lock);
    if (0 == --agent.windows) {
        stop();
    }
    pthread_mutex_unlock(&agent.lock);
}

void osc_poweraware_agent_stop(void)
{
    pthread_mutex_lock(&agent.lock);
    stop();
    pthread_mutex_unlock(&agent.lock);
}
