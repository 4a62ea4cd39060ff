/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The document with the measurements, JSON.
 */
#include "config.h"

#include "tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *join(int argc, char **argv)
{
    size_t length = 1;
    for (int i = 0; i < argc; i++) {
        length += strlen(argv[i]) + 1;
    }
    char *line = calloc(1, length);
    for (int i = 0; line && i < argc; i++) {
        strcat(line, i > 0 ? " " : "");
        strcat(line, i > 0 ? argv[i] : "poweraware-tune");
    }
    return line;
}

json_t *tune_document_new(int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    char host[256] = "";
    char date[32] = "";
    int length;
    time_t now = time(NULL);
    struct tm utc;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",")] = '\0'; /* "Open MPI v4.1.4, package: ..." */
    gethostname(host, sizeof host - 1);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    char *command = join(argc, argv);
    json_t *document =
        json_pack("{s:s, s:i, s:s*, s:s, s:s, s:s, s:o}", "format", "poweraware-measurements",
                  "format_version", 1, "command", command, "date", date, "host", host, "library",
                  library, "points", json_array());
    free(command);
    return document;
}

/* path.new, to be freed; NULL with *error. */
static char *name_aside(const char *path, char *error, size_t size)
{
    char *aside;
    if (asprintf(&aside, "%s.new", path) < 0) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    return aside;
}

bool tune_can_write(const char *path, char *error, size_t size)
{
    char *aside = name_aside(path, error, size);
    FILE *file = aside ? fopen(aside, "w") : NULL;
    if (file) {
        fclose(file);
        unlink(aside);
    } else if (aside) {
        snprintf(error, size, "cannot write %s: %s", path, strerror(errno));
    }
    free(aside);
    return file != NULL;
}

bool tune_document_write(const json_t *document, const char *path, char *error, size_t size)
{
    char *aside = name_aside(path, error, size);
    bool good = aside &&
                json_dump_file(document, aside, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0 &&
                rename(aside, path) == 0;
    if (aside && !good) {
        snprintf(error, size, "cannot write %s: %s", path, strerror(errno));
        unlink(aside);
    }
    free(aside);
    return good;
}
