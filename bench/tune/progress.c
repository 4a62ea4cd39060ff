/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How far the job is, for the user.
 */
#include "config.h"

#include "tune.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LINE_S = 5 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* On a terminal one line that changes, elsewhere a line now and then. */
void tune_progress(const tune_layout_t *layout, const char *collective, size_t size, int done,
                   int all)
{
    static double begin;
    static double last;
    double now = now_s();
    begin = begin > 0 ? begin : now;
    bool is_terminal = isatty(STDERR_FILENO);
    if (!is_terminal && last > 0 && now - last < LINE_S) {
        return;
    }
    last = now;
    double left = done > 0 ? (now - begin) / done * (all - done) : 0;
    fprintf(stderr, "%s[%4.0f s, ", is_terminal ? "\r" : "", now - begin);
    if (done > 0) {
        fprintf(stderr, "about %.0f s left", left);
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
