/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which rows follow from which measurements, and the table that is made of them.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decide.h"

static const tune_rules_t rules = {.margin = 0.03, .saving = 0.20};

enum { BLOCKS = 8 };

/* A variant that takes us in every block, and cpu_us of CPU time. */
static json_t *variant(const char *name, double us, double cpu_us)
{
    json_t *times = json_array();
    json_t *cpus = json_array();
    for (int i = 0; i < BLOCKS; i++) {
        json_array_append_new(times, json_real(us));
        json_array_append_new(cpus, json_real(cpu_us));
    }
    return json_pack("{s:s, s:b, s:o, s:o}", "name", name, "wrong", 0, "us", times, "cpu_us", cpus);
}

/* stock takes 100 us; leader and box so many. */
static json_t *point(const char *collective, int nodes, int ranks, int bytes, double leader,
                     double box)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:[o, o, o]}", "collective", collective, "nodes", nodes,
                     "ranks_per_node", ranks, "bytes", bytes, "variants",
                     variant("stock", 100, 200), variant("leader", leader, 200),
                     variant("box", box, 200));
}

static json_t *document(void)
{
    return json_pack("{s:s, s:[]}", "command", "test", "points");
}

static void add(json_t *document, json_t *point)
{
    json_array_append_new(json_object_get(document, "points"), point);
}

/* Rows as "collective nodes ranks bytes algorithm; ...". */
static void decides(json_t *documents[], int num_documents, const char *wanted)
{
    char why[128] = "";
    char text[2048] = "";
    size_t num;
    tune_row_t *rows = tune_decide(documents, num_documents, &rules, &num, why, sizeof why);
    if (!rows) {
        fail_msg("%s", why);
    }
    for (size_t i = 0; i < num; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %d..%d %d..%d %d..%d %s", i > 0 ? "; " : "",
                 rows[i].collective, (int)rows[i].nodes[0], (int)rows[i].nodes[1],
                 (int)rows[i].ranks_per_node[0], (int)rows[i].ranks_per_node[1],
                 (int)rows[i].bytes[0], (int)rows[i].bytes[1],
                 rows[i].algorithm); /* no limit reads -1 */
    }
    free(rows);
    for (int i = 0; i < num_documents; i++) {
        json_decref(documents[i]);
    }
    assert_string_equal(text, wanted);
}

static void the_margin_keeps_stock(void **state)
{
    (void)state;
    json_t *d = document();
    add(d, point("bcast", 1, 2, 8, 97.5, 100)); /* not enough */
    decides(&d, 1, "");
    d = document();
    add(d, point("bcast", 1, 2, 8, 96.5, 100));
    decides(&d, 1, "bcast 1..1 2..-1 0..-1 leader");
}

static void the_fastest_comes_first(void **state)
{
    (void)state;
    json_t *d = document();
    add(d, point("bcast", 1, 2, 8, 60, 50));
    add(d, point("bcast", 1, 2, 32, 50, 60));
    decides(&d, 1,
            "bcast 1..1 2..-1 0..15 box; bcast 1..1 2..-1 0..15 leader; "
            "bcast 1..1 2..-1 16..-1 leader; bcast 1..1 2..-1 16..-1 box");
}

static void sizes_go_to_the_middle(void **state)
{
    (void)state;
    json_t *d = document();
    add(d, point("bcast", 1, 2, 64, 150, 50));
    add(d, point("bcast", 1, 2, 8, 150, 50)); /* any order */
    add(d, point("bcast", 1, 2, 4096, 150, 150));
    add(d, point("bcast", 1, 2, 1 << 20, 50, 150));
    decides(&d, 1, "bcast 1..1 2..-1 0..511 box; bcast 1..1 2..-1 65536..-1 leader");
}

static void layouts_go_to_the_middle_and_one_node_is_apart(void **state)
{
    (void)state;
    json_t *d = document();
    add(d, point("bcast", 1, 2, 8, 50, 150));
    add(d, point("bcast", 1, 8, 8, 150, 50));
    add(d, point("bcast", 2, 2, 8, 50, 150));
    add(d, point("bcast", 8, 2, 8, 150, 150));
    decides(&d, 1,
            "bcast 1..1 2..3 0..-1 leader; bcast 1..1 4..-1 0..-1 box; "
            "bcast 2..3 2..-1 0..-1 leader");
}

static void nothing_is_said_below_what_was_measured(void **state)
{
    (void)state;
    json_t *d = document();
    add(d, point("bcast", 4, 4, 8, 50, 150));
    decides(&d, 1, "bcast 4..-1 4..-1 0..-1 leader");
}

static void saving_counts_within_the_margin(void **state)
{
    (void)state;
    static const struct {
        double us, cpu_us;
        bool pays;
    } cases[] = {{102, 100, true}, {104, 100, false}, {102, 190, false}, {99, 155, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *d = document();
        add(d, json_pack("{s:s, s:i, s:i, s:i, s:[o, o]}", "collective", "bcast", "nodes", 1,
                         "ranks_per_node", 2, "bytes", 8, "variants", variant("stock", 100, 200),
                         variant("leader", cases[i].us, cases[i].cpu_us)));
        decides(&d, 1, cases[i].pays ? "bcast 1..1 2..-1 0..-1 leader" : "");
    }
}

/* Faster on average, but slower in three blocks of eight. */
static void noise_keeps_stock(void **state)
{
    (void)state;
    for (int slower = 2; slower <= 3; slower++) {
        json_t *p = point("bcast", 1, 2, 8, 60, 150);
        json_t *us = json_object_get(json_array_get(json_object_get(p, "variants"), 1), "us");
        for (int i = 0; i < slower; i++) {
            json_array_set_new(us, (size_t)i, json_real(140));
        }
        json_t *d = document();
        add(d, p);
        decides(&d, 1, slower == 2 ? "bcast 1..1 2..-1 0..-1 leader" : "");
    }
}

/* Ranks that share a cache one day, and not the next. */
static void one_bad_day_keeps_stock(void **state)
{
    (void)state;
    static const double days[] = {104, 107};
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        json_t *d[] = {document(), document(), document(), document()};
        for (int day = 0; day < 4; day++) {
            add(d[day], point("bcast", 1, 2, 8, 3 == day ? days[i] : 40, 150));
        }
        decides(d, 4, 0 == i ? "bcast 1..1 2..-1 0..-1 leader" : "");
    }
}

static void one_answer_where_bytes_are_unknown(void **state)
{
    (void)state;
    json_t *d = document();
    add(d, point("alltoallv", 2, 2, 32, 50, 50));
    add(d, point("alltoallv", 2, 2, 4096, 104, 110)); /* box is too bad here */
    decides(&d, 1, "alltoallv 2..-1 2..-1 0..-1 leader");
    d = document(); /* leader could not do one of the sizes */
    add(d, point("alltoallw", 2, 2, 32, 50, 50));
    json_t *p = point("alltoallw", 2, 2, 4096, 50, 50);
    json_array_remove(json_object_get(p, "variants"), 1);
    add(d, p);
    decides(&d, 1, "alltoallw 2..-1 2..-1 0..-1 box");
}

static void documents_are_pooled(void **state)
{
    (void)state;
    json_t *both[2] = {document(), document()};
    add(both[0], point("bcast", 1, 2, 8, 80, 50)); /* box: 0.5 and 2 */
    add(both[1], point("bcast", 1, 2, 8, 90, 200));
    decides(both, 2, "bcast 1..1 2..-1 0..-1 leader");
}

static void other_components_and_wrong_data_are_no_candidates(void **state)
{
    (void)state;
    json_t *wrong = variant("leader", 10, 10);
    json_t *declined =
        json_pack("{s:s, s:b, s:[], s:[]}", "name", "box", "wrong", 0, "us", "cpu_us");
    json_object_set_new(wrong, "wrong", json_true());
    json_t *d = document();
    add(d, json_pack("{s:s, s:i, s:i, s:i, s:[o, o, o, o, o]}", "collective", "bcast", "nodes", 1,
                     "ranks_per_node", 2, "bytes", 8, "variants", variant("stock", 100, 200),
                     variant("tuned", 10, 10), variant("auto", 10, 10), wrong, declined));
    decides(&d, 1, "");
}

static void what_is_no_point_is_named(void **state)
{
    (void)state;
    char why[128] = "";
    size_t num;
    json_t *d = document();
    add(d, point("bcast", 1, 2, 8, 50, 50));
    add(d, json_pack("{s:s}", "collective", "bcast"));
    assert_null(tune_decide(&d, 1, &rules, &num, why, sizeof why));
    assert_string_equal(why, "document 1: point 2 is not one");
    json_decref(d);
}

static void the_table_has_a_line_per_row(void **state)
{
    (void)state;
    static const tune_row_t rows[] = {
        {"bcast", "box", {1, 1}, {2, UINT64_MAX}, {0, 63}, {0.5, 0.75}},
        {"barrier", "box", {2, UINT64_MAX}, {1, 4}, {0, UINT64_MAX}, {0.9, 0.9}},
    };
    char *table = tune_table(rows, 2, "say \"x\"");
    assert_string_equal(
        table,
        "{\n  \"format_version\": 1,\n  \"source\": \"say \\\"x\\\"\",\n  \"rows\": [\n"
        "    {\"collective\": \"bcast\", \"nodes\": [1, 1], \"ranks_per_node\": [2, null], "
        "\"bytes\": [0, 63], \"algorithm\": \"box\", \"comment\": \"time 0.50 to 0.75 of "
        "stock's\"},\n"
        "    {\"collective\": \"barrier\", \"nodes\": [2, null], \"ranks_per_node\": [1, 4], "
        "\"bytes\": [0, null], \"algorithm\": \"box\", \"comment\": \"time 0.90 to 0.90 of "
        "stock's\"}\n  ]\n}\n");
    free(table);
    table = tune_table(NULL, 0, "");
    assert_string_equal(table,
                        "{\n  \"format_version\": 1,\n  \"source\": \"\",\n  \"rows\": []\n}\n");
    free(table);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_margin_keeps_stock),
        cmocka_unit_test(the_fastest_comes_first),
        cmocka_unit_test(sizes_go_to_the_middle),
        cmocka_unit_test(layouts_go_to_the_middle_and_one_node_is_apart),
        cmocka_unit_test(nothing_is_said_below_what_was_measured),
        cmocka_unit_test(saving_counts_within_the_margin),
        cmocka_unit_test(noise_keeps_stock),
        cmocka_unit_test(one_bad_day_keeps_stock),
        cmocka_unit_test(one_answer_where_bytes_are_unknown),
        cmocka_unit_test(documents_are_pooled),
        cmocka_unit_test(other_components_and_wrong_data_are_no_candidates),
        cmocka_unit_test(what_is_no_point_is_named),
        cmocka_unit_test(the_table_has_a_line_per_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
