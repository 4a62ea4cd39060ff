/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a recorder is told about its job: the object of pwr_record_tell, and
 *
 *   run_directory, job   of the leader's pwr_record_config_t
 *
 * To its facts is added here whose job it is and what it runs.
 */
#ifndef PWR_RECORD_ABOUT_H
#define PWR_RECORD_ABOUT_H

#include <jansson.h>
#include <stdbool.h>

typedef struct about {
    json_t *all;
    const char *run_directory;
    const char *job;
    const char *directory;
    const char *name;
    const char *summary;
    unsigned processes;
    unsigned node_processes;
    json_t *collectives;
    json_t *algorithms;
    json_t *class_bytes;
    json_t *facts;
} about_t;

/* client: the process that told it.  False: it is no such object. */
bool about_parse(const char *text, int client, about_t *about);
/* More facts: an object of objects.  False: it is none. */
bool about_add(about_t *about, const char *text);
void about_free(about_t *about);

/* "unknown" for numbers that have no name. */
const char *about_collective(const about_t *about, unsigned number);
const char *about_algorithm(const about_t *about, int number); /* "stock" for none */
bool about_is_by_gpus(const void *about, int algorithm);
/* A new reference. */
json_t *about_class_bytes(const about_t *about, unsigned number);

#endif
