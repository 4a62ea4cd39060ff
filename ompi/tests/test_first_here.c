/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who is first: of threads at once, of processes, and after the first one has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above it. */
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pwr_ompi/first_here.h"

static char what[80];

static const char *word(const char *test)
{
    static int number;
    snprintf(what, sizeof what, "test_first_here.%ld.%s.%d", (long)getpid(), test, ++number);
    return what;
}

static int forget(void **state)
{
    (void)state;
    pwr_first_here_forget();
    return 0;
}

static void test_one_is_first(void **state)
{
    (void)state;
    char other[100];
    word("one");
    snprintf(other, sizeof other, "%s-", what);
    assert_true(pwr_first_here(what));
    assert_false(pwr_first_here(what));
    assert_true(pwr_first_here(other));
    pwr_first_here_forget();
    assert_true(pwr_first_here(what));
}

static void *ask(void *arg)
{
    return pwr_first_here(arg) ? arg : NULL;
}

static void test_one_of_many_at_once(void **state)
{
    (void)state;
    enum { MANY = 8 };
    for (int repetition = 0; repetition < 100; ++repetition) {
        pthread_t threads[MANY];
        int firsts = 0;
        word("many");
        for (int i = 0; i < MANY; ++i) {
            assert_int_equal(pthread_create(&threads[i], NULL, ask, what), 0);
        }
        for (int i = 0; i < MANY; ++i) {
            void *first;
            assert_int_equal(pthread_join(threads[i], &first), 0);
            firsts += NULL != first;
        }
        assert_int_equal(firsts, 1);
        pwr_first_here_forget();
    }
}

static void test_a_killed_process_is_first_no_more(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    word("killed");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (0 == child) {
        byte = pwr_first_here(what) ? 'y' : 'n';
        if (1 == write(ready[1], &byte, 1)) {
            pause();
        }
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_false(pwr_first_here(what));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(pwr_first_here(what));
    close(ready[0]);
    close(ready[1]);
}

static void test_better_twice_than_never(void **state)
{
    (void)state;
    struct rlimit old, none;
    enum { MORE_THAN_KEPT = 40 };
    for (int i = 0; i < MORE_THAN_KEPT; ++i) {
        assert_true(pwr_first_here(word("kept")));
    }
    word("no file descriptors");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool first = pwr_first_here(what), again = pwr_first_here(what);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_true(first && again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_one_is_first, forget),
        cmocka_unit_test_teardown(test_one_of_many_at_once, forget),
        cmocka_unit_test_teardown(test_a_killed_process_is_first_no_more, forget),
        cmocka_unit_test_teardown(test_better_twice_than_never, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
