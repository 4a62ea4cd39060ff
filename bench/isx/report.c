/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What PE 0 prints of isx, and its JSON document.
 */
#include "config.h"

#include "report.h"

#include "options.h"

#include "../common/order.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 10000 };

static const char *const phases[ISX_PHASES] = {"count",   "plan",   "bucketize", "puts",
                                               "barrier", "values", "exchange",  "total"};
static double times[ISX_WAYS][ISX_PHASES][MOST];
static long faults[ISX_WAYS];

void isx_report_sort(int way, int iteration, const double *ms, const char *fault)
{
    if (fault != NULL) {
        fprintf(stderr, "isx: %s, iteration %d: %s\n", isx_ways[way].name, iteration, fault);
        faults[way]++;
    }
    for (int phase = 0; phase < ISX_PHASES && iteration >= 0; phase++) {
        times[way][phase][iteration] = ms[phase];
    }
}

/* Stock's over this way's times, sort by sort: median and 95 % interval (order statistics). */
static void print_ratio(int way, isx_phase_t phase)
{
    static double ratios[MOST];
    pwr_order_ratio_t ratio =
        pwr_order_ratio(times[0][phase], times[way][phase], ratios, isx_options.iterations);
    printf("  %5.2f [%.2f, %.2f]", ratio.median, ratio.low, ratio.high);
}

static double median(int way, int phase)
{
    static double sorted[MOST];
    memcpy(sorted, times[way][phase], sizeof sorted);
    return pwr_order_median(sorted, isx_options.iterations);
}

static void print_row(int way)
{
    printf("%-13s", isx_ways[way].name);
    for (int phase = 0; phase < ISX_PHASES; phase++) {
        printf(" %10.4f", median(way, phase));
    }
    if (way > 0 && isx_options.ways[0]) {
        print_ratio(way, ISX_EXCHANGE);
        print_ratio(way, ISX_TOTAL);
    }
    printf("%s\n", faults[way] > 0 ? "  WRONG KEYS" : "");
}

static void print_table(int pes)
{
    printf("%d PEs, %zu keys %s; median ms, and ratio of stock [95 %%]: exchange, total\n%-13s",
           pes, isx_options.keys, isx_options.is_weak ? "of each PE" : "of all PEs", "");
    for (int phase = 0; phase < ISX_PHASES; phase++) {
        printf(" %10s", phases[phase]);
    }
    printf("\n");
    for (int way = 0; way < ISX_WAYS; way++) {
        if (isx_options.ways[way]) {
            print_row(way);
        }
    }
}

static void write_row(FILE *json, int way, int iteration)
{
    fprintf(json, "  {\"way\": \"%s\", \"iteration\": %d", isx_ways[way].name, iteration);
    for (int phase = 0; phase < ISX_PHASES; phase++) {
        fprintf(json, ", \"%s_ms\": %.6f", phases[phase], times[way][phase][iteration]);
    }
    fprintf(json, ", \"validated\": %s}", faults[way] > 0 ? "false" : "true");
}

static int write_document(int pes)
{
    FILE *json = fopen(isx_options.json, "w");
    const char *separator = "";
    if (json == NULL) {
        perror(isx_options.json);
        return 1;
    }
    fprintf(json, "{\"pes\": %d, \"scaling\": \"%s\", \"keys\": %zu, \"key_range\": %u,\n", pes,
            isx_options.is_weak ? "weak" : "strong", isx_options.keys, isx_options.range);
    fprintf(json, " \"rows\": [\n");
    for (int i = 0; i < isx_options.iterations; i++) {
        for (int way = 0; way < ISX_WAYS; way++) {
            if (isx_options.ways[way]) {
                fputs(separator, json);
                write_row(json, way, i);
                separator = ",\n";
            }
        }
    }
    fprintf(json, "\n]}\n");
    if (fclose(json) != 0) {
        perror(isx_options.json);
        return 1;
    }
    return 0;
}

int isx_report_end(int pes)
{
    int status = 0;
    print_table(pes);
    for (int way = 0; way < ISX_WAYS; way++) {
        status |= faults[way] > 0;
    }
    return isx_options.json != NULL ? status | write_document(pes) : status;
}
