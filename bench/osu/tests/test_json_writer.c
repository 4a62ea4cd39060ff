/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Tests of the JSON writer: its output, character by character.
 */
#include "config.h"

#include "json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct sink {
    char *text;
    size_t size;
    FILE *out;
} sink_t;

static pwr_json_t open_sink(sink_t *sink)
{
    sink->out = open_memstream(&sink->text, &sink->size);
    assert_non_null(sink->out);
    return pwr_json(sink->out);
}

static void close_sink(sink_t *sink, const char *expected)
{
    fclose(sink->out);
    assert_string_equal(sink->text, expected);
    free(sink->text);
}

static void nesting(void **state)
{
    (void)state;
    sink_t sink;
    pwr_json_t json = open_sink(&sink);
    pwr_json_begin(&json, NULL, '{');
    pwr_json_begin(&json, "none", '[');
    pwr_json_end(&json, ']');
    pwr_json_begin(&json, "list", '[');
    pwr_json_integer(&json, NULL, 1);
    pwr_json_begin(&json, NULL, '{');
    pwr_json_end(&json, '}');
    pwr_json_end(&json, ']');
    pwr_json_null(&json, "after");
    pwr_json_end(&json, '}');
    close_sink(&sink,
               "{\n  \"none\": [],\n  \"list\": [\n    1,\n    {}\n  ],\n  \"after\": null\n}\n");
}

static void strings(void **state)
{
    (void)state;
    sink_t sink;
    pwr_json_t json = open_sink(&sink);
    pwr_json_begin(&json, NULL, '[');
    pwr_json_string(&json, NULL, "");
    pwr_json_string(&json, NULL, "a \"b\" \\c/");
    pwr_json_string(&json, NULL, "\n\t\x01\x7f\xe9");
    pwr_json_end(&json, ']');
    close_sink(&sink, "[\n  \"\",\n  \"a \\\"b\\\" \\\\c/\",\n"
                      "  \"\\u000a\\u0009\\u0001\\u007f\\u00e9\"\n]\n");
}

static void key_is_escaped(void **state)
{
    (void)state;
    sink_t sink;
    pwr_json_t json = open_sink(&sink);
    pwr_json_begin(&json, NULL, '{');
    pwr_json_bool(&json, "\"", true);
    pwr_json_bool(&json, "b", false);
    pwr_json_end(&json, '}');
    close_sink(&sink, "{\n  \"\\\"\": true,\n  \"b\": false\n}\n");
}

static void numbers(void **state)
{
    (void)state;
    sink_t sink;
    pwr_json_t json = open_sink(&sink);
    pwr_json_begin(&json, NULL, '[');
    pwr_json_integer(&json, NULL, INT64_MIN);
    pwr_json_integer(&json, NULL, INT64_MAX);
    pwr_json_real(&json, NULL, 0.25);
    pwr_json_real(&json, NULL, -1e-9);
    pwr_json_real(&json, NULL, NAN);
    pwr_json_real(&json, NULL, -INFINITY);
    pwr_json_end(&json, ']');
    close_sink(&sink, "[\n  -9223372036854775808,\n  9223372036854775807,\n  0.25,\n  -1e-09,\n"
                      "  null,\n  null\n]\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting),
        cmocka_unit_test(strings),
        cmocka_unit_test(key_is_escaped),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
