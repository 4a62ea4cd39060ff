/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The report in one line.
 */
#include "config.h"

#include "tools/info/info.h"

#include <string.h>

bool info_part_is_missing(const info_part_t *part)
{
    bool modelled = part->num_domains > 0 && part->domains[0].provenance == PWR_METER_MODELLED;
    return part->best < 0 || modelled;
}

static void append(char *text, unsigned size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", more);
}

/* The levers whose best back end is, or only would be, used. */
static void append_levers(const info_report_t *report, bool used, char *text, unsigned size)
{
    for (info_subject_t subject = 0; subject < PWR_NUM_LEVERS; subject++) {
        const info_part_t *part = &report->parts[subject];
        char item[INFO_NAME_BYTES * 2];
        if (part->best < 0 || (part->backends[part->best].state == INFO_USED) != used) {
            continue;
        }
        snprintf(item, sizeof item, "%s (%s)", info_title(subject),
                 part->backends[part->best].name);
        append(text, size, item);
    }
}

void info_summary(const info_report_t *report, char *text, unsigned size)
{
    snprintf(text, size, "waits"); /* sleeping instead of spinning needs nobody's permission */
    append_levers(report, true, text, size);
}

void info_prospect(const info_report_t *report, char *text, unsigned size)
{
    text[0] = '\0';
    append_levers(report, false, text, size);
}
