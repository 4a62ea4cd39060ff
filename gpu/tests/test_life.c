/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The word says that a process has died, and nothing while it lives or after it has ended that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"
#include "poweraware_device.h"

static struct shared {
    pthread_mutex_t mutex;
    _Atomic int holds;
} * shared;

static int died(void)
{
    return 0 !=
           (__atomic_load_n(pwr_gpu_life_word(&shared->mutex), __ATOMIC_ACQUIRE) & POWERAWARE_DIED);
}

static int make_shared(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return MAP_FAILED == shared ? -1 : 0;
}

static int drop_shared(void **state)
{
    (void)state;
    return munmap(shared, sizeof *shared);
}

static void test_killed(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    if (0 == child) {
        shared->holds = NULL != pwr_gpu_life_begin(&shared->mutex) ? 1 : -1;
        for (;;) {
            pause();
        }
    }
    while (0 == shared->holds) {
        usleep(100);
    }
    assert_int_equal(shared->holds, 1);
    assert_false(died());
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(died());
}

static void test_ended(void **state)
{
    (void)state;
    pwr_gpu_life_t *life = pwr_gpu_life_begin(&shared->mutex);
    assert_non_null(life);
    assert_int_not_equal(*pwr_gpu_life_word(&shared->mutex), 0);
    assert_false(died());
    pwr_gpu_life_end(life);
    assert_int_equal(*pwr_gpu_life_word(&shared->mutex), 0);
    pwr_gpu_life_end(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed, make_shared, drop_shared),
        cmocka_unit_test_setup_teardown(test_ended, make_shared, drop_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
