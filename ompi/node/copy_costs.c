/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Costs of copies within a node (pwr_ompi/copy_costs.h).
 */
#include "pwr_ompi/copy_costs.h"

enum {
    UNIT_BYTES = 64 * 1024,
    SMALLEST_SIZE = 64 * 1024, /* each has 8 times as many bytes */
    SHARE = 4,                 /* of the mean is a new cost */
    CLEARLY = 90               /* percent: so much cheaper must a way be to come into use */
};

/* In messages.  The other way is taken for some messages in a row, because the first ones find
   caches as the usual way leaves them. */
static const uint32_t by_size[PWR_COPY_SIZES] = {8, 4, 2, 2};
enum {
    FIRST_EXPLORED = 4, /* these times as many as are explored: few messages are not worth it */
    LEAST_GAP = 16,
    LONGEST_GAP = 4096, /* so far */
    LOOK_GAP = 16,
    MEASURE_GAP = 4,
    KNOWN_AFTER = 1
};

/* It may cost some times as much: then it is taken so seldom that this is one part in SPENT of all
   time. */
enum { SPENT = 100 };

static uint32_t explored_messages(int class)
{
    return by_size[class % PWR_COPY_SIZES];
}

void pwr_copier_enter(pwr_copier_t *c, pwr_copy_costs_t *costs, int num_local, int my_local)
{
    *c = (pwr_copier_t){
        .costs = costs,
        .num_local = num_local,
        .my_local = my_local,
    };
    for (int class = 0; class < PWR_COPY_CLASSES; ++class) {
        c->choices[class] = (pwr_copy_choice_t){
            .way = PWR_COPY_SINGLE, /* needs no memory, and is never very bad */
            .explore_at = FIRST_EXPLORED * explored_messages(class),
        };
    }
}

int pwr_copy_class(int kind, size_t message_bytes)
{
    int size = 0;
    for (size_t most = SMALLEST_SIZE; message_bytes > most && size < PWR_COPY_SIZES - 1;
         most *= 8) {
        ++size;
    }
    return kind * PWR_COPY_SIZES + size;
}

/* What disturbs a copy only adds to its cost.  So a lower cost is believed at once: the first copy of
   a way meets memory that nobody has touched.  Who lost its CPU in the middle of a copy has measured
   something else: what is much dearer than usual counts as twice the usual, so that only what comes
   again is believed. */
static uint32_t new_mean(uint32_t old, size_t bytes, uint64_t ns)
{
    const uint64_t most = UINT32_MAX / 2;
    uint64_t cost = ns < UINT64_MAX / UNIT_BYTES ? ns * UNIT_BYTES / bytes : most;
    if (0 != old && cost > old) {
        cost = cost > 2 * (uint64_t)old ? 2 * (uint64_t)old : cost;
        cost = ((SHARE - 1) * (uint64_t)old + cost) / SHARE;
    }
    cost = cost > most ? most : cost;
    return 0 == cost ? 1 : (uint32_t)cost;
}

void pwr_copier_took(const pwr_copier_t *c, int class, pwr_copy_way_t way, size_t bytes,
                     uint64_t ns)
{
    _Atomic uint32_t *mine = &c->costs[c->my_local].copy[class][way];
    uint32_t old = atomic_load_explicit(mine, memory_order_relaxed);
    atomic_store_explicit(mine, new_mean(old, bytes, ns), memory_order_relaxed);
}

/* ---- the choice ---- */

static uint64_t cost_of(const pwr_copier_t *c, int local, int class, pwr_copy_way_t way)
{
    return atomic_load_explicit(&c->costs[local].copy[class][way], memory_order_relaxed);
}

/* The slowest one's; all work at the same time.  0: not known. */
static uint64_t way_cost(const pwr_copier_t *c, int class, pwr_copy_way_t way)
{
    uint64_t most = 0;
    for (int i = 0; i < c->num_local; ++i) {
        uint64_t cost = cost_of(c, i, class, way);
        most = cost > most ? cost : most;
    }
    return most;
}

static pwr_copy_way_t other(pwr_copy_way_t way)
{
    return PWR_COPY_SINGLE == way ? PWR_COPY_SHARED : PWR_COPY_SINGLE;
}

/* To what is not known nobody changes. */
static void look(pwr_copier_t *c, int class)
{
    pwr_copy_choice_t *choice = &c->choices[class];
    uint64_t cost = way_cost(c, class, choice->way);
    uint64_t others = way_cost(c, class, other(choice->way));
    if (0 != others && others * 100 < cost * CLEARLY) {
        choice->way = other(choice->way);
    }
}

/* Messages until the other way is taken again. */
static uint32_t gap(const pwr_copier_t *c, int class)
{
    uint64_t cost = way_cost(c, class, c->choices[class].way);
    uint64_t others = way_cost(c, class, other(c->choices[class].way));
    uint64_t wanted = others > cost && cost > 0 ? (others - cost) * SPENT / cost : LEAST_GAP;
    wanted = wanted < LEAST_GAP ? LEAST_GAP : wanted;
    wanted = wanted > LONGEST_GAP ? LONGEST_GAP : wanted;
    return (uint32_t)wanted * explored_messages(class);
}

/* The others may still be busy with the message before this one: so what the last one that explored
   has cost is known one message later. */
pwr_copy_way_t pwr_copier_choose(pwr_copier_t *c, int class)
{
    pwr_copy_choice_t *choice = &c->choices[class];
    uint32_t message = choice->messages++;
    uint32_t after = message - choice->explore_at; /* before: far beyond any gap */
    bool explored = after == explored_messages(class) + KNOWN_AFTER;
    if (explored || 0 == message % LOOK_GAP) {
        look(c, class);
    }
    if (explored) {
        choice->explore_at = message + gap(c, class);
        return choice->way;
    }
    return after < explored_messages(class) ? other(choice->way) : choice->way;
}

bool pwr_copier_measures(const pwr_copier_t *c, int class)
{
    const pwr_copy_choice_t *choice = &c->choices[class];
    uint32_t message = choice->messages - 1;
    bool early = message < FIRST_EXPLORED * explored_messages(class);
    bool explores = message - choice->explore_at < explored_messages(class);
    return early || explores || 0 == message % MEASURE_GAP;
}
