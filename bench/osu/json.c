/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The JSON writer.
 */
#include "config.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>

pwr_json_t pwr_json(FILE *out)
{
    return (pwr_json_t){.out = out, .depth = 0, .first = true};
}

static void new_line(const pwr_json_t *json)
{
    fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (*c < 0x20 || *c >= 0x7f) {
            fprintf(out, "\\u%04x", *c);
        } else {
            putc(*c, out);
        }
    }
    putc('"', out);
}

/* Everything that precedes a value. */
static void put_lead(pwr_json_t *json, const char *key)
{
    if (json->depth > 0) {
        if (!json->first) {
            putc(',', json->out);
        }
        new_line(json);
    }
    if (key) {
        put_text(json->out, key);
        fputs(": ", json->out);
    }
    json->first = false;
}

void pwr_json_begin(pwr_json_t *json, const char *key, char bracket)
{
    put_lead(json, key);
    putc(bracket, json->out);
    json->depth++;
    json->first = true;
}

void pwr_json_end(pwr_json_t *json, char bracket)
{
    json->depth--;
    if (!json->first) {
        new_line(json);
    }
    putc(bracket, json->out);
    json->first = false;
    if (json->depth == 0) {
        putc('\n', json->out);
    }
}

void pwr_json_string(pwr_json_t *json, const char *key, const char *text)
{
    put_lead(json, key);
    put_text(json->out, text);
}

void pwr_json_integer(pwr_json_t *json, const char *key, int64_t value)
{
    put_lead(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void pwr_json_real(pwr_json_t *json, const char *key, double value)
{
    if (!isfinite(value)) {
        pwr_json_null(json, key);
        return;
    }
    put_lead(json, key);
    fprintf(json->out, "%.9g", value);
}

void pwr_json_bool(pwr_json_t *json, const char *key, bool value)
{
    put_lead(json, key);
    fputs(value ? "true" : "false", json->out);
}

void pwr_json_null(pwr_json_t *json, const char *key)
{
    put_lead(json, key);
    fputs("null", json->out);
}
