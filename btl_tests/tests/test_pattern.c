/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Tests of the byte rule: what it must tell apart.
 */
#include "config.h"

#include "pwr_verify/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 67 };

static void every_changed_bit_is_found(void **state)
{
    (void)state;
    unsigned char data[SIZE];
    pwr_pattern_t pattern = pwr_pattern(3, 5, 7);
    pwr_mismatch_t wrong;
    for (size_t size = 1; size <= SIZE; size++) {
        for (size_t bit = 0; bit < 8 * size; bit++) {
            pwr_pattern_fill(pattern, 0, data, size);
            assert_true(pwr_pattern_check(pattern, 0, data, size, &wrong));
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_false(pwr_pattern_check(pattern, 0, data, size, &wrong));
            assert_int_equal(wrong.position, bit / 8);
            assert_int_equal(wrong.found, data[bit / 8]);
            assert_int_equal(wrong.found ^ wrong.expected, 1 << bit % 8);
        }
    }
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    unsigned char whole[SIZE];
    unsigned char parts[SIZE];
    pwr_pattern_t pattern = pwr_pattern(0, 1, 300);
    pwr_pattern_fill(pattern, 0, whole, SIZE);
    for (size_t cut = 0; cut <= SIZE; cut++) {
        memset(parts, 0, sizeof parts);
        pwr_pattern_fill(pattern, 0, parts, cut);
        pwr_pattern_fill(pattern, cut, parts + cut, SIZE - cut);
        assert_memory_equal(parts, whole, SIZE);
    }
}

static void mismatch_is_counted_from_the_start(void **state)
{
    (void)state;
    unsigned char data[SIZE];
    pwr_pattern_t pattern = pwr_pattern(0, 1, 2);
    pwr_mismatch_t wrong;
    pwr_pattern_fill(pattern, 13, data, SIZE);
    data[20] ^= 1;
    assert_false(pwr_pattern_check(pattern, 13, data, SIZE, &wrong));
    assert_int_equal(wrong.position, 33);
}

static size_t equal_bytes(pwr_pattern_t one, pwr_pattern_t other)
{
    unsigned char a[SIZE];
    unsigned char b[SIZE];
    size_t equal = 0;
    pwr_pattern_fill(one, 0, a, SIZE);
    pwr_pattern_fill(other, 0, b, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        equal += a[i] == b[i];
    }
    return equal;
}

static void next_messages_differ_in_every_byte(void **state)
{
    (void)state;
    for (unsigned step = 1; step <= 255; step++) {
        assert_int_equal(equal_bytes(pwr_pattern(1, 2, 0), pwr_pattern(1, 2, step)), 0);
    }
}

/* Chance alone makes one byte in 256 equal: 8 of 67 would be a one in a million event. */
static void other_messages_are_unrelated(void **state)
{
    (void)state;
    for (int a = 0; a < 20; a++) {
        for (int b = 0; b < 20; b++) {
            if (a != b) {
                assert_true(equal_bytes(pwr_pattern(a, b, 0), pwr_pattern(b, a, 0)) < 8);
                assert_true(equal_bytes(pwr_pattern(a, 1, 0), pwr_pattern(b, 1, 0)) < 8);
                assert_true(equal_bytes(pwr_pattern(1, a, 0), pwr_pattern(1, b, 0)) < 8);
            }
        }
        assert_true(equal_bytes(pwr_pattern(1, 2, 0), pwr_pattern(1, 2, 256u << a)) < 8);
    }
}

static void wrong_fill_is_wrong_everywhere(void **state)
{
    (void)state;
    unsigned char data[SIZE];
    pwr_pattern_t pattern = pwr_pattern(4, 4, 1);
    pwr_mismatch_t wrong;
    pwr_pattern_fill_wrong(pattern, 5, data, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        assert_false(pwr_pattern_check(pattern, 5 + i, data + i, 1, &wrong));
    }
}

/* The rule itself, so that two versions of the code on two machines agree: the value for 0 is
   the first output of the published generator with seed 0. */
static void hash_is_splitmix64(void **state)
{
    (void)state;
    assert_true(pwr_pattern_hash(0) == UINT64_C(0xe220a8397b1dcdaf));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_bit_is_found),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(mismatch_is_counted_from_the_start),
        cmocka_unit_test(next_messages_differ_in_every_byte),
        cmocka_unit_test(other_messages_are_unrelated),
        cmocka_unit_test(wrong_fill_is_wrong_everywhere),
        cmocka_unit_test(hash_is_splitmix64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
