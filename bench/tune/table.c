/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The decision table as text.
 */
#include "config.h"

#include "decide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *range_of(const uint64_t range[2])
{
    return json_pack("[I, o]", (json_int_t)range[0],
                     range[1] == UINT64_MAX ? json_null() : json_integer((json_int_t)range[1]));
}

static char *line_of(const tune_row_t *row)
{
    char comment[64];
    snprintf(comment, sizeof comment, "time %.2f to %.2f of stock's", row->ratio[0], row->ratio[1]);
    json_t *json =
        json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}", "collective", row->collective, "nodes",
                  range_of(row->nodes), "ranks_per_node", range_of(row->ranks_per_node), "bytes",
                  range_of(row->bytes), "algorithm", row->algorithm, "comment", comment);
    char *line = json ? json_dumps(json, JSON_PRESERVE_ORDER) : NULL;
    json_decref(json);
    return line;
}

char *tune_table(const tune_row_t *rows, size_t num, const char *source)
{
    char *text = NULL;
    size_t size;
    json_t *string = json_string(source);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    FILE *out = quoted ? open_memstream(&text, &size) : NULL;
    bool good = out != NULL;
    if (good) {
        fprintf(out, "{\n  \"format_version\": 1,\n  \"source\": %s,\n  \"rows\": [", quoted);
    }
    for (size_t i = 0; good && i < num; i++) {
        char *line = line_of(&rows[i]);
        good = line != NULL;
        if (good) {
            fprintf(out, "%s\n    %s", i > 0 ? "," : "", line);
        }
        free(line);
    }
    if (out) {
        fprintf(out, "%s]\n}\n", num > 0 ? "\n  " : "");
        good = fclose(out) == 0 && good;
    }
    free(quoted);
    json_decref(string);
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

static const char *text_of(const json_t *document, const char *key)
{
    const char *text = json_string_value(json_object_get(document, key));
    return text ? text : "unknown";
}

char *tune_source(json_t *const *documents, int num_documents)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    for (int i = 0; i < num_documents; i++) {
        fprintf(out, "%s%s (%s, %s, %s)", i > 0 ? "; " : "", text_of(documents[i], "command"),
                text_of(documents[i], "date"), text_of(documents[i], "host"),
                text_of(documents[i], "library"));
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
