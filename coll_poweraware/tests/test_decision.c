/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Decision tables: what is refused and in which words, and which row a call gets.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "choose/decision.h"

enum { BARRIER, BCAST, NUM };
enum { STOCK = COLL_POWERAWARE_DECISION_STOCK, BOX = 10, LEADER, CHAIN, TREE, FLAT };

static const char *const collectives[] = {"barrier", "bcast"};

static int algorithm(int collective, const char *name)
{
    static const struct {
        int collective, index;
        const char *name;
    } known[] = {{BARRIER, BOX, "box"},   {BCAST, BOX, "box"},   {BCAST, LEADER, "leader"},
                 {BCAST, CHAIN, "chain"}, {BCAST, TREE, "tree"}, {BCAST, FLAT, "flat"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].collective == collective && strcmp(known[i].name, name) == 0) {
            return known[i].index;
        }
    }
    return COLL_POWERAWARE_DECISION_UNKNOWN;
}

static const coll_poweraware_decision_words_t words = {collectives, NUM, algorithm};

#define TABLE(rows) "{\"format_version\": 1, \"source\": \"test\", \"rows\": [" rows "]}"
#define ROW(collective, nodes, ranks, bytes, algorithm)                                            \
    "{\"collective\": \"" collective "\", \"nodes\": " nodes ", \"ranks_per_node\": " ranks        \
    ", \"bytes\": " bytes ", \"algorithm\": \"" algorithm "\"}"
#define ANY "[1, null]"
#define TIMED_FROM(bytes, algorithm, time)                                                         \
    "{\"collective\": \"bcast\", \"nodes\": [1, null], \"ranks_per_node\": [1, null], \"bytes\": " \
    "[" bytes ", null], \"algorithm\": \"" algorithm "\", \"time\": " time "}"
#define TIMED(time) TIMED_FROM("0", "box", time)

static coll_poweraware_decision_t *parse(const char *text)
{
    char why[256] = "";
    coll_poweraware_decision_t *decision =
        coll_poweraware_decision_parse(text, &words, why, sizeof why);
    if (!decision) {
        fail_msg("refused: %s\n%s", why, text);
    }
    return decision;
}

static void refuses(const char *text, const char *reason)
{
    char why[256] = "";
    assert_null(coll_poweraware_decision_parse(text, &words, why, sizeof why));
    if (!strstr(why, reason)) {
        fail_msg("\"%s\" does not say \"%s\"", why, reason);
    }
}

static void wrong_tables_are_named(void **state)
{
    (void)state;
    refuses("{\n\"rows\": [,", "line 2:");
    refuses("[]", "not an object");
    refuses("{\"source\": \"\", \"rows\": []}", "\"format_version\" is not 1");
    refuses("{\"format_version\": 2, \"source\": \"\", \"rows\": []}", "is not 1");
    refuses("{\"format_version\": 1, \"rows\": []}", "\"source\" is missing");
    refuses("{\"format_version\": 1, \"source\": 3, \"rows\": []}", "\"source\" is not a text");
    refuses("{\"format_version\": 1, \"source\": \"\"}", "\"rows\" is not an array");
    refuses("{\"format_version\": 1, \"source\": \"\", \"rows\": [], \"raws\": 1}",
            "\"raws\" is not a key");
    refuses("{\"format_version\": 1, \"source\": \"\", \"rows\": [], \"rows\": []}", "duplicate");
    refuses(TABLE("7"), "row 1: not an object");
    const char *good = ROW("bcast", ANY, ANY, "[0, null]", "box");
    char table[1024];
    static const char *const bad[][2] = {
        {ROW("bcost", ANY, ANY, "[0, null]", "box"), "row 2: collective \"bcost\" is not known"},
        {ROW("bcast", ANY, ANY, "[0, null]", "bax"), "row 2: there is no algorithm \"bax\" of "
                                                     "bcast"},
        {ROW("barrier", ANY, ANY, "[0, null]", "leader"), "no algorithm \"leader\" of barrier"},
        {ROW("bcast", "[0, null]", ANY, "[0, null]", "box"), "\"nodes\" begins at 0, below 1"},
        {ROW("bcast", ANY, "[3, 2]", "[0, null]", "box"), "\"ranks_per_node\" ends below"},
        {ROW("bcast", ANY, ANY, "[-1, 3]", "box"), "\"bytes\" begins at -1, below 0"},
        {ROW("bcast", ANY, ANY, "[0, 1.5]", "box"), "\"bytes\" is not [FROM, TO]"},
        {ROW("bcast", ANY, ANY, "[0]", "box"), "\"bytes\" is not [FROM, TO]"},
        {ROW("bcast", ANY, ANY, "{}", "box"), "\"bytes\" is not [FROM, TO]"},
        {ROW("bcast", ANY, ANY, "[null, 3]", "box"), "\"bytes\" is not [FROM, TO]"},
        {TIMED("\"fast\""), "row 2: \"time\" is not a number above 0, at most 1000"},
        {TIMED("0"), "\"time\" is not a number"},
        {TIMED("-0.5"), "\"time\" is not a number"},
        {TIMED("1e-9"), "\"time\" is not a number"},
        {TIMED("1001"), "\"time\" is not a number"},
        {"{\"collective\": \"bcast\", \"algorithm\": \"box\"}", "row 2: \"nodes\" is missing"},
        {"{\"collective\": 7}", "row 2: \"collective\" is not a text"},
        {"{\"colective\": \"bcast\"}", "row 2: \"colective\" is not a key"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(table, sizeof table, TABLE("%s, %s"), good, bad[i][0]);
        refuses(table, bad[i][1]);
    }
}

/* The algorithms of a call, in one number: the first times 100 plus the second, and so on. */
static long chain(const coll_poweraware_choices_t *choices, int collective, uint64_t bytes)
{
    long number = 0;
    const int *next = coll_poweraware_choices_find(choices, collective, bytes)->algorithms;
    for (; *next != STOCK; next++) {
        number = 100 * number + *next;
    }
    return number;
}

static coll_poweraware_choices_t *compile(const char *text, int nodes, int ranks_per_node)
{
    coll_poweraware_decision_t *decision = parse(text);
    coll_poweraware_choices_t *choices =
        coll_poweraware_decision_compile(decision, nodes, ranks_per_node);
    assert_non_null(choices);
    coll_poweraware_decision_free(decision);
    return choices;
}

static void nothing_named_is_stock(void **state)
{
    (void)state;
    coll_poweraware_choices_t *choices = compile(TABLE(""), 4, 2);
    for (int c = 0; c < NUM; c++) {
        assert_int_equal(chain(choices, c, 0), 0);
        assert_int_equal(chain(choices, c, UINT64_MAX), 0);
        assert_true(coll_poweraware_choices_from(choices, c) == UINT64_MAX);
    }
    coll_poweraware_choices_free(choices);
}

static const char layouts[] = TABLE(ROW("bcast", "[1, 1]", ANY, "[0, 4096]", "box") "," ROW(
    "bcast", "[2, 4]", "[2, 8]", "[64, 4096]",
    "stock") "," ROW("bcast", "[2, null]", "[2, null]", "[0, 65536]",
                     "leader") "," ROW("barrier", "[2, 2]", ANY, "[0, null]", "box"));

static void a_row_holds_for_its_layout_and_size(void **state)
{
    (void)state;
    static const struct {
        int nodes, ranks;
        uint64_t bytes;
        long wanted;
    } cases[] = {
        {1, 1, 0, BOX},        {1, 64, 4096, BOX}, {1, 64, 4097, 0},      {2, 1, 100, 0},
        {2, 2, 63, LEADER},    {2, 2, 64, 0},      {4, 8, 4096, 0},       {4, 8, 4097, LEADER},
        {4, 9, 64, LEADER},    {5, 8, 64, LEADER}, {5, 8, 65536, LEADER}, {5, 8, 65537, 0},
        {5, 8, UINT64_MAX, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        coll_poweraware_choices_t *choices = compile(layouts, cases[i].nodes, cases[i].ranks);
        assert_int_equal(chain(choices, BCAST, cases[i].bytes), cases[i].wanted);
        assert_int_equal(chain(choices, BARRIER, 0), cases[i].nodes == 2 ? BOX : 0);
        coll_poweraware_choices_free(choices);
    }
}

static void any_layout_is_the_union(void **state)
{
    (void)state;
    coll_poweraware_choices_t *any = compile(layouts, 0, 0);
    assert_int_not_equal(chain(any, BCAST, 0), 0);
    assert_int_not_equal(chain(any, BCAST, 64), 0); /* stock on some layouts, ours on others */
    assert_int_not_equal(chain(any, BCAST, 65536), 0);
    assert_int_equal(chain(any, BCAST, 65537), 0);
    assert_int_not_equal(chain(any, BARRIER, 0), 0);
    assert_true(coll_poweraware_choices_from(any, BCAST) == 0);
    coll_poweraware_choices_free(any);
    any = compile(TABLE(ROW("bcast", "[3, 3]", ANY, "[512, null]", "tree")), 0, 0);
    assert_true(coll_poweraware_choices_from(any, BCAST) == 512);
    assert_int_equal(chain(any, BCAST, UINT64_MAX), TREE); /* unknown bytes */
    coll_poweraware_choices_free(any);
}

static void rows_are_tried_in_order_until_stock(void **state)
{
    (void)state;
#define AT(bytes, name) ROW("bcast", ANY, ANY, bytes, name)
    coll_poweraware_choices_t *choices =
        compile(TABLE(AT("[10, 99]", "box") "," AT("[0, 49]", "leader") "," AT(
                    "[20, 29]", "stock") "," AT("[0, null]", "box") "," AT("[0, null]", "tree")),
                1, 1);
    assert_int_equal(chain(choices, BCAST, 9), (LEADER * 100 + BOX) * 100 + TREE);
    assert_int_equal(chain(choices, BCAST, 10), (BOX * 100 + LEADER) * 100 + TREE);
    assert_int_equal(chain(choices, BCAST, 20), BOX * 100 + LEADER);
    assert_int_equal(chain(choices, BCAST, 30), (BOX * 100 + LEADER) * 100 + TREE);
    assert_int_equal(chain(choices, BCAST, 50), BOX * 100 + TREE);
    assert_int_equal(chain(choices, BCAST, 100), BOX * 100 + TREE);
    coll_poweraware_choices_free(choices);
    /* no more than four */
    choices = compile(TABLE(AT("[0, 9]", "box") "," AT("[0, 9]", "leader") "," AT(
                          "[0, 9]", "chain") "," AT("[0, 9]", "tree") "," AT("[0, 9]", "flat")),
                      1, 1);
    assert_int_equal(chain(choices, BCAST, 0), ((BOX * 100 + LEADER) * 100 + CHAIN) * 100 + TREE);
    coll_poweraware_choices_free(choices);
}

/* Where only times differ, too. */
static void times_are_of_algorithms(void **state)
{
    (void)state;
    coll_poweraware_choices_t *choices =
        compile(TABLE(ROW("bcast", ANY, ANY, "[0, 7]", "box") ", " TIMED_FROM(
                    "8", "box", "0.25") ", " TIMED_FROM("64", "leader", "1.5")),
                2, 2);
    const int64_t *few = coll_poweraware_choices_find(choices, BCAST, 7)->times_ppm;
    const int64_t *some = coll_poweraware_choices_find(choices, BCAST, 8)->times_ppm;
    const int64_t *many = coll_poweraware_choices_find(choices, BCAST, 64)->times_ppm;
    assert_true(few[0] == 0 && few[1] == COLL_POWERAWARE_DECISION_PPM);
    assert_true(some[0] == 250000 && some[1] == COLL_POWERAWARE_DECISION_PPM);
    assert_true(many[0] == 250000 && many[1] == 1500000);
    assert_int_equal(many[2], COLL_POWERAWARE_DECISION_PPM);
    coll_poweraware_choices_free(choices);
}

static uint64_t checksum(const char *text)
{
    coll_poweraware_decision_t *decision = parse(text);
    uint64_t sum = coll_poweraware_decision_checksum(decision);
    coll_poweraware_decision_free(decision);
    return sum;
}

static void checksum_is_of_the_rows(void **state)
{
    (void)state;
    uint64_t sum = checksum(TABLE(AT("[0, 9]", "box")));
    assert_true(sum == checksum("{\"source\": \"other\", \"format_version\": 1, \"rows\": [ \n" AT(
                           "[0,\n9]", "box") "]}"));
    assert_true(sum != checksum(TABLE("")));
    assert_true(sum != checksum(TABLE(AT("[0, 8]", "box"))));
    assert_true(sum != checksum(TABLE(AT("[0, 9]", "stock"))));
    assert_true(sum != checksum(TABLE(ROW("bcast", "[1, 2]", ANY, "[0, 9]", "box"))));
    assert_true(sum != checksum(TABLE(ROW("bcast", ANY, "[2, null]", "[0, 9]", "box"))));
    assert_true(sum != checksum(TABLE(ROW("barrier", ANY, ANY, "[0, 9]", "box"))));
    assert_true(checksum(TABLE(TIMED("0.5"))) != checksum(TABLE(TIMED("0.6"))));
}

/* Bytes changed at random: refused or read, never a crash (valgrind looks closer). */
static void damaged_tables(void **state)
{
    (void)state;
    char text[sizeof layouts];
    unsigned random = 1;
    for (int i = 0; i < 20000; i++) {
        memcpy(text, layouts, sizeof text);
        for (int flips = 1 + i % 3; flips > 0; flips--) {
            random = random * 1103515245u + 12345u;
            text[(random >> 8) % (sizeof text - 1)] = (char)(random >> 24);
        }
        char why[64];
        coll_poweraware_decision_t *decision =
            coll_poweraware_decision_parse(text, &words, why, sizeof why);
        if (decision) {
            coll_poweraware_choices_t *choices = coll_poweraware_decision_compile(decision, 3, 3);
            assert_non_null(choices);
            chain(choices, BCAST, random);
            coll_poweraware_choices_free(choices);
        }
        coll_poweraware_decision_free(decision);
    }
}

static void cannot_load(const char *path, const char *reason)
{
    char why[256] = "";
    assert_null(coll_poweraware_decision_load(path, &words, why, sizeof why));
    if (!strstr(why, reason)) {
        fail_msg("%s: \"%s\" does not say \"%s\"", path, why, reason);
    }
}

static void files(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_decision.XXXXXX";
    char path[64];
    char why[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/table", folder);
    cannot_load(path, "no such file");
    cannot_load(folder, "not a file");
    assert_int_equal(mkfifo(path, 0600), 0);
    cannot_load(path, "not a file");
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(layouts, file);
    fclose(file);
    coll_poweraware_decision_t *decision =
        coll_poweraware_decision_load(path, &words, why, sizeof why);
    assert_non_null(decision);
    assert_int_equal(decision->num_rows, 4);
    coll_poweraware_decision_free(decision);
    assert_int_equal(truncate(path, COLL_POWERAWARE_DECISION_FILE_MAX + 1), 0);
    cannot_load(path, "larger");
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_tables_are_named),
        cmocka_unit_test(nothing_named_is_stock),
        cmocka_unit_test(a_row_holds_for_its_layout_and_size),
        cmocka_unit_test(any_layout_is_the_union),
        cmocka_unit_test(rows_are_tried_in_order_until_stock),
        cmocka_unit_test(times_are_of_algorithms),
        cmocka_unit_test(checksum_is_of_the_rows),
        cmocka_unit_test(damaged_tables),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
