/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Both Alltoall schedules, without MPI: every pair of ranks once, both sides
 * agree, nobody waits for ever, how often a rank changes its state, the paper's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/alltoall/schedule.h"

enum { MAX_NODES = 17, MAX_GROUPS = 4, MAX_PER_GROUP = 3 };
enum { MAX_RANKS = MAX_NODES * MAX_GROUPS * MAX_PER_GROUP, MAX_ACTIONS = 2000 };

/* ---- layouts ---- */

static void shuffle(int *values, int num)
{
    for (int i = num - 1; i > 0; --i) {
        int j = rand() % (i + 1);
        int value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}

/* seed 0: one rank in every group of every node, in order; else up to MAX_PER_GROUP ranks in up to
   num_groups groups of a node, and ranks in any order over nodes. */
static pwr_hierarchy_t *make_layout(int num_nodes, int num_groups, unsigned seed)
{
    static int place[MAX_RANKS]; /* node * MAX_GROUPS + group */
    static int leader[MAX_RANKS];
    static int package[MAX_RANKS];
    int size = 0;
    srand(seed);
    for (int node = 0; node < num_nodes; ++node) {
        int groups = 0 == seed || 0 == node ? num_groups : 1 + rand() % num_groups;
        for (int group = 0; group < groups; ++group) {
            int ranks = 0 == seed ? 1 : 1 + rand() % MAX_PER_GROUP;
            for (int i = 0; i < ranks; ++i) {
                place[size++] = node * MAX_GROUPS + group;
            }
        }
    }
    if (0 != seed) {
        shuffle(place, size);
    }
    int first[MAX_NODES];
    memset(first, -1, sizeof first);
    for (int rank = 0; rank < size; ++rank) {
        int node = place[rank] / MAX_GROUPS;
        first[node] = first[node] < 0 ? rank : first[node];
        leader[rank] = first[node];
        package[rank] = place[rank] % MAX_GROUPS;
    }
    pwr_hierarchy_t *h = pwr_hierarchy_build(size, 0, leader, package);
    assert_non_null(h);
    assert_int_equal(h->num_nodes, num_nodes);
    return h;
}

static coll_poweraware_plan_t plan_of(int schedule, const pwr_hierarchy_t *h, int node)
{
    return (coll_poweraware_plan_t){coll_poweraware_schedules[schedule], h, node};
}

static void for_all_layouts(void (*check)(int schedule, const pwr_hierarchy_t *h))
{
    for (int schedule = 0; schedule < COLL_POWERAWARE_NUM_SCHEDULES; ++schedule) {
        for (int n = 1; n <= MAX_NODES; ++n) {
            for (int g = 1; g <= MAX_GROUPS; ++g) {
                for (unsigned seed = 0; seed < 3; ++seed) {
                    pwr_hierarchy_t *h = make_layout(n, g, seed);
                    check(schedule, h);
                    pwr_hierarchy_free(h);
                }
            }
        }
    }
}

/* ---- what a rank does, as grouped.c reads the schedule ---- */

typedef struct action {
    enum { WAIT, MEET, ARRIVE } what;
    uint32_t target;  /* of WAIT */
    const int *ranks; /* of MEET */
    int num;
} action_t;

typedef struct script {
    action_t actions[MAX_ACTIONS];
    int num;
    int at;
} script_t;

static script_t scripts[MAX_RANKS];

static void add(script_t *s, action_t action)
{
    assert_true(s->num < MAX_ACTIONS);
    s->actions[s->num++] = action;
}

static void add_meeting(script_t *s, const action_t *window, int my_index, int my_num,
                        bool in_place)
{
    if (!in_place) {
        add(s, *window);
        return;
    }
    int rounds = window->num > my_num ? window->num : my_num;
    for (int round = 0; round < rounds; ++round) {
        int index = coll_poweraware_match(rounds, my_index, round);
        if (index < window->num) {
            add(s, (action_t){.what = MEET, .ranks = window->ranks + index, .num = 1});
        }
    }
}

static void write_turn(script_t *s, const coll_poweraware_plan_t *plan,
                       const coll_poweraware_turn_t *turn, int my_index, int my_num, bool in_place)
{
    for (int i = turn->first; i < turn->end; ++i) {
        coll_poweraware_step_t step = coll_poweraware_alltoall_step(plan, i);
        for (int m = 0; m < step.num_meetings && step.active_group == turn->group; ++m) {
            int peer = coll_poweraware_alltoall_peer(plan, &step, m);
            if (COLL_POWERAWARE_NOBODY == peer) {
                continue;
            }
            action_t window = {.what = MEET};
            window.num = pwr_hierarchy_group(plan->hierarchy, peer, step.peer_group, &window.ranks);
            assert_true(window.num > 0);
            add_meeting(s, &window, my_index, my_num, in_place);
        }
    }
}

static void write_script(int schedule, const pwr_hierarchy_t *h, int rank, bool in_place)
{
    script_t *s = &scripts[rank];
    coll_poweraware_plan_t plan = plan_of(schedule, h, h->node_of[rank]);
    coll_poweraware_turn_t turn = {.end = 0};
    uint32_t over = 0;
    s->num = 0;
    s->at = 0;
    while (coll_poweraware_next_turn(&plan, turn.end, &turn)) {
        const int *mine;
        int my_num = pwr_hierarchy_group(h, plan.node, turn.group, &mine);
        assert_true(my_num > 0);
        uint32_t before = over;
        over += (uint32_t)my_num;
        if (turn.group == h->group_of[rank]) {
            int my_index = 0;
            while (mine[my_index] != rank) {
                ++my_index;
            }
            add(s, (action_t){.what = WAIT, .target = before});
            write_turn(s, &plan, &turn, my_index, my_num, in_place);
            add(s, (action_t){.what = ARRIVE});
        }
    }
}

static void write_scripts(int schedule, const pwr_hierarchy_t *h, bool in_place)
{
    for (int rank = 0; rank < h->size; ++rank) {
        write_script(schedule, h, rank, in_place);
    }
}

/* ---- every pair once ---- */

static int served[MAX_RANKS][MAX_RANKS];
static int action_with[MAX_RANKS][MAX_RANKS]; /* in which action of rank i it meets rank j */

static void index_scripts(const pwr_hierarchy_t *h)
{
    memset(served, 0, sizeof served);
    for (int rank = 0; rank < h->size; ++rank) {
        for (int i = 0; i < scripts[rank].num; ++i) {
            const action_t *a = &scripts[rank].actions[i];
            for (int k = 0; MEET == a->what && k < a->num; ++k) {
                ++served[rank][a->ranks[k]];
                action_with[rank][a->ranks[k]] = i;
            }
        }
    }
}

static void check_pairs(int schedule, const pwr_hierarchy_t *h)
{
    for (int in_place = 0; in_place < 2; ++in_place) {
        write_scripts(schedule, h, in_place);
        index_scripts(h);
        for (int i = 0; i < h->size; ++i) {
            for (int j = 0; j < h->size; ++j) {
                assert_int_equal(served[i][j], h->node_of[i] != h->node_of[j]);
            }
        }
    }
}

static void every_pair_of_ranks_is_served_once(void **state)
{
    (void)state;
    for_all_layouts(check_pairs);
}

/* ---- nobody waits for ever, even if every message waits for its receiver ---- */

static uint32_t turns_over[MAX_NODES];

static bool can_go_on(const pwr_hierarchy_t *h, int rank, const action_t *a)
{
    if (WAIT == a->what) {
        return turns_over[h->node_of[rank]] >= a->target;
    }
    for (int k = 0; MEET == a->what && k < a->num; ++k) {
        int peer = a->ranks[k];
        if (scripts[peer].at < action_with[peer][rank]) {
            return false;
        }
    }
    return true;
}

static bool advance(const pwr_hierarchy_t *h, int rank)
{
    script_t *s = &scripts[rank];
    int from = s->at;
    while (s->at < s->num && can_go_on(h, rank, &s->actions[s->at])) {
        turns_over[h->node_of[rank]] += ARRIVE == s->actions[s->at].what;
        ++s->at;
    }
    return s->at > from;
}

/* At most one group of a node is between its WAIT and its ARRIVE. */
static void check_one_active_group(const pwr_hierarchy_t *h)
{
    int active[MAX_NODES];
    memset(active, -1, sizeof active);
    for (int rank = 0; rank < h->size; ++rank) {
        const script_t *s = &scripts[rank];
        if (s->at < s->num && MEET == s->actions[s->at].what) {
            int *group = &active[h->node_of[rank]];
            assert_true(*group < 0 || *group == h->group_of[rank]);
            *group = h->group_of[rank];
        }
    }
}

static void check_progress(int schedule, const pwr_hierarchy_t *h)
{
    for (int in_place = 0; in_place < 2; ++in_place) {
        write_scripts(schedule, h, in_place);
        index_scripts(h);
        memset(turns_over, 0, sizeof turns_over);
        bool moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < h->size; ++rank) {
                moved = advance(h, rank) || moved;
            }
            check_one_active_group(h);
        }
        for (int rank = 0; rank < h->size; ++rank) {
            assert_int_equal(scripts[rank].at, scripts[rank].num);
        }
    }
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    for_all_layouts(check_progress);
}

/* ---- how often a rank is throttled and unthrottled ---- */

static int ceil_log2(int n)
{
    int log = 0;
    while (1 << log < n) {
        ++log;
    }
    return log;
}

/* A turn that follows another group's costs its ranks two changes. */
static int most_changes(int schedule, int num_nodes, int num_groups)
{
    pwr_hierarchy_t *h = make_layout(num_nodes, num_groups, 0);
    int most = 0;
    for (int rank = 0; rank < h->size; ++rank) {
        write_script(schedule, h, rank, false);
        int changes = 0;
        for (int i = 0; i < scripts[rank].num; ++i) {
            const action_t *a = &scripts[rank].actions[i];
            changes += WAIT == a->what && a->target > 0 ? 2 : 0;
        }
        most = changes > most ? changes : most;
    }
    pwr_hierarchy_free(h);
    return most;
}

static void log_needs_few_changes(void **state)
{
    (void)state;
    for (int n = 2; n <= 16; ++n) {
        int log = most_changes(COLL_POWERAWARE_LOG, n, 2);
        int paper = most_changes(COLL_POWERAWARE_PAPER, n, 2);
        assert_true(2 <= log && log <= 2 * ceil_log2(n) + 2);
        assert_true(n <= paper && paper <= 2 * n + 2); /* throttled about N times */
        assert_true(n < 4 || log < paper);
        assert_int_equal(most_changes(COLL_POWERAWARE_LOG, n, 1), 0);
    }
    assert_int_equal(most_changes(COLL_POWERAWARE_LOG, 16, 2), 10);
    assert_int_equal(most_changes(COLL_POWERAWARE_PAPER, 16, 2), 32);
    /* with a turn for each pair of groups it would be 2 (G - 1) log2 N + 2 = 18 */
    assert_int_equal(most_changes(COLL_POWERAWARE_LOG, 16, 3), 14);
}

/* ---- the paper's order ---- */

/* ICPP 2010 V-A for two sockets: A with A, B with B, then per pair i < j: A_i with B_j first. */
static void two_groups_follow_the_paper(void **state)
{
    (void)state;
    for (int n = 2; n <= MAX_NODES; ++n) {
        pwr_hierarchy_t *h = make_layout(n, 2, 0);
        for (int node = 0; node < n; ++node) {
            coll_poweraware_plan_t plan = plan_of(COLL_POWERAWARE_PAPER, h, node);
            for (int i = 0; i < coll_poweraware_alltoall_num_steps(&plan); ++i) {
                coll_poweraware_step_t step = coll_poweraware_alltoall_step(&plan, i);
                assert_int_equal(step.phase, i == 0 ? 2 : i == 1 ? 3 : 4);
                if (i < 2) {
                    assert_int_equal(step.active_group, i);
                    assert_int_equal(step.peer_group, i);
                    continue;
                }
                int peer = coll_poweraware_alltoall_peer(&plan, &step, 0);
                if (COLL_POWERAWARE_NOBODY != peer) {
                    int first = i % 2 == 0;
                    int low = node < peer;
                    assert_int_equal(step.num_meetings, 1);
                    assert_int_equal(step.active_group, first == low ? 0 : 1);
                    assert_int_equal(step.peer_group, first == low ? 1 : 0);
                }
            }
        }
        pwr_hierarchy_free(h);
    }
}

static int num_steps(int schedule, int num_nodes, int num_groups)
{
    pwr_hierarchy_t *h = make_layout(num_nodes, num_groups, 0);
    coll_poweraware_plan_t plan = plan_of(schedule, h, 0);
    int steps = coll_poweraware_alltoall_num_steps(&plan);
    pwr_hierarchy_free(h);
    return steps;
}

static void step_counts(void **state)
{
    (void)state;
    assert_int_equal(num_steps(COLL_POWERAWARE_PAPER, 1, 2), 0);
    assert_int_equal(num_steps(COLL_POWERAWARE_PAPER, 2, 1), 1);
    assert_int_equal(num_steps(COLL_POWERAWARE_PAPER, 2, 2), 2 + 1 * 2);
    assert_int_equal(num_steps(COLL_POWERAWARE_PAPER, 8, 2), 2 + 7 * 2);
    assert_int_equal(num_steps(COLL_POWERAWARE_LOG, 5, 2), 2 + 3 * 2);
    assert_int_equal(num_steps(COLL_POWERAWARE_LOG, 8, 2), 2 + 3 * 2);
    assert_int_equal(num_steps(COLL_POWERAWARE_LOG, 8, 3), 3 + 3 * 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_ranks_is_served_once),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(log_needs_few_changes),
        cmocka_unit_test(two_groups_follow_the_paper),
        cmocka_unit_test(step_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
