/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Writes one JSON value to a stream, indented.
 *
 * key is the member's name inside an object and NULL inside an array or at the top.  Commas and
 * indentation are the writer's; begin and end must be paired by the caller.  Write errors stay in
 * the stream (ferror).
 */
#ifndef PWR_OSU_JSON_H
#define PWR_OSU_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct pwr_json {
    FILE *out;
    unsigned depth;
    bool first; /* nothing written yet inside the innermost object or array */
} pwr_json_t;

pwr_json_t pwr_json(FILE *out);

void pwr_json_begin(pwr_json_t *json, const char *key, char bracket); /* '{' or '[' */
void pwr_json_end(pwr_json_t *json, char bracket);                    /* '}' or ']' */

/* Bytes from 0x80 on are written as the Latin-1 characters of that number: the output is valid
   JSON whatever the text's encoding was. */
void pwr_json_string(pwr_json_t *json, const char *key, const char *text);
void pwr_json_integer(pwr_json_t *json, const char *key, int64_t value);
/* Nine significant digits; null when not finite, which JSON cannot say. */
void pwr_json_real(pwr_json_t *json, const char *key, double value);
void pwr_json_bool(pwr_json_t *json, const char *key, bool value);
void pwr_json_null(pwr_json_t *json, const char *key);

#endif
