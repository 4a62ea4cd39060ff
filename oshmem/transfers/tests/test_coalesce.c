/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which puts become one, and when they are sent: the library of OpenSHMEM below is a list of the puts
 * it got, and the memory of each PE.
 */
#include "config.h"

#include "fixture.h"

#include "coalesce.h"

#include <stdbool.h>
#include <string.h>

enum { PES = 40, MEMORY = 256 * 1024, BUFFER = 64 * 1024, LARGEST = 32 * 1024 };

static char memory[MEMORY]; /* its addresses are symmetric */
static char arrived[PES][MEMORY];
static struct { size_t bytes; int pe; bool is_blocking; } sent[1000];
static int num_sent;
static int mapped_pe = -1;
shmem_ctx_t oshmem_ctx_default;

static void receive(void *dest, const void *source, size_t bytes, int pe, bool is_blocking)
{
    size_t place = (size_t)((char *)dest - memory);
    if (pe >= 0 && pe < PES && place + bytes <= MEMORY) {
        memcpy(arrived[pe] + place, source, bytes);
    }
    sent[num_sent].bytes = bytes;
    sent[num_sent].pe = pe;
    sent[num_sent++].is_blocking = is_blocking;
}

void pshmem_ctx_putmem(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
    (void)ctx;
    receive(dest, source, bytes, pe, true);
}

void pshmem_ctx_putmem_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
    (void)ctx;
    receive(dest, source, bytes, pe, false);
}

void *pshmem_ptr(const void *dest, int pe)
{
    return pe == mapped_pe ? arrived[pe] + ((const char *)dest - memory) : NULL;
}

int pshmem_n_pes(void)
{
    return PES;
}

void pshmem_query_thread(int *level)
{
    *level = SHMEM_THREAD_MULTIPLE;
}

static int begin(void **test)
{
    (void)test;
    pwr_coalesce_send();
    memset(arrived, 0, sizeof arrived);
    num_sent = 0;
    mapped_pe = -1;
    return 0;
}

static void put(size_t place, size_t bytes, int pe, char value)
{
    static char source[BUFFER * 2];
    memset(source, value, bytes);
    pwr_coalesce_put(SHMEM_CTX_DEFAULT, memory + place, source, bytes, pe);
    memset(source, '-', bytes); /* it may change at once */
}

static void neighbours_become_one(void **test)
{
    (void)test;
    for (size_t i = 0; i < 100; i++) {
        put(i * 8, 8, 1, (char)('0' + i % 10));
    }
    assert_int_equal(num_sent, 0);
    pwr_coalesce_send();
    assert_int_equal(num_sent, 1);
    assert_int_equal(sent[0].bytes, 800);
    assert_true(sent[0].is_blocking);
    for (size_t i = 0; i < 800; i++) {
        assert_int_equal(arrived[1][i], '0' + i / 8 % 10);
    }
    pwr_coalesce_send();
    assert_int_equal(num_sent, 1);
}

static void targets_and_arrays_in_turn(void **test)
{
    (void)test;
    for (size_t i = 0; i < 50; i++) {
        for (int pe = 0; pe < 16; pe++) {
            for (size_t array = 0; array < 4; array++) {
                put(array * 10000 + i * 4, 4, pe, 'a');
            }
        }
    }
    pwr_coalesce_send();
    assert_int_equal(num_sent, 64);
}

/* PEs that share a set of runs push each other out; nothing is lost. */
static void more_targets_than_runs(void **test)
{
    (void)test;
    for (size_t i = 0; i < 3; i++) {
        for (int pe = 0; pe < PES; pe++) {
            put(i * 100, 7, pe, 'b');
            put(5000 + i * 100, 7, pe, 'b');
        }
    }
    pwr_coalesce_send();
    for (int pe = 0; pe < PES; pe++) {
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(arrived[pe][i * 100 + 6], 'b');
            assert_int_equal(arrived[pe][5000 + i * 100 + 6], 'b');
        }
    }
}

static void the_last_put_to_a_place_wins(void **test)
{
    (void)test;
    for (int round = 0; round < 20; round++) {
        for (size_t place = 0; place < 30; place += 3) {
            put(place, 5, 2, (char)('A' + round));
        }
        put(10, 2, 2, '!');
    }
    put(200, 4, 2, 'x');
    put(198, 4, 2, 'y'); /* overlaps a run and would not continue it */
    pwr_coalesce_send();
    assert_memory_equal(arrived[2] + 9, "T!!TTTTT", 8);
    assert_memory_equal(arrived[2] + 198, "yyyyxx", 6);
}

/* Whichever of the two runs was opened first. */
static void a_put_continues_one_run_and_overlaps_another(void **test)
{
    (void)test;
    put(100, 4, 2, 'a');
    put(50, 10, 2, 'b');
    put(60, 50, 2, 'b');
    put(1050, 10, 2, 'b');
    put(1100, 4, 2, 'a');
    put(1060, 50, 2, 'b');
    pwr_coalesce_send();
    for (size_t place = 50; place < 110; place++) {
        assert_int_equal(arrived[2][place], 'b');
        assert_int_equal(arrived[2][1000 + place], 'b');
    }
}

static void runs_end_with_the_buffer(void **test)
{
    (void)test;
    for (size_t i = 0; i < 3 * BUFFER / 1000; i++) {
        put(i * 1000, 1000, 3, 'c');
    }
    pwr_coalesce_send();
    assert_int_equal(num_sent, 4);
    assert_int_equal(sent[0].bytes, BUFFER / 1000 * 1000);
}

static void large_ones_go_after_what_is_held(void **test)
{
    (void)test;
    put(0, LARGEST, 1, 'd');
    put(LARGEST, LARGEST + 1, 1, 'e');
    assert_int_equal(num_sent, 2);
    assert_int_equal(sent[0].bytes, LARGEST);
    assert_int_equal(sent[1].bytes, LARGEST + 1);
    assert_false(sent[1].is_blocking);
}

/* The library below says what is wrong, at the call that is wrong. */
static void wrong_ones_go_at_once(void **test)
{
    (void)test;
    put(0, 8, PES, 'f');
    put(0, 8, -1, 'f');
    put(0, 0, 1, 'f');
    assert_int_equal(num_sent, 3);
}

static void stores_where_memory_is_mapped(void **test)
{
    (void)test;
    mapped_pe = 4;
    put(16, 8, 4, 'g');
    put(100, 2 * LARGEST, 4, 'h');
    put(8, 4, 4, 'i'); /* before all that is known to be mapped */
    assert_int_equal(num_sent, 0);
    assert_memory_equal(arrived[4] + 8, "iiii\0\0\0\0gggggggg", 16);
    assert_int_equal(arrived[4][100 + 2 * LARGEST - 1], 'h');
    put(0, 4, 4 + 16, 'j'); /* another PE in the same place of a table */
    pwr_coalesce_send();
    assert_int_equal(num_sent, 1);
    assert_int_equal(arrived[4][0], 0);
}

/* With threads, a context may be one thread's own. */
static void contexts_are_left_alone(void **test)
{
    int other;
    (void)test;
    pwr_coalesce_put((shmem_ctx_t)&other, memory, "12345678", 8, 1);
    assert_int_equal(num_sent, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(neighbours_become_one, begin),
        cmocka_unit_test_setup(targets_and_arrays_in_turn, begin),
        cmocka_unit_test_setup(more_targets_than_runs, begin),
        cmocka_unit_test_setup(the_last_put_to_a_place_wins, begin),
        cmocka_unit_test_setup(a_put_continues_one_run_and_overlaps_another, begin),
        cmocka_unit_test_setup(runs_end_with_the_buffer, begin),
        cmocka_unit_test_setup(large_ones_go_after_what_is_held, begin),
        cmocka_unit_test_setup(wrong_ones_go_at_once, begin),
        cmocka_unit_test_setup(stores_where_memory_is_mapped, begin),
        cmocka_unit_test_setup(contexts_are_left_alone, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
