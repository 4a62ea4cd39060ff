/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * In how many messages leaders send elements of a sum; and what comes next to what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/leader/partial_sums.h"

#include "ompi/datatype/ompi_datatype.h"

enum { MOST = 16, EXTENT = 16, NODE = 3, RANK = 7 };

/* What was posted. */
typedef struct message {
    bool send;
    const char *buffer;
    size_t count;
    int peer;
} message_t;

static message_t posted[MOST];
static int num_posted;

static void note(bool send, const char *buffer, size_t count, int peer)
{
    assert_true(num_posted < MOST);
    posted[num_posted++] = (message_t){send, buffer, count, peer};
}

/* In the place of those in primitives/ and algorithms/operands.c. */
void coll_poweraware_post_recv(coll_poweraware_call_t *call, void *buffer, size_t count,
                               struct ompi_datatype_t *datatype, int peer)
{
    (void)call;
    (void)datatype;
    note(false, buffer, count, peer);
}

void coll_poweraware_post_send(coll_poweraware_call_t *call, const void *buffer, size_t count,
                               struct ompi_datatype_t *datatype, int peer)
{
    (void)call;
    (void)datatype;
    note(true, buffer, count, peer);
}

int coll_poweraware_complete(coll_poweraware_call_t *call, int first)
{
    (void)call;
    return first;
}

int coll_poweraware_copy_operands(const coll_poweraware_operands_t *operands, char *to,
                                  const char *from, size_t count)
{
    memcpy(to, from, count * (size_t)operands->extent);
    return OMPI_SUCCESS;
}

static int rank_of(const void *self, int node)
{
    (void)self;
    assert_int_equal(node, NODE);
    return RANK;
}

/* Posts count elements, at most `most` in a message; returns the number of messages. */
static int post(size_t most, bool send, size_t count)
{
    static char buffer[4096];
    coll_poweraware_operands_t operands = {.extent = EXTENT};
    const coll_poweraware_leaders_t leaders = {
        .operands = &operands, .message_count = most, .of_node = rank_of};
    size_t next = 0;
    num_posted = 0;
    coll_poweraware_leaders_post(&leaders, send, buffer, count, NODE);
    for (int i = 0; i < num_posted; ++i) {
        assert_int_equal(posted[i].send, send);
        assert_int_equal(posted[i].peer, RANK);
        assert_ptr_equal(posted[i].buffer, buffer + next * EXTENT);
        next += posted[i].count;
    }
    assert_int_equal(next, count);
    return num_posted;
}

static void nothing_is_no_message(void **state)
{
    (void)state;
    assert_int_equal(post(0, true, 0), 0);
    assert_int_equal(post(5, false, 0), 0);
}

static void without_a_limit_all_is_one(void **state)
{
    (void)state;
    assert_int_equal(post(0, true, 200), 1);
    assert_int_equal(post(0, false, 200), 1);
}

static void no_part_is_longer_than_the_limit(void **state)
{
    (void)state;
    for (size_t most = 1; most <= 9; ++most) {
        for (size_t count = 1; count <= most * MOST && count <= 100; ++count) {
            assert_int_equal(post(most, 0 == count % 2, count), (count + most - 1) / most);
            for (int i = 0; i < num_posted; ++i) {
                assert_true(posted[i].count >= 1 && posted[i].count <= most);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_no_message),
        cmocka_unit_test(without_a_limit_all_is_one),
        cmocka_unit_test(no_part_is_longer_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
