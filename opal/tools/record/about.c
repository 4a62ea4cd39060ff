/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads what a recorder is told about its job.
 */
#include "config.h"

#include "tools/record/about.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pwr/json.h"

/* ---- whose job it is and what it runs ---- */

static json_t *command_of(int pid)
{
    enum { MOST_BYTES = 16384 };
    char path[64];
    char *word = NULL;
    size_t room = 0, bytes = 0;
    json_t *command = json_array();
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *file = fopen(path, "re");
    while (file && bytes < MOST_BYTES && getdelim(&word, &room, '\0', file) > 0) {
        json_array_append_new(command, pwr_json_text(word, MOST_BYTES - bytes));
        bytes += strlen(word) + 1;
    }
    if (file) {
        fclose(file);
    }
    free(word);
    return command;
}

static const char *program_of(const json_t *command)
{
    const char *path = json_string_value(json_array_get(command, 0));
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "unknown";
}

static json_t *user_name(void)
{
    const struct passwd *user = getpwuid(geteuid());
    char number[32];
    snprintf(number, sizeof number, "%lu", (unsigned long)geteuid());
    return pwr_json_text(user ? user->pw_name : number, 256);
}

static json_t *batch_job(void)
{
    const char *id = getenv("SLURM_JOB_ID");
    id = id ? id : getenv("PBS_JOBID");
    id = id ? id : getenv("LSB_JOBID");
    return id ? pwr_json_text(id, 256) : json_null();
}

/* section, which may be there, with more members. */
static void add(json_t *facts, const char *section, json_t *members)
{
    json_t *known = json_object_get(facts, section);
    if (known) {
        pwr_json_take(known, members);
    } else {
        json_object_set_new(facts, section, members);
    }
}

static void add_facts(json_t *facts, int client)
{
    json_t *command = command_of(client);
    add(facts, "software", json_pack("{s:s}", "poweraware", PACKAGE_VERSION));
    add(facts, "job",
        json_pack("{s:s, s:o, s:o, s:o}", "program", program_of(command), "command", command,
                  "user", user_name(), "batch_job", batch_job()));
}

/* ---- all of it ---- */

bool about_parse(const char *text, int client, about_t *about)
{
    *about = (about_t){.all = json_loads(text, JSON_REJECT_DUPLICATES, NULL)};
    json_int_t processes = 0, node_processes = 0;
    if (json_unpack(about->all, "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}",
                    "run_directory", &about->run_directory, "job", &about->job, "directory",
                    &about->directory, "name", &about->name, "summary", &about->summary,
                    "processes", &processes, "node_processes", &node_processes, "collectives",
                    &about->collectives, "algorithms", &about->algorithms, "class_bytes",
                    &about->class_bytes, "facts", &about->facts) != 0 ||
        processes < 1 || node_processes < 1 || processes > INT32_MAX ||
        node_processes > processes || !json_is_object(about->facts)) {
        about_free(about);
        return false;
    }
    add_facts(about->facts, client);
    about->processes = (unsigned)processes;
    about->node_processes = (unsigned)node_processes;
    return true;
}

/* More operations than there were. */
static bool take_names(about_t *about, json_t *facts)
{
    json_t *names = json_object_get(facts, "collectives");
    if (names) {
        json_object_set(about->all, "collectives", names);
        about->collectives = names;
        json_object_del(facts, "collectives");
    }
    return json_is_array(about->collectives);
}

bool about_add(about_t *about, const char *text)
{
    json_t *facts = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool ok = json_is_object(facts) && take_names(about, facts) &&
              json_object_update(about->facts, facts) == 0;
    json_decref(facts);
    return ok;
}

void about_free(about_t *about)
{
    json_decref(about->all);
    about->all = NULL;
}

static const char *name_of(const json_t *names, size_t number)
{
    const char *name = json_string_value(json_array_get(names, number));
    return name ? name : "unknown";
}

const char *about_collective(const about_t *about, unsigned number)
{
    return name_of(about->collectives, number);
}

const char *about_algorithm(const about_t *about, int number)
{
    return number == PWR_ACCOUNT_NO_ALGORITHM ? "stock"
                                              : name_of(about->algorithms, (size_t)number);
}

bool about_is_by_gpus(const void *about, int algorithm)
{
    return strcmp(about_algorithm(about, algorithm), "gpu") == 0;
}

json_t *about_class_bytes(const about_t *about, unsigned number)
{
    json_t *bytes = json_array_get(about->class_bytes, number);
    return bytes ? json_incref(bytes) : json_null();
}
