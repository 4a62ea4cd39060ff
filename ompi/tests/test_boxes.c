/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Rounds of boxes: threads as ranks, every message checked, rounds that wrap, ranks that fall
 * behind or say nothing for billions of rounds.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "pwr_ompi/boxes.h"

enum { MOST = 5, BOX_BYTES = 256, DEPTH = PWR_BOX_ROUNDS, ROUNDS = 500, LIMIT_S = 600 };

typedef struct node {
    int num;
    pwr_boxes_control_t control;
    pwr_rank_lines_t lines[MOST];
    _Alignas(64) unsigned char sets[PWR_BOX_SETS][MOST * BOX_BYTES];
    pwr_boxes_t rank[MOST];
} node_t;

/* A node of which every rank has ended round start. */
static void make_node(node_t *node, int num, bool crowded, uint32_t start)
{
    memset(node, 0, sizeof *node);
    node->num = num;
    for (int i = 0; i < num; ++i) {
        pwr_boxes_t *b = &node->rank[i];
        *b = (pwr_boxes_t){.control = &node->control,
                           .lines = node->lines,
                           .sets = &node->sets[0][0],
                           .set_bytes = (size_t)num * BOX_BYTES,
                           .box_stride = BOX_BYTES,
                           .round = start,
                           .known = start,
                           .left = start};
        node->lines[i].left.value = start;
        for (uint32_t back = 0; back < DEPTH; ++back) {
            unsigned line = (start - back) % DEPTH;
            b->posted[line] = start - back;
            b->joined[line] = start;
            node->lines[i].posted[line].flag.value = start - back;
            node->control.joined[line].value = start;
        }
        pwr_boxes_enter(b, num, i, crowded && 0 == i);
    }
}

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static unsigned char value_of(uint32_t round, int sender, size_t index)
{
    return (unsigned char)mix(round * 31u + (uint32_t)sender * 7u + (uint32_t)index);
}

static void write_message(unsigned char *to, uint32_t round, int sender, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) {
        to[i] = value_of(round, sender, i);
    }
}

static int wrong_bytes(const unsigned char *from, uint32_t round, int sender, size_t bytes)
{
    int wrong = 0;
    for (size_t i = 0; i < bytes; ++i) {
        wrong += from[i] != value_of(round, sender, i);
    }
    return wrong;
}

/* ---- ranks that run at once ---- */

typedef struct player {
    node_t *node;
    int me;
    const pwr_wait_policy_t *policy;
    int wrong;
} player_t;

static void wait_in_earnest(void *who, pwr_box_wait_t what, pwr_flag_t *flag, uint32_t target)
{
    (void)what;
    const player_t *player = who;
    pwr_wait_until(flag, target, player->policy, NULL, NULL, 0, NULL);
}

/* Some ranks dawdle, in turn. */
static void dawdle(uint32_t dice, int me)
{
    uint32_t mine = mix(dice + (uint32_t)me);
    if (0 == mine % 500) {
        usleep(200);
    } else if (0 == mine % 7) {
        sched_yield();
    }
}

/* Now and then a rank joins with an error. */
static int error_of(uint32_t round, int rank)
{
    return 0 == mix(round + (uint32_t)rank * 77u) % 20 ? -1 - rank : 0;
}

static int first_error(uint32_t round, int num)
{
    int error = 0;
    for (int rank = 0; rank < num && 0 == error; ++rank) {
        error = error_of(round, rank);
    }
    return error;
}

static pwr_boxes_t *contribute(player_t *p, size_t bytes)
{
    pwr_boxes_t *b = &p->node->rank[p->me];
    write_message(pwr_boxes_fill(b, bytes), b->round, p->me, bytes);
    pwr_boxes_join(b, error_of(b->round, p->me));
    return b;
}

/* reader: -1 for everybody */
static void play_together(player_t *p, size_t bytes, int reader)
{
    pwr_boxes_t *b = contribute(p, bytes);
    if (reader < 0 || p->me == reader) {
        p->wrong += first_error(b->round, p->node->num) != pwr_boxes_wait_all(b);
        for (int i = 0; i < p->node->num; ++i) {
            p->wrong += wrong_bytes(pwr_boxes_read(b, i, bytes), b->round, i, bytes);
        }
    }
}

/* Everybody reads of those before it. */
static void play_below(player_t *p, size_t bytes)
{
    pwr_boxes_t *b = contribute(p, bytes);
    p->wrong += first_error(b->round, p->me) != pwr_boxes_wait_below(b);
    for (int i = 0; i < p->me; ++i) {
        p->wrong += wrong_bytes(pwr_boxes_read(b, i, bytes), b->round, i, bytes);
    }
}

static void play_one(player_t *p, size_t bytes, int poster)
{
    pwr_boxes_t *b = &p->node->rank[p->me];
    int error = (int)(b->round % 3);
    if (p->me == poster) {
        write_message(pwr_boxes_fill_set(b, bytes), b->round, poster, bytes);
        pwr_boxes_post(b, error);
        return;
    }
    p->wrong += error != pwr_boxes_wait_for(b, poster, wait_in_earnest, p);
    p->wrong += wrong_bytes(pwr_boxes_read_set(b, poster, bytes), b->round, poster, bytes);
}

/* The leader makes one message of all, and ends both rounds at once. */
static void play_through_leader(player_t *p, size_t bytes, int leader)
{
    pwr_boxes_t *b = &p->node->rank[p->me];
    play_together(p, bytes, leader);
    if (p->me != leader) {
        pwr_boxes_end(b);
        pwr_boxes_begin(b, wait_in_earnest, p);
        play_one(p, bytes, leader);
        return;
    }
    pwr_boxes_begin(b, wait_in_earnest, p);
    unsigned char *to = pwr_boxes_fill_set(b, bytes);
    write_message(to, b->round, leader, bytes);
    for (int i = 0; i < p->node->num; ++i) {
        p->wrong += wrong_bytes(pwr_boxes_read_last(b, i, bytes), b->round - 1, i, bytes);
    }
    pwr_boxes_post(b, (int)(b->round % 3));
}

static void *play(void *arg)
{
    static const size_t sizes[] = {0, 1, 8, PWR_BOX_INLINE, PWR_BOX_INLINE + 1, BOX_BYTES};
    player_t *p = arg;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        uint32_t dice = mix(i + 1); /* the same on all ranks */
        int someone = (int)(dice / 16 % (uint32_t)p->node->num);
        size_t bytes = sizes[dice / 256 % (sizeof sizes / sizeof sizes[0])];
        if (dice / 4096 % 100 < 30) {
            someone = 0; /* often the same one, so that others fall behind */
        }
        dawdle(dice, p->me);
        pwr_boxes_begin(&p->node->rank[p->me], wait_in_earnest, p);
        switch (dice % 6) {
        case 0:
            play_together(p, bytes, -1);
            continue; /* needs no end */
        case 1:
            play_together(p, bytes, someone);
            break;
        case 2:
            play_through_leader(p, bytes, someone);
            break;
        case 3:
            play_below(p, bytes);
            break;
        default:
            play_one(p, BOX_BYTES == bytes ? bytes * (size_t)p->node->num : bytes, someone);
            break;
        }
        pwr_boxes_end(&p->node->rank[p->me]);
    }
    return NULL;
}

/* Stands in for libc's, which waits for flags sleep by: without a time-out, so that a wake-up that
   is lost is a hang, however fast or slow the machine is. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long word[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; ++i) {
        word[i] = va_arg(rest, long);
    }
    va_end(rest);
    if (NULL == real) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    if (SYS_futex == number && FUTEX_WAIT == word[1]) {
        word[3] = 0;
    }
    return real(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

static const pwr_wait_policy_t sleep_at_once = {
    .sleep_min_ns = 2000000000, .sleep_max_ns = 2000000000, .oversubscribed = true};
static const pwr_wait_policy_t linger_and_sleep = {.sleep_min_ns = 2000000000,
                                                   .sleep_max_ns = 2000000000};
static const pwr_wait_policy_t spin_first = {
    .spin_ns = 20000, .sleep_min_ns = 2000000000, .sleep_max_ns = 2000000000};

static void play_all(int num, bool crowded, uint32_t start, const pwr_wait_policy_t *policy)
{
    static node_t node;
    pthread_t threads[MOST];
    player_t players[MOST];
    make_node(&node, num, crowded, start);
    for (int i = 0; i < num; ++i) {
        players[i] = (player_t){.node = &node, .me = i, .policy = policy};
        assert_int_equal(0, pthread_create(&threads[i], NULL, play, &players[i]));
    }
    for (int i = 0; i < num; ++i) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(players[i].wrong, 0);
        assert_int_equal(node.rank[i].round, node.rank[0].round);
    }
}

static void every_message_arrives(void **state)
{
    (void)state;
    static const uint32_t starts[] = {0, UINT32_MAX - 4, (1u << 29) - 3, (1u << 31) - 3};
    alarm(LIMIT_S);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
        for (int crowded = 0; crowded < 2; ++crowded) {
            play_all(2, crowded, starts[i], &spin_first);
            play_all(3, crowded, starts[i], crowded ? &sleep_at_once : &linger_and_sleep);
            play_all(MOST, crowded, starts[i], crowded ? &sleep_at_once : &linger_and_sleep);
        }
    }
    alarm(0);
}

/* ---- one thread that plays all ranks ---- */

static int waits;  /* for flags that were not there */
static int passed; /* flags that were */
static const pwr_flag_t *waited_for;
static uint32_t wait_target;

static void note_wait(void *who, pwr_box_wait_t what, pwr_flag_t *flag, uint32_t target)
{
    (void)who;
    (void)what;
    if (pwr_flag_reached(flag, target)) {
        ++passed;
        return;
    }
    ++waits;
    waited_for = flag;
    wait_target = target;
}

static void rank_posts_bytes(node_t *node, int rank, size_t bytes)
{
    pwr_boxes_t *b = &node->rank[rank];
    pwr_boxes_begin(b, note_wait, NULL);
    pwr_boxes_fill_set(b, bytes);
    pwr_boxes_post(b, 0);
    pwr_boxes_end(b);
}

static void rank_posts(node_t *node, int rank)
{
    rank_posts_bytes(node, rank, 8);
}

static void rank_reads(node_t *node, int rank, int poster)
{
    pwr_boxes_t *b = &node->rank[rank];
    pwr_boxes_begin(b, note_wait, NULL);
    pwr_boxes_wait_for(b, poster, note_wait, NULL);
    pwr_boxes_end(b);
}

static pwr_boxes_t *rank_joins(node_t *node, int rank)
{
    pwr_boxes_t *b = &node->rank[rank];
    pwr_boxes_begin(b, note_wait, NULL);
    pwr_boxes_fill(b, 8);
    pwr_boxes_join(b, 0);
    return b;
}

/* Ranks 0 and 1 run ahead of rank 2, which waits for them alone. */
static void nobody_waits_for_those_behind(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 3, false, 100);
    waits = 0;
    for (int i = 1; i < DEPTH; ++i) {
        for (int rank = 0; rank < 2; ++rank) {
            pwr_boxes_t *b = rank_joins(&node, rank);
            assert_int_equal(pwr_boxes_wait_below(b), 0);
            pwr_boxes_end(b);
        }
    }
    assert_int_equal(waits, 0);
    pwr_boxes_t *last = &node.rank[2];
    pwr_boxes_begin(last, note_wait, NULL);
    node.lines[1].posted[101 % DEPTH].flag.value = 100 - DEPTH + 1; /* as if it had not joined */
    pwr_boxes_wait_below(last);
    assert_int_equal(waits, 1);
    assert_ptr_equal(waited_for, &node.lines[1].posted[101 % DEPTH].flag);
}

/* The invariant: a box is not written before everybody has ended the round that it was used for. */
static void a_writer_waits_for_the_slowest(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 3, false, 100);
    waits = passed = 0;
    for (int i = 1; i < DEPTH; ++i) {
        rank_posts(&node, 0);
        rank_reads(&node, 1, 0);
    }
    assert_int_equal(waits, 0);          /* rounds 101 .. 99 + DEPTH */
    assert_int_equal(passed, DEPTH - 1); /* rank 1 is told of each that it need not have waited */
    rank_posts(&node, 0);                /* what is known of rank 2 is that it has ended round 99 */
    assert_int_equal(waits, 1);
    assert_ptr_equal(waited_for, &node.lines[2].left);
    assert_true(wait_target - 100 < DEPTH);
    assert_int_equal(node.rank[0].known, 101); /* and nobody made it wait */
}

/* Rank 0 posts until it waits for rank 1, which then reads no further than it has to. */
static void a_wait_for_the_slowest_ends(uint32_t start, size_t bytes, uint32_t depth)
{
    static node_t node;
    make_node(&node, 2, false, start);
    for (waits = 0; 0 == waits;) {
        rank_posts_bytes(&node, 0, bytes);
    }
    assert_int_equal(node.rank[0].round - start, depth);
    assert_ptr_equal(waited_for, &node.lines[1].left);
    assert_true(wait_target - start < depth); /* and not before start */
    while (node.rank[1].round != wait_target) {
        assert_false(pwr_flag_reached(waited_for, wait_target));
        rank_reads(&node, 1, 0);
    }
    assert_true(pwr_flag_reached(waited_for, wait_target));
}

static void whoever_runs_ahead_waits_for_what_will_come(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * DEPTH; ++i) {
        a_wait_for_the_slowest_ends(100 + i, PWR_BOX_INLINE, DEPTH);
        a_wait_for_the_slowest_ends(100 + i, PWR_BOX_INLINE + 1, PWR_BOX_SETS);
        a_wait_for_the_slowest_ends(0 - i, PWR_BOX_INLINE, DEPTH);
    }
}

/* Others may still read the set that lies beside a short message, for which nobody has to wait. */
static void an_area_is_free(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 2, false, 100);
    waits = 0;
    for (int i = 1; i < PWR_BOX_SETS; ++i) {
        rank_posts_bytes(&node, 0, BOX_BYTES);
    }
    pwr_boxes_t *b = &node.rank[0];
    pwr_boxes_begin(b, note_wait, NULL);
    pwr_boxes_fill_set(b, 8);
    assert_int_equal(waits, 0);
    assert_ptr_equal(pwr_boxes_area(b), b->sets + b->round % PWR_BOX_SETS * b->set_bytes);
    assert_int_equal(waits, 1);
    assert_ptr_equal(waited_for, &node.lines[1].left);
}

static void ends_are_said_once_per_batch(void **state)
{
    enum { BATCHES = 5 };
    (void)state;
    static node_t node;
    make_node(&node, 2, false, PWR_BOX_BATCH - 1);
    int said = 0;
    for (int i = 0; i < BATCHES * PWR_BOX_BATCH; ++i) {
        uint32_t before = node.lines[1].left.value;
        rank_posts(&node, 0);
        rank_reads(&node, 1, 0);
        said += before != node.lines[1].left.value;
        assert_int_equal(node.lines[1].left.value / PWR_BOX_BATCH,
                         node.rank[1].round / PWR_BOX_BATCH);
    }
    assert_int_equal(said, BATCHES);
}

static void no_more_is_known_than_the_slowest_has_ended(void **state)
{
    (void)state;
    static node_t node;
    for (uint32_t ends = 0; ends < DEPTH * DEPTH; ++ends) {
        uint32_t one = ends % DEPTH, two = ends / DEPTH;
        make_node(&node, 3, false, 100);
        node.rank[0].round = 100 + DEPTH - 1;
        node.lines[1].left.value = 100 + one;
        node.lines[2].left.value = 100 + two;
        rank_posts(&node, 0);
        assert_int_equal(node.rank[0].known, 101 + (one < two ? one : two));
    }
}

static void who_heard_of_all_asks_nobody(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 3, false, UINT32_MAX - 7);
    waits = 0;
    for (int i = 0; i < 20; ++i) {
        for (int rank = 0; rank < 3; ++rank) {
            rank_joins(&node, rank);
            node.lines[rank].left.value = UINT32_MAX - 7; /* as if nobody ever said */
        }
        for (int rank = 0; rank < 3; ++rank) {
            pwr_boxes_wait_all(&node.rank[rank]);
        }
    }
    assert_int_equal(waits, 0);
    /* and from who knows, a post tells it */
    rank_posts(&node, 0);
    rank_reads(&node, 1, 0);
    assert_int_equal(node.rank[1].known, node.rank[1].round - 1);
}

enum { LEAPS = 12 };

/* 2^28 rounds that nobody plays: as if rank 0 had posted in all of them. */
static void leap(node_t *node, bool ended)
{
    for (int rank = 0; rank < node->num; ++rank) {
        pwr_boxes_t *b = &node->rank[rank];
        b->round += 1u << 28;
        b->left = ended ? b->round : b->left;
        node->lines[rank].left.value = b->left;
    }
    for (uint32_t back = 0; back < DEPTH; ++back) {
        uint32_t round = node->rank[0].round - back;
        node->rank[0].posted[round % DEPTH] = round;
        node->lines[0].posted[round % DEPTH].flag.value = round;
    }
}

/* Rank 1 only reads for 3 * 2^30 rounds: its last post must never look like one to come. */
static void a_silent_rank_is_not_misread(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 2, false, 0);
    waits = 0;
    for (int i = 0; i < LEAPS; ++i) {
        leap(&node, true);
        for (int played = 0; played < DEPTH; ++played) {
            rank_posts(&node, 0);
            rank_reads(&node, 1, 0);
            uint32_t now = node.rank[0].round;
            assert_false(pwr_flag_reached(&node.lines[1].posted[now % DEPTH].flag, now));
        }
    }
    assert_int_equal(waits, 0);
}

/* Nobody ends a round for 3 * 2^30 of them, as all wait for all: who left when, the last time it
   was written, must not look like news either. */
static void an_old_end_is_not_misread(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 2, false, 0);
    for (int i = 0; i < LEAPS; ++i) {
        leap(&node, false);
        for (int rank = 0; rank < 2; ++rank) {
            rank_joins(&node, rank);
        }
        pwr_boxes_wait_all(&node.rank[0]);
        pwr_boxes_wait_all(&node.rank[1]);
        assert_false(pwr_flag_reached(&node.lines[1].left, node.rank[1].round));
    }
    waits = 0;
    for (int i = 0; i < DEPTH; ++i) {
        rank_posts(&node, 0);
    }
    assert_int_equal(waits, 1); /* rank 1 has read nothing of it */
    assert_ptr_equal(waited_for, &node.lines[1].left);
}

/* Rank 2 does not even read: what it knew of the others must not look like news. */
static void old_knowledge_is_forgotten(void **state)
{
    (void)state;
    static node_t node;
    make_node(&node, 3, false, 0);
    waits = 0;
    for (int i = 0; i < LEAPS; ++i) {
        leap(&node, true);
        rank_posts(&node, 0);
        rank_reads(&node, 1, 0);
        pwr_boxes_begin(&node.rank[2], note_wait, NULL);
        pwr_boxes_end(&node.rank[2]);
    }
    assert_int_equal(waits, 0);
    node.lines[1].left.value = node.rank[2].round - DEPTH;
    rank_posts(&node, 2);
    assert_int_equal(waits, 1);
    assert_ptr_equal(waited_for, &node.lines[1].left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_arrives),
        cmocka_unit_test(nobody_waits_for_those_behind),
        cmocka_unit_test(a_writer_waits_for_the_slowest),
        cmocka_unit_test(whoever_runs_ahead_waits_for_what_will_come),
        cmocka_unit_test(an_area_is_free),
        cmocka_unit_test(ends_are_said_once_per_batch),
        cmocka_unit_test(no_more_is_known_than_the_slowest_has_ended),
        cmocka_unit_test(who_heard_of_all_asks_nobody),
        cmocka_unit_test(a_silent_rank_is_not_misread),
        cmocka_unit_test(an_old_end_is_not_misread),
        cmocka_unit_test(old_knowledge_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
