/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Peers by their endpoints, against a plain list of who is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wait/doorbell_peers.h"

enum { ENDPOINTS = 100, STRIDE = 192, ROOM = 60, STEPS = 20000 };

static char endpoints[ENDPOINTS * STRIDE];

static void *endpoint(int i)
{
    return &endpoints[i * STRIDE];
}

static void who_is_there_is_found(void **state)
{
    pwr_peers_t peers;
    bool there[ENDPOINTS] = {false};
    size_t count = 0;
    (void)state;
    srand(1);
    assert_true(pwr_peers_make_room(&peers, ROOM));
    for (int step = 0; step < STEPS; ++step) {
        int i = rand() % ENDPOINTS;
        if (0 == rand() % 3) {
            pwr_peers_remove(&peers, endpoint(i));
            count -= there[i];
            there[i] = false;
        } else if (there[i] || count < ROOM) {
            pwr_peer_t *peer = pwr_peers_add(&peers, endpoint(i));
            assert_non_null(peer);
            peer->number = (uint32_t)i;
            count += !there[i];
            there[i] = true;
        } else {
            assert_null(pwr_peers_add(&peers, endpoint(i)));
        }
        assert_int_equal(count, peers.count);
        i = rand() % ENDPOINTS;
        const pwr_peer_t *found = pwr_peers_find(&peers, endpoint(i));
        assert_int_equal(there[i], NULL != found);
        assert_true(NULL == found || (uint32_t)i == found->number);
    }
    pwr_peers_free(&peers);
    assert_int_equal(0, peers.count);
}

static void a_new_peer_has_nothing_of_an_old_one(void **state)
{
    pwr_peers_t peers;
    (void)state;
    assert_true(pwr_peers_make_room(&peers, 1));
    pwr_peers_add(&peers, endpoint(0))->rings = true;
    assert_false(pwr_peers_add(&peers, endpoint(0))->rings);
    assert_int_equal(1, peers.count);
    pwr_peers_free(&peers);
}

/* Else the owner of a bell would rely on who has gone. */
static void who_is_taken_away_rings_no_more(void **state)
{
    enum { OWNER = 1, RINGERS = 3 };
    pwr_bell_t bell;
    pwr_peers_t peers;
    (void)state;
    assert_int_equal(0, pwr_bell_open(&bell, OWNER));
    assert_true(pwr_peers_make_room(&peers, RINGERS));
    for (int i = 0; i < RINGERS; ++i) {
        pwr_peer_t *peer = pwr_peers_add(&peers, endpoint(i));
        assert_int_equal(0, pwr_ringer_open(&peer->ringer, &bell.address, (uint32_t)i));
    }
    pwr_peers_remove(&peers, endpoint(0));
    for (uint32_t i = 0; i < RINGERS; ++i) {
        assert_int_equal(i > 0, pwr_bell_is_rung_by(&bell, i));
    }
    pwr_peers_free(&peers);
    for (uint32_t i = 0; i < RINGERS; ++i) {
        assert_false(pwr_bell_is_rung_by(&bell, i));
    }
    pwr_bell_close(&bell);
}

static void there_may_be_too_many(void **state)
{
    pwr_peers_t peers;
    (void)state;
    assert_false(pwr_peers_make_room(&peers, UINT16_MAX));
    assert_null(peers.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_there_is_found),
        cmocka_unit_test(a_new_peer_has_nothing_of_an_old_one),
        cmocka_unit_test(who_is_taken_away_rings_no_more),
        cmocka_unit_test(there_may_be_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
