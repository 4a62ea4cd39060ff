/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Tests of guarded buffers: each byte of both zones is watched, no byte of the data is.
 */
#include "config.h"

#include "pwr_verify/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void watch_all_around(size_t capacity, size_t used)
{
    pwr_buffer_t buffer;
    ptrdiff_t offset;
    assert_true(pwr_buffer_open(&buffer, capacity));
    assert_int_equal((uintptr_t)buffer.data % PWR_BUFFER_GUARD, 0);
    memset(buffer.data, 0x5a, capacity);
    pwr_buffer_use(&buffer, used);
    assert_true(pwr_buffer_check(&buffer, &offset));
    for (ptrdiff_t at = -PWR_BUFFER_GUARD; at < (ptrdiff_t)used + PWR_BUFFER_GUARD; at++) {
        bool data = at >= 0 && at < (ptrdiff_t)used;
        buffer.data[at] ^= 0x80;
        assert_int_equal(pwr_buffer_check(&buffer, &offset), data);
        if (!data) {
            assert_int_equal(offset, at);
        }
        buffer.data[at] ^= 0x80;
    }
    assert_true(pwr_buffer_check(&buffer, &offset));
    pwr_buffer_release(&buffer);
    assert_null(buffer.data);
    pwr_buffer_release(&buffer);
}

static void zones_are_watched(void **state)
{
    (void)state;
    watch_all_around(100, 100);
    watch_all_around(100, 37);
    watch_all_around(100, 0);
    watch_all_around(0, 0);
}

static void data_starts_as_zero(void **state)
{
    (void)state;
    pwr_buffer_t buffer;
    assert_true(pwr_buffer_open(&buffer, 3));
    assert_memory_equal(buffer.data, "\0\0\0", 3);
    pwr_buffer_release(&buffer);
}

static void too_large_is_refused(void **state)
{
    (void)state;
    pwr_buffer_t buffer;
    assert_false(pwr_buffer_open(&buffer, SIZE_MAX));
    pwr_buffer_release(&buffer);
    assert_false(pwr_buffer_open(&buffer, SIZE_MAX / 2));
    pwr_buffer_release(&buffer);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_are_watched),
        cmocka_unit_test(data_starts_as_zero),
        cmocka_unit_test(too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
