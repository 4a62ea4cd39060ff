/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Writes what a leader tells its recorder about the job.
 */
#include "config.h"

#include "record/about_text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

json_t *pwr_json_text(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    json_t *string = json_stringn(text, length);
    if (string) {
        return string;
    }
    char *ascii = malloc(length + 1);
    if (!ascii) {
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    }
    string = json_stringn(ascii, length);
    free(ascii);
    return string;
}

json_t *pwr_json_text_or_null(const char *text, size_t most)
{
    return text && text[0] != '\0' ? pwr_json_text(text, most) : json_null();
}

static json_t *text(const char *value)
{
    return pwr_json_text(value ? value : "", PATH_MAX);
}

static json_t *names(const char *const *list)
{
    json_t *array = json_array();
    for (; *list; list++) {
        json_array_append_new(array, text(*list));
    }
    return array;
}

static json_t *sizes(const uint64_t *bytes, unsigned num)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < num; i++) {
        json_array_append_new(array, bytes[i] > INT64_MAX ? json_null()
                                                          : json_integer((json_int_t)bytes[i]));
    }
    return array;
}

static json_t *sections(const pwr_record_fact_t *facts, unsigned num)
{
    json_t *all = json_pack("{s:{s:s}}", "software", "poweraware", PACKAGE_VERSION);
    for (unsigned i = 0; i < num; i++) {
        json_t *section = json_object_get(all, facts[i].section);
        if (!section) {
            section = json_object();
            json_object_set_new(all, facts[i].section, section);
        }
        json_object_set_new(section, facts[i].key,
                            facts[i].value ? text(facts[i].value) : json_real(facts[i].number));
    }
    return all;
}

char *pwr_record_about_text(const pwr_record_about_t *about, const char *root,
                            const char *run_directory, const char *job)
{
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "root", text(root),
        "run_directory", text(run_directory), "job", text(job), "directory", text(about->directory),
        "name", text(about->name), "summary", text(about->summary), "processes",
        (json_int_t)about->processes, "node_processes", (json_int_t)about->node_processes,
        "collectives", names(about->collectives), "algorithms", names(about->algorithms),
        "class_bytes", sizes(about->class_bytes, about->num_classes), "facts",
        sections(about->facts, about->num_facts));
    char *written = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    return written;
}
