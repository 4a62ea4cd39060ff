/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Single copy from and to a child process, and what must be refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pwr_ompi/single_copy.h"

enum { PAGE = 4096, PAGES = 20 };

static bool copies_nothing;

/* In the place of libc's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long num_here,
                         const struct iovec *there, unsigned long num_there, unsigned long flags)
{
    return copies_nothing ? 0
                          : syscall(SYS_process_vm_readv, pid, here, num_here, there, num_there,
                                    flags);
}

typedef struct child {
    pid_t pid;
    unsigned char *memory; /* [PAGES * PAGE], private: the child's differs from ours */
    uint64_t word;
} child_t;

static int start_child(void **state)
{
    child_t *c = calloc(1, sizeof *c);
    int ready[2];
    char byte;
    assert_non_null(c);
    assert_int_equal(pipe(ready), 0);
    c->memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(MAP_FAILED != (void *)c->memory);
    c->pid = fork();
    if (0 == c->pid) {
        c->word = 0x1122334455667788u;
        for (size_t i = 0; i < (size_t)PAGES * PAGE; ++i) {
            c->memory[i] = (unsigned char)(i * 7);
        }
        munmap(c->memory + (PAGES - 1) * PAGE, PAGE);
        if (1 == write(ready[1], "x", 1)) {
            pause();
        }
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    *state = c;
    return 0;
}

static int end_child(void **state)
{
    child_t *c = *state;
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    munmap(c->memory, PAGES * PAGE);
    free(c);
    return 0;
}

static void skip_where_forbidden(const child_t *c)
{
    uint64_t word;
    int error = pwr_single_copy_read(c->pid, &word, (uintptr_t)&c->word, sizeof word);
    if (EPERM == error || ENOSYS == error) {
        print_message("the kernel forbids single copy from a child: %s\n", strerror(error));
        skip();
    }
    assert_int_equal(error, 0);
}

static void memory_is_read_and_written(void **state)
{
    child_t *c = *state;
    skip_where_forbidden(c);
    enum { BYTES = (PAGES - 2) * PAGE + 3 };
    unsigned char *got = malloc(BYTES);
    assert_non_null(got);
    assert_int_equal(pwr_single_copy_read(c->pid, got, (uintptr_t)c->memory + 5, BYTES), 0);
    for (size_t i = 0; i < BYTES; ++i) {
        assert_int_equal(got[i], (unsigned char)((i + 5) * 7));
    }
    memset(got, 0x5A, BYTES);
    assert_int_equal(pwr_single_copy_write(c->pid, (uintptr_t)c->memory + 5, got, BYTES), 0);
    unsigned char edge[3];
    assert_int_equal(pwr_single_copy_read(c->pid, edge, (uintptr_t)c->memory + 4, 3), 0);
    assert_int_equal(edge[0], 4 * 7);
    assert_int_equal(edge[1], 0x5A);
    assert_int_equal(edge[2], 0x5A);
    assert_int_equal(c->memory[5], 0); /* ours */
    free(got);
}

/* The kernel copies what is in front of the hole and says so: that is not everything. */
static void a_hole_is_an_error(void **state)
{
    child_t *c = *state;
    skip_where_forbidden(c);
    unsigned char got[2 * PAGE];
    uint64_t before_hole = (uintptr_t)c->memory + (PAGES - 2) * PAGE;
    assert_int_equal(pwr_single_copy_read(c->pid, got, before_hole, PAGE), 0);
    assert_int_equal(pwr_single_copy_read(c->pid, got, before_hole, sizeof got), EFAULT);
    assert_int_equal(pwr_single_copy_write(c->pid, before_hole, got, sizeof got), EFAULT);
}

static void the_probe_wants_the_right_process(void **state)
{
    child_t *c = *state;
    skip_where_forbidden(c);
    uint64_t there = (uintptr_t)&c->word;
    assert_int_equal(pwr_single_copy_probe(c->pid, there, 0x1122334455667788u), 0);
    assert_int_equal(pwr_single_copy_probe(c->pid, there, 0x1122334455667789u), EXDEV);
    assert_int_equal(pwr_single_copy_probe(getpid(), there, 0x1122334455667788u), EXDEV);
    assert_int_equal(pwr_single_copy_probe(c->pid, 16, 0), EFAULT);
    uint64_t word = 0;
    assert_int_equal(pwr_single_copy_read(c->pid, &word, there, sizeof word), 0);
    assert_int_equal(word, 0x1122334455667788u);
}

static void nobody_and_nothing(void **state)
{
    child_t *c = *state;
    uint64_t word;
    assert_int_equal(pwr_single_copy_read(c->pid, &word, 16, 0), 0);
    copies_nothing = true; /* and says so: no reason to try for ever */
    assert_int_equal(pwr_single_copy_read(c->pid, &word, 16, sizeof word), EFAULT);
    copies_nothing = false;
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    assert_int_not_equal(pwr_single_copy_read(c->pid, &word, (uintptr_t)&c->word, sizeof word), 0);
}

#define CHILD_TEST(test) cmocka_unit_test_setup_teardown(test, start_child, end_child)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHILD_TEST(memory_is_read_and_written),
        CHILD_TEST(a_hole_is_an_error),
        CHILD_TEST(the_probe_wants_the_right_process),
        CHILD_TEST(nobody_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
