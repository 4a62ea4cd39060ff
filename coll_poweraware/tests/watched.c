/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 */
#define _GNU_SOURCE

#include "watched.h"

#include <mpi.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LANES = 2, MOST_SLOTS = 64, PAGE_BYTES = 8192, LOOK_US = 1000, PART = 4 };
enum { NS_PER_US = 1000, NS_PER_S = 1000000000 };

typedef enum state { SLEEPS = 1, POLLS } state_t;

/* What one thread of one rank does. */
typedef struct slot {
    _Atomic bool late;
    _Atomic uint32_t entered, left; /* calls */
    _Atomic uint32_t judged;        /* the question that state answers */
    _Atomic int state;
} slot_t;

typedef struct page {
    _Atomic uint64_t clock_shift_ns;
    _Atomic uint32_t asked; /* number of the last question */
    _Atomic uint32_t come[MOST_LANES];
    _Atomic uint32_t blocks, wall_us, cpu_us; /* the rule */
    slot_t slots[MOST_SLOTS];
} page_t;

_Static_assert(sizeof(page_t) <= PAGE_BYTES, "a page has room for it");

typedef struct watcher {
    pthread_t thread;
    clockid_t cpu;
    pid_t tid;
    slot_t *slot;
    _Atomic bool over;
} watcher_t;

static page_t *page;
static int rank, size, num_slots;
static _Thread_local int lane;
static _Thread_local uint32_t calls;
static _Thread_local watcher_t watcher;

static uint64_t ns_of(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void rest(void)
{
    const struct timespec time = {.tv_nsec = LOOK_US * NS_PER_US};
    nanosleep(&time, NULL);
}

static slot_t *slot_of(int of_rank, int of_lane)
{
    return &page->slots[of_lane * size + of_rank];
}

bool watched_open(bool late, int lanes)
{
    const char *path = getenv("PWR_WATCHED");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    num_slots = lanes * size;
    int file =
        NULL == path || num_slots > MOST_SLOTS || lanes > MOST_LANES ? -1 : open(path, O_RDWR);
    if (file >= 0) {
        void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        page = MAP_FAILED == memory ? NULL : memory;
        close(file);
    }
    for (int i = 0; NULL != page && i < lanes; ++i) {
        slot_of(rank, i)->late = late;
    }
    return NULL != page;
}

void watched_take_lane(int mine)
{
    lane = mine;
}

/* ---- who waits ---- */

/* How often a thread has given its CPU back: sched_yield does not count. */
static uint64_t blocks_of(int status)
{
    static const char name[] = "\nvoluntary_ctxt_switches:";
    char text[4096];
    ssize_t length = pread(status, text, sizeof text - 1, 0);
    text[length < 0 ? 0 : length] = '\0';
    const char *line = strstr(text, name);
    return NULL == line ? 0 : strtoull(line + strlen(name), NULL, 10);
}

typedef struct sample {
    uint64_t wall_ns, cpu_ns, blocks;
} sample_t;

static void judge(slot_t *slot, uint32_t question, state_t state)
{
    slot->state = (int)state;
    slot->judged = question;
}

/* For whoever expects that it sleeps. */
static void tell_of_poller(const sample_t *first, const sample_t *now, uint64_t used_ns)
{
    fprintf(stderr,
            "rank %d polls: %.0f ms of CPU (%.0f as counted) in %.0f ms, given back %llu times\n",
            rank, 1e-6 * (double)used_ns, 1e-6 * (double)(now->cpu_ns - first->cpu_ns),
            1e-6 * (double)(now->wall_ns - first->wall_ns),
            (unsigned long long)(now->blocks - first->blocks));
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Stretches in which much of the CPU was used are not looked at again: the first that is not like
   that tells.  A machine that stands still counts that as CPU time of whoever had the CPU: between
   two looks nobody uses more than MOST_STEP_NS. */
static void answer(const watcher_t *w, uint32_t question, int status)
{
    enum { MOST_STEP_NS = 30000000 };
    sample_t first, begin, now;
    first = begin = now = (sample_t){ns_of(CLOCK_MONOTONIC_RAW), ns_of(w->cpu), blocks_of(status)};
    const uint64_t least_ns = (uint64_t)page->wall_us * NS_PER_US;
    const uint64_t most_ns = (uint64_t)page->cpu_us * NS_PER_US;
    uint64_t used_ns = 0;
    for (; !w->over && question == page->asked; rest()) {
        uint64_t before_ns = now.cpu_ns;
        now = (sample_t){ns_of(CLOCK_MONOTONIC_RAW), ns_of(w->cpu), blocks_of(status)};
        used_ns += least(now.cpu_ns - before_ns, MOST_STEP_NS);
        uint64_t wall_ns = now.wall_ns - begin.wall_ns;
        bool little = 0 == least_ns || PART * (now.cpu_ns - begin.cpu_ns) <= wall_ns;
        if (wall_ns < least_ns) {
            continue;
        }
        if (little && now.blocks - begin.blocks >= page->blocks) {
            judge(w->slot, question, SLEEPS);
            return;
        }
        if (used_ns >= most_ns) {
            if (0 != least_ns) {
                tell_of_poller(&first, &now, used_ns);
            }
            judge(w->slot, question, POLLS);
            return;
        }
        if (!little) {
            begin = now;
        }
    }
}

static void *watch(void *arg)
{
    watcher_t *w = arg;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", (long)w->tid);
    int status = open(path, O_RDONLY);
    uint32_t answered = w->slot->judged;
    for (; !w->over; rest()) {
        uint32_t question = page->asked;
        if (question != answered) {
            answer(w, question, status);
            answered = question;
        }
    }
    close(status);
    return NULL;
}

void watched_begin(void)
{
    if (NULL == page) {
        return;
    }
    watcher = (watcher_t){.tid = gettid(), .slot = slot_of(rank, lane)};
    pthread_getcpuclockid(pthread_self(), &watcher.cpu);
    watcher.slot->entered = ++calls;
    pthread_create(&watcher.thread, NULL, watch, &watcher);
}

void watched_end(void)
{
    if (NULL != page) {
        watcher.slot->left = calls;
        watcher.over = true;
        pthread_join(watcher.thread, NULL);
    }
}

/* ---- who is late ---- */

static bool is_known(slot_t *slot, uint32_t question)
{
    return slot->late || slot->left >= calls ||
           (slot->entered >= calls && slot->judged >= question);
}

static void count(slot_t *slot, watched_t *found)
{
    if (slot->late) {
        return;
    }
    if (slot->left >= calls) {
        ++found->gone;
    } else if (SLEEPS == slot->state) {
        ++found->sleep;
    } else {
        ++found->poll;
    }
}

bool watched_leads(void)
{
    ++calls;
    for (int i = 0; i < rank; ++i) {
        if (slot_of(i, lane)->late) {
            while (page->come[lane] < calls) {
                rest();
            }
            return false;
        }
    }
    return true;
}

watched_t watched_find(watched_rule_t rule)
{
    watched_t found = {0};
    for (int i = 0; i < num_slots; ++i) {
        while (!page->slots[i].late && page->slots[i].entered < calls) {
            rest();
        }
    }
    page->blocks = rule.blocks;
    page->wall_us = rule.wall_us;
    page->cpu_us = rule.cpu_us;
    uint32_t question = ++page->asked;
    for (int i = 0; i < num_slots; ++i) {
        while (!is_known(&page->slots[i], question)) {
            rest();
        }
        count(&page->slots[i], &found);
    }
    return found;
}

void watched_come(void)
{
    page->come[lane] = calls;
}

void watched_shift_clock(uint64_t ns)
{
    page->clock_shift_ns += ns;
}
