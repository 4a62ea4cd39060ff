/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Records: line by line, and what a full disk does to them.
 */
#include "config.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "records.h"
#include "support.h"

static char *content(const char *path)
{
    static char text[4096];
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

static void test_lines(void **state)
{
    (void)state;
    struct emu_csv trace;
    assert_int_equal(emu_csv_open(&trace, ".", "trace.csv", "cpu,control"), 0);
    emu_csv_line(&trace, "%d,%s", 3, "msr:0x19a");
    emu_csv_line(&trace, "%d,%s", 0, "scaling_max_freq");
    /* no close yet: a line is in the file when the call returns */
    assert_string_equal(content("trace.csv"), "cpu,control\n3,msr:0x19a\n0,scaling_max_freq\n");
    emu_csv_close(&trace);
    unlink("trace.csv");
}

static void test_full_disk(void **state)
{
    (void)state;
    struct emu_csv csv;
    if (access("/dev/full", W_OK) != 0) {
        print_message("no /dev/full here\n");
        skip();
    }
    assert_int_equal(emu_csv_open(&csv, "/dev", "full", "header"), 0);
    emu_csv_line(&csv, "one");
    emu_csv_line(&csv, "two");
    assert_int_equal(csv.lost, 3);
    emu_csv_close(&csv);
}

/* The disk takes half a line, then there is room again: the next line starts on its own. */
static void test_torn_line(void **state)
{
    (void)state;
    struct emu_csv csv;
    struct rlimit before, tight;
    assert_int_equal(emu_csv_open(&csv, ".", "torn.csv", "h"), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = 5;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    emu_csv_line(&csv, "abcdefgh");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    emu_csv_line(&csv, "next");
    assert_string_equal(content("torn.csv"), "h\nabc\nnext\n");
    assert_int_equal(csv.lost, 1);
    emu_csv_close(&csv);
    unlink("torn.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_torn_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
