/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * calibration.json: what is written is read, and everything else is refused by name.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "pwr/policy.h"

/* The document of which every case below breaks one thing. */
static const char good[] =
    "{\"format_version\": 1, \"tool\": \"t\", \"date\": \"2026-01-31T12:00:00Z\", \"host\": \"h\", "
    "\"kernel\": \"6.1\", \"meter\": null, "
    "\"cpu\": {\"vendor\": \"GenuineIntel\", \"family\": 6, \"model\": 85, \"name\": \"Xeon\"}, "
    "\"rows\": [{\"kind\": \"rung\", \"name\": \"futex\", \"entry_ns\": 1, \"exit_ns\": 2, "
    "\"entry_spread_ns\": 3, \"exit_spread_ns\": 4, \"power_w\": null, \"source\": \"measured\", "
    "\"samples\": 5}, "
    "{\"kind\": \"lever\", \"name\": \"pstate\", \"entry_ns\": 6, \"exit_ns\": 7, "
    "\"entry_spread_ns\": 8, \"exit_spread_ns\": 9, \"entry_settle_ns\": null, "
    "\"exit_settle_ns\": 10, \"power_w\": 11.5, \"source\": \"builtin\", \"citation\": \"c\"}]}";

static void test_reads_the_good_document(void **state)
{
    char why[100];
    pwr_policy_table_t table;
    (void)state;
    assert_int_equal(pwr_policy_parse(good, strlen(good), why, sizeof why, &table), PWR_OK);
    assert_string_equal(why, "");
    assert_string_equal(table.tool, "t");
    assert_string_equal(table.date, "2026-01-31T12:00:00Z");
    assert_string_equal(table.host, "h");
    assert_string_equal(table.kernel, "6.1");
    assert_string_equal(table.meter, "");
    assert_string_equal(table.cpu.vendor, "GenuineIntel");
    assert_string_equal(table.cpu.name, "Xeon");
    assert_int_equal(table.cpu.family, 6);
    assert_int_equal(table.cpu.model, 85);
    const pwr_policy_row_t *row = &table.rows[PWR_POLICY_FUTEX];
    assert_int_equal(row->origin, PWR_POLICY_MEASURED);
    assert_int_equal(row->entry_ns, 1);
    assert_int_equal(row->exit_ns, 2);
    assert_int_equal(row->entry_spread_ns, 3);
    assert_int_equal(row->exit_spread_ns, 4);
    assert_int_equal(row->samples, 5);
    assert_int_equal(row->entry_settle_ns, 0);
    assert_true(row->power_w < 0.0);
    row = &table.rows[PWR_POLICY_LEVER(PWR_LEVER_PSTATE)];
    assert_int_equal(row->origin, PWR_POLICY_BUILTIN);
    assert_true(row->entry_settle_ns == PWR_POLICY_NS_UNKNOWN);
    assert_int_equal(row->exit_settle_ns, 10);
    assert_true(row->power_w == 11.5);
    assert_string_equal(row->citation, "c");
    assert_int_equal(table.rows[PWR_POLICY_EPOLL].origin, PWR_POLICY_ABSENT);
}

/* good with the first (or, behind "second row", the last) appearance of a text replaced. */
typedef struct refusal {
    const char *text, *replacement;
    pwr_status_t status;
    const char *message; /* what why must contain: key, value, rule */
} refusal_t;

static const refusal_t refusals[] = {
    {"{\"format_version\"", "[\"format_version\"", PWR_ERR_PARSE, "line 1"},
    {"\"format_version\": 1", "\"format_version\": 2", PWR_ERR_PARSE, "format_version is 2: "},
    {"\"format_version\": 1", "\"format_version\": \"1\"", PWR_ERR_PARSE,
     "format_version is \"1\""},
    {"\"format_version\": 1, ", "", PWR_ERR_PARSE, "format_version: missing"},
    {"\"tool\": \"t\"", "\"tool\": 7", PWR_ERR_PARSE, "tool is 7: not a text"},
    {"\"tool\": \"t\"", "\"tool\": \"\"", PWR_ERR_PARSE, "tool is \"\": not a text"},
    {"\"tool\": \"t\", ", "", PWR_ERR_PARSE, "tool: missing"},
    {"\"tool\": \"t\"", "\"tool\": \"t\", \"tool\": \"t\"", PWR_ERR_PARSE, "duplicate"},
    {"\"tool\": \"t\"", "\"tool\": \"t\\u0000\"", PWR_ERR_PARSE, "line 1"},
    {"2026-01-31T12:00:00Z", "yesterday, or the day before", PWR_ERR_RANGE, "date is \"yesterday"},
    {"2026-01-31T12:00:00Z", "2026-01-31 12:00:00", PWR_ERR_PARSE,
     "date is \"2026-01-31 12:00:00\""},
    {"\"meter\": null", "\"meter\": false", PWR_ERR_PARSE, "meter is false: not a text"},
    {"\"kernel\": \"6.1\"", "\"kernel\": null", PWR_ERR_PARSE, "kernel is null: not a text"},
    {"\"kernel\"", "\"hint\": {\"a\": []}, \"kernel\"", PWR_ERR_PARSE,
     "hint is {\"a\":[]}: unknown key"},
    {"GenuineIntel", "AVendorWithLongName", PWR_ERR_RANGE, "cpu.vendor is \"AVendor"},
    {"\"family\": 6", "\"family\": 6.0", PWR_ERR_PARSE, "cpu.family is 6.0: not a whole number"},
    {"\"family\": 6", "\"family\": 65536", PWR_ERR_RANGE, "cpu.family is 65536: more than"},
    {"\"family\": 6", "\"stepping\": 6", PWR_ERR_PARSE, "cpu.family: missing"},
    {"\"family\": 6", "\"family\": 6, \"cores\": 4", PWR_ERR_PARSE, "cpu.cores is 4: unknown key"},
    {"\"cpu\": {\"vendor\": \"GenuineIntel\", \"family\": 6, \"model\": 85, \"name\": \"Xeon\"}",
     "\"cpu\": []", PWR_ERR_PARSE, "cpu is []: not an object"},
    {"{\"kind\": \"rung\"", "null, {\"kind\": \"rung\"", PWR_ERR_PARSE, "rows[0]: not an object"},
    {"\"futex\"", "\"umwait\"", PWR_ERR_PARSE, "rows[0].name is \"umwait\": no rung or lever"},
    {"\"futex\"", "\"tstate\"", PWR_ERR_PARSE, "rows[0].kind is \"rung\": does not go"},
    {"\"kind\": \"rung\", \"name\": \"futex\"",
     "\"kind\": \"lever\", \"name\": \"pstate\", "
     "\"entry_settle_ns\": 1, \"exit_settle_ns\": 1",
     PWR_ERR_PARSE, "rows[1].name is \"pstate\": there twice"},
    {"\"entry_ns\": 1", "\"entry_ns\": -1", PWR_ERR_RANGE, "rows[0].entry_ns is -1: negative"},
    {"\"entry_ns\": 1", "\"entry_ns\": 10000000001", PWR_ERR_RANGE,
     "rows[0].entry_ns is 10000000001: more than"},
    {"\"entry_ns\": 1", "\"entry_ns\": 1.5", PWR_ERR_PARSE, "rows[0].entry_ns is 1.5: not a whole"},
    {"\"entry_ns\": 1", "\"entry_ns\": null", PWR_ERR_PARSE, "rows[0].entry_ns is null: not a"},
    {"\"entry_ns\": 1", "\"entry_ns\": \"1\"", PWR_ERR_PARSE, "rows[0].entry_ns is \"1\": not a"},
    {"\"entry_ns\": 1", "\"entry_ns\": NaN", PWR_ERR_PARSE, "line 1"},
    {"\"entry_ns\": 1", "\"entry_ns\": 99999999999999999999", PWR_ERR_PARSE, "line 1"},
    {"\"exit_spread_ns\": 4, ", "", PWR_ERR_PARSE, "rows[0].exit_spread_ns: missing"},
    {"\"exit_spread_ns\": 4", "\"exit_spread_ns\": 4, \"exit_settle_ns\": 4", PWR_ERR_PARSE,
     "rows[0].exit_settle_ns is 4: unknown key"},
    {"\"samples\": 5", "\"samples\": -5", PWR_ERR_RANGE, "rows[0].samples is -5: negative"},
    {"\"samples\": 5", "\"citation\": \"x\"", PWR_ERR_PARSE, "rows[0].samples: missing"},
    {"\"samples\": 5", "\"samples\": 5, \"citation\": \"x\"", PWR_ERR_PARSE,
     "rows[0].citation is \"x\": unknown key"},
    {"\"measured\"", "\"guessed\"", PWR_ERR_PARSE, "rows[0].source is \"guessed\": neither"},
    {"\"exit_settle_ns\": 10", "\"exit_settle_ns\": -10", PWR_ERR_RANGE,
     "rows[1].exit_settle_ns is -10: negative"},
    {"\"entry_settle_ns\": null, ", "", PWR_ERR_PARSE, "rows[1].entry_settle_ns: missing"},
    {"11.5", "-0.5", PWR_ERR_RANGE, "rows[1].power_w is -0.5: negative"},
    {"11.5", "1e6", PWR_ERR_RANGE, "rows[1].power_w is 1000000.0: more than"},
    {"11.5", "1e999", PWR_ERR_PARSE, "line 1"},
    {"11.5", "\"much\"", PWR_ERR_PARSE, "rows[1].power_w is \"much\": not a number"},
    {"\"citation\": \"c\"", "\"citation\": null", PWR_ERR_PARSE, "rows[1].citation is null"},
    {"\"c\"}]}", "\"c\"}]} x", PWR_ERR_PARSE, "line 1"},
    {"\"rows\": [", "\"rows\": 3, \"more\": [", PWR_ERR_PARSE, "rows is 3: not an array"},
};

static void replace(char *document, size_t size, const refusal_t *refusal)
{
    const char *at = strstr(good, refusal->text);
    assert_non_null(at);
    snprintf(document, size, "%.*s%s%s", (int)(at - good), good, refusal->replacement,
             at + strlen(refusal->text));
}

static void test_refuses_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char document[2048];
        char why[200];
        pwr_policy_table_t table;
        memset(&table, 0x5a, sizeof table);
        replace(document, sizeof document, &refusals[i]);
        pwr_status_t status = pwr_policy_parse(document, strlen(document), why, sizeof why, &table);
        if (status != refusals[i].status || !strstr(why, refusals[i].message)) {
            fail_msg("%s: status %s, \"%s\" is not in \"%s\"", refusals[i].replacement,
                     pwr_status_text(status), refusals[i].message, why);
        }
        assert_int_equal(table.rows[0].samples, 0x5a5a5a5a); /* output only on success */
    }
}

static void test_refuses_every_truncation(void **state)
{
    (void)state;
    for (size_t size = 0; size < strlen(good); size++) {
        char why[200];
        pwr_policy_table_t table;
        char *exact = malloc(size + 1); /* so that a look beyond the end is found */
        assert_non_null(exact);
        memcpy(exact, good, size);
        assert_int_equal(pwr_policy_parse(exact, size, why, sizeof why, &table), PWR_ERR_PARSE);
        free(exact);
    }
}

static void test_long_values_are_cut_in_messages(void **state)
{
    (void)state;
    char document[2048];
    char why[400];
    char small[8];
    pwr_policy_table_t table;
    char word[301] = "";
    memset(word, 'w', 300);
    refusal_t refusal = {.text = "futex", .replacement = word};
    replace(document, sizeof document, &refusal);
    assert_int_equal(pwr_policy_parse(document, strlen(document), why, sizeof why, &table),
                     PWR_ERR_PARSE);
    assert_true(strlen(why) < 150);
    assert_non_null(strstr(why, "www...: no rung"));
    assert_int_equal(pwr_policy_parse(document, strlen(document), small, sizeof small, &table),
                     PWR_ERR_PARSE);
    assert_string_equal(small, "rows[0]");
    assert_int_equal(pwr_policy_parse(document, strlen(document), NULL, 0, &table), PWR_ERR_PARSE);
}

static void test_round_trip(void **state)
{
    (void)state;
    pwr_policy_table_t table = {.tool = "poweraware-calibrate \"9\"",
                                .date = "2026-01-31T12:00:00Z",
                                .host = "n0",
                                .kernel = "6.1",
                                .meter = "powercap",
                                .cpu = {.vendor = "AuthenticAMD", .family = 25, .model = 17}};
    for (unsigned id = 0; id < PWR_POLICY_NUM_ROWS; id++) {
        bool is_lever = pwr_policy_row_is_lever((pwr_policy_row_id_t)id);
        table.rows[id] = (pwr_policy_row_t){.origin = PWR_POLICY_MEASURED,
                                            .samples = 10 + id,
                                            .entry_ns = 1000 * id,
                                            .exit_ns = PWR_POLICY_NS_MAX - id,
                                            .entry_spread_ns = 7 * id,
                                            .exit_spread_ns = 9 * id,
                                            .entry_settle_ns = is_lever ? 33 : 0,
                                            .exit_settle_ns = is_lever ? PWR_POLICY_NS_UNKNOWN : 0,
                                            .power_w = 0.25 * id};
    }
    table.rows[PWR_POLICY_YIELD].origin = PWR_POLICY_BUILTIN;
    table.rows[PWR_POLICY_YIELD].samples = 0;
    table.rows[PWR_POLICY_YIELD].power_w = PWR_POLICY_W_UNKNOWN;
    snprintf(table.rows[PWR_POLICY_YIELD].citation, sizeof table.rows[0].citation, "a \\ source");
    memset(&table.rows[PWR_POLICY_SPIN], 0, sizeof table.rows[0]);
    char *text;
    char why[200];
    pwr_policy_table_t read;
    memset(&read, 0, sizeof read); /* padding is compared too */
    assert_int_equal(pwr_policy_format(&table, &text), PWR_OK);
    assert_int_equal(text[strlen(text) - 1], '\n');
    assert_int_equal(pwr_policy_parse(text, strlen(text), why, sizeof why, &read), PWR_OK);
    free(text);
    assert_memory_equal(&read, &table, sizeof table);
}

static void test_does_not_write_what_is_not_utf8(void **state)
{
    (void)state;
    char *text;
    pwr_policy_table_t table = {
        .tool = "t", .date = "d", .host = "\xff\xfe", .kernel = "k", .cpu = {.vendor = "v"}};
    assert_int_equal(pwr_policy_format(&table, &text), PWR_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_the_good_document),
        cmocka_unit_test(test_refuses_by_name),
        cmocka_unit_test(test_refuses_every_truncation),
        cmocka_unit_test(test_long_values_are_cut_in_messages),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_does_not_write_what_is_not_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
