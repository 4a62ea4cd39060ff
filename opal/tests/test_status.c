/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Words for results, and results for errno.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <string.h>

static void test_every_status_has_its_own_words(void **state)
{
    (void)state;
    for (int left = PWR_OK; left <= PWR_ERR_TIMEOUT; left++) {
        assert_string_not_equal(pwr_status_text((pwr_status_t)left), "unknown status");
        for (int right = PWR_OK; right < left; right++) {
            assert_string_not_equal(pwr_status_text((pwr_status_t)left),
                                    pwr_status_text((pwr_status_t)right));
        }
    }
}

static void test_impossible_status_has_words_too(void **state)
{
    (void)state;
    assert_string_equal(pwr_status_text((pwr_status_t)77), "unknown status");
}

static void test_errno_becomes_status(void **state)
{
    static const struct {
        int err;
        pwr_status_t status;
    } cases[] = {
        {0, PWR_OK},
        {ENOMEM, PWR_ERR_NOMEM},
        {EACCES, PWR_ERR_PERM},
        {EPERM, PWR_ERR_PERM},
        {EROFS, PWR_ERR_PERM},
        {ENOENT, PWR_ERR_UNSUPPORTED},
        {ENXIO, PWR_ERR_UNSUPPORTED},
        {EINVAL, PWR_ERR_RANGE},
        {ETIMEDOUT, PWR_ERR_TIMEOUT},
        {EIO, PWR_ERR_IO},
        {ENOSPC, PWR_ERR_IO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pwr_status_from_errno(cases[i].err), cases[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_its_own_words),
        cmocka_unit_test(test_impossible_status_has_words_too),
        cmocka_unit_test(test_errno_becomes_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
