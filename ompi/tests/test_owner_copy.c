/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Processes copy from and to each other's memory by asking its owner, all at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pwr_ompi/owner_copy.h"

enum { RANKS = 4, ROUNDS = 50, BYTES = 3 * PWR_OWNER_COPY_BYTES + 17 };

typedef struct node {
    pwr_owner_copy_t copy;
    pwr_flag_t through; /* ranks that ask no more */
} node_t;

typedef struct rank {
    node_t *node;
    int local;
    unsigned char from[BYTES];      /* private, at the same address in all of them */
    unsigned char to[RANKS][BYTES]; /* ... written to by each */
} rank_t;

static rank_t me;

static unsigned char byte_of(int rank, size_t i)
{
    return (unsigned char)((size_t)rank * 89 + i * 7);
}

static void serve_until(const void *who, pwr_flag_t *flag, uint32_t target)
{
    const rank_t *rank = who;
    while (!pwr_flag_reached(flag, target)) {
        if (!pwr_owner_copy_serve(&rank->node->copy, rank->local)) {
            sched_yield();
        }
    }
}

static bool are_of(const unsigned char *bytes, size_t num, int rank)
{
    for (size_t i = 0; i < num; ++i) {
        if (bytes[i] != byte_of(rank, i)) {
            return false;
        }
    }
    return true;
}

static uint64_t address(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

/* Different lengths, nothing among them. */
static bool ask_everybody(int round)
{
    static unsigned char got[BYTES];
    size_t bytes = (size_t)BYTES * (size_t)round / (ROUNDS - 1);
    bool right = true;
    for (int d = 1; d < RANKS; ++d) {
        int owner = (me.local + d) % RANKS;
        memset(got, 0, sizeof got);
        pwr_owner_copy_ask(&me.node->copy, owner, false, got, address(me.from), bytes, serve_until,
                           &me);
        pwr_owner_copy_ask(&me.node->copy, owner, true, me.from, address(me.to[me.local]), bytes,
                           serve_until, &me);
        right = right && are_of(got, bytes, owner) && (bytes == BYTES || 0 == got[bytes]);
    }
    return right;
}

static int run_rank(node_t *node, int local)
{
    me.node = node;
    me.local = local;
    for (size_t i = 0; i < BYTES; ++i) {
        me.from[i] = byte_of(local, i);
    }
    bool right = true;
    for (int round = 0; round < ROUNDS; ++round) {
        right = ask_everybody(round) && right;
    }
    pwr_flag_arrive(&node->through, RANKS);
    serve_until(&me, &node->through, RANKS);
    for (int from = 0; from < RANKS; ++from) {
        right = right && (from == local || are_of(me.to[from], BYTES, from));
    }
    return right ? 0 : 1;
}

static void all_ask_all(void **state)
{
    (void)state;
    node_t *node =
        mmap(NULL, sizeof *node, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(MAP_FAILED != (void *)node);
    pid_t child[RANKS];
    for (int local = 0; local < RANKS; ++local) {
        child[local] = fork();
        if (0 == child[local]) {
            _exit(run_rank(node, local));
        }
    }
    for (int local = 0; local < RANKS; ++local) {
        int status;
        assert_int_equal(waitpid(child[local], &status, 0), child[local]);
        assert_true(WIFEXITED(status) && 0 == WEXITSTATUS(status));
    }
    munmap(node, sizeof *node);
}

static void a_refusal_is_new_once(void **state)
{
    (void)state;
    static pwr_owner_copy_t copy;
    assert_false(pwr_owner_copy_refused(&copy));
    assert_true(pwr_owner_copy_refuse(&copy));
    assert_true(pwr_owner_copy_refused(&copy));
    assert_false(pwr_owner_copy_refuse(&copy));
    assert_false(pwr_owner_copy_serve(&copy, 0)); /* nobody asks */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ask_all),
        cmocka_unit_test(a_refusal_is_new_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
