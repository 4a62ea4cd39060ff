/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The delay queue: order, latency, rate, bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "delay_queue.h"

static struct pwr_delay_queue *new_queue(double rate_mbit)
{
    struct pwr_delay_queue *queue = calloc(1, sizeof *queue);
    assert_non_null(queue);
    pwr_delay_queue_init(queue, rate_mbit);
    return queue;
}

static void end_queue(struct pwr_delay_queue *queue)
{
    while (pwr_delay_queue_next_due(queue) >= 0) {
        pwr_delay_queue_pop(queue);
    }
    assert_int_equal(queue->bytes, 0);
    free(queue);
}

static void test_nothing_is_due_when_empty(void **state)
{
    (void)state;
    struct pwr_delay_queue *queue = new_queue(0);
    assert_int_equal(pwr_delay_queue_next_due(queue), -1);
    assert_null(pwr_delay_queue_due(queue, INT64_MAX));
    end_queue(queue);
}

static void test_frame_waits_for_its_time(void **state)
{
    (void)state;
    struct pwr_delay_queue *queue = new_queue(0);
    assert_true(pwr_delay_queue_push(queue, "one", 3, 1000));
    assert_int_equal(pwr_delay_queue_next_due(queue), 1000);
    assert_null(pwr_delay_queue_due(queue, 999));
    const struct pwr_frame *frame = pwr_delay_queue_due(queue, 1000);
    assert_non_null(frame);
    assert_int_equal(frame->length, 3);
    assert_memory_equal(frame->bytes, "one", 3);
    end_queue(queue);
}

static void test_frames_keep_their_order(void **state)
{
    (void)state;
    struct pwr_delay_queue *queue = new_queue(0);
    for (unsigned char i = 0; i < 100; i++) {
        assert_true(pwr_delay_queue_push(queue, &i, 1, 10));
    }
    for (unsigned char i = 0; i < 100; i++) {
        const struct pwr_frame *frame = pwr_delay_queue_due(queue, 10);
        assert_non_null(frame);
        assert_int_equal(frame->bytes[0], i);
        pwr_delay_queue_pop(queue);
    }
    end_queue(queue);
}

/* At 8 Mbit/s a byte takes 1 us: the second frame waits for the first, the third for its own time.
 */
static void test_rate_spaces_frames(void **state)
{
    (void)state;
    static const unsigned char frame[500];
    struct pwr_delay_queue *queue = new_queue(8);
    const int64_t expected[] = {1000000 + 500000, 1000000 + 2 * 500000, 9000000 + 500000};
    pwr_delay_queue_push(queue, frame, sizeof frame, 1000000);
    pwr_delay_queue_push(queue, frame, sizeof frame, 1000000);
    pwr_delay_queue_push(queue, frame, sizeof frame, 9000000);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(pwr_delay_queue_next_due(queue), expected[i]);
        pwr_delay_queue_pop(queue);
    }
    end_queue(queue);
}

static void test_too_many_frames_are_dropped(void **state)
{
    (void)state;
    struct pwr_delay_queue *queue = new_queue(0);
    for (unsigned i = 0; i < PWR_DELAY_QUEUE_FRAMES; i++) {
        assert_true(pwr_delay_queue_push(queue, "x", 1, i));
    }
    assert_false(pwr_delay_queue_push(queue, "x", 1, 0));
    assert_int_equal(queue->dropped, 1);
    pwr_delay_queue_pop(queue);
    assert_true(pwr_delay_queue_push(queue, "x", 1, 0));
    end_queue(queue);
}

static void test_too_many_bytes_are_dropped(void **state)
{
    (void)state;
    static const unsigned char frame[1 << 20];
    struct pwr_delay_queue *queue = new_queue(0);
    for (unsigned i = 0; i < PWR_DELAY_QUEUE_BYTES / sizeof frame; i++) {
        assert_true(pwr_delay_queue_push(queue, frame, sizeof frame, i));
    }
    assert_false(pwr_delay_queue_push(queue, frame, 1, 0));
    assert_int_equal(queue->dropped, 1);
    assert_int_equal(queue->bytes, PWR_DELAY_QUEUE_BYTES);
    end_queue(queue);
}

/* A frame that is dropped does not occupy the line. */
static void test_dropped_frame_takes_no_time(void **state)
{
    (void)state;
    static unsigned char frame[PWR_DELAY_QUEUE_BYTES + 1];
    struct pwr_delay_queue *queue = new_queue(8);
    assert_false(pwr_delay_queue_push(queue, frame, sizeof frame, 0));
    assert_true(pwr_delay_queue_push(queue, frame, 1, 0));
    assert_int_equal(pwr_delay_queue_next_due(queue), 1000);
    end_queue(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_due_when_empty),
        cmocka_unit_test(test_frame_waits_for_its_time),
        cmocka_unit_test(test_frames_keep_their_order),
        cmocka_unit_test(test_rate_spaces_frames),
        cmocka_unit_test(test_too_many_frames_are_dropped),
        cmocka_unit_test(test_too_many_bytes_are_dropped),
        cmocka_unit_test(test_dropped_frame_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
