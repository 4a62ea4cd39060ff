/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the user sees: progress, and the rows in words.
 */
#include "config.h"

#include "tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
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

static void put_range(char *text, size_t size, const uint64_t range[2])
{
    if (range[1] == UINT64_MAX) {
        snprintf(text, size, "%" PRIu64 "..", range[0]);
    } else if (range[0] == range[1]) {
        snprintf(text, size, "%" PRIu64, range[0]);
    } else {
        snprintf(text, size, "%" PRIu64 "..%" PRIu64, range[0], range[1]);
    }
}

void tune_summary(const tune_row_t *rows, size_t num)
{
    if (num == 0) {
        printf("Stock functions everywhere: nothing of ours paid.\n");
        return;
    }
    printf("%-20s  %-9s  %-9s  %-21s  %-9s  %s\n", "collective", "nodes", "ranks", "bytes",
           "algorithm", "time, of stock");
    for (size_t i = 0; i < num; i++) {
        char nodes[48];
        char ranks[48];
        char bytes[48];
        put_range(nodes, sizeof nodes, rows[i].nodes);
        put_range(ranks, sizeof ranks, rows[i].ranks_per_node);
        put_range(bytes, sizeof bytes, rows[i].bytes);
        printf("%-20s  %-9s  %-9s  %-21s  %-9s  %.2f to %.2f\n", rows[i].collective, nodes, ranks,
               bytes, rows[i].algorithm, rows[i].ratio[0], rows[i].ratio[1]);
    }
}
