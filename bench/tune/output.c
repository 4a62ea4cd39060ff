/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What rank 0 tells the user: why nothing can be done, how far the job is, and the document with
 * the measurements.
 */
#include "config.h"

#include "tune.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "pwr/save.h"

enum { LINE_S = 5 };

bool tune_refuse(const char *format, ...)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fputs("poweraware-tune: ", stderr);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    return false;
}

/* ---- progress ---- */

void tune_progress(const tune_layout_t *layout, const char *collective, size_t size, int done,
                   int all)
{
    static double begin;
    static double last;
    double now = 1e-9 * (double)pwr_now_ns();
    begin = begin > 0 ? begin : now;
    bool is_terminal = isatty(STDERR_FILENO);
    if (!is_terminal && last > 0 && now - last < LINE_S) {
        return;
    }
    last = now;
    fprintf(stderr, "%s[%4.0f s, ", is_terminal ? "\r" : "", now - begin);
    if (done > 0) {
        fprintf(stderr, "about %.0f s left", (now - begin) / done * (all - done));
    } else {
        fprintf(stderr, "time left not known yet");
    }
    fprintf(stderr, "] %d/%d: %d x %d ranks, %s, %zu bytes%s", done + 1, all, layout->nodes,
            layout->ranks_per_node, collective, size, is_terminal ? "      " : "\n");
    fflush(stderr);
}

void tune_progress_end(void)
{
    if (isatty(STDERR_FILENO)) {
        fputc('\n', stderr);
    }
}

/* ---- the document ---- */

/* To be freed; NULL: no memory. */
static char *command_line(int argc, char **argv)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    if (!out) {
        return NULL;
    }
    fputs("poweraware-tune", out);
    for (int i = 1; i < argc; i++) {
        fprintf(out, " %s", argv[i]);
    }
    fclose(out);
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
    char *command = command_line(argc, argv);
    json_t *document =
        json_pack("{s:s, s:i, s:s*, s:s, s:s, s:s, s:o}", "format", "poweraware-measurements",
                  "format_version", 1, "command", command, "date", date, "host", host, "library",
                  library, "points", json_array());
    free(command);
    return document;
}

bool tune_document_write(const json_t *document, const char *path)
{
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    bool good = text ? pwr_save("poweraware-tune", path, text) : tune_refuse("out of memory");
    free(text);
    return good;
}
