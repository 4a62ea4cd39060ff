/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * "Why not": one line collected from all back ends that were tried.
 */
#include "config.h"

#include "why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REASON_BYTES = 512 };

pwr_why_t pwr_why_init(char *text, unsigned size)
{
    if (size > 0) {
        text[0] = '\0';
    }
    return (pwr_why_t){.text = text, .size = size};
}

void pwr_why_add(const pwr_why_t *why, const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (why->size == 0 || strstr(why->text, reason)) {
        return;
    }
    size_t used = strlen(why->text);
    snprintf(why->text + used, why->size - used, "%s%s", used > 0 ? ", " : "", reason);
}

void pwr_why_add_file(const pwr_why_t *why, const char *path, pwr_status_t status,
                      const char *remedy)
{
    if (status == PWR_ERR_PERM) {
        pwr_why_add(why, "%s: %s (%s)", path, pwr_status_text(status), remedy);
    } else {
        pwr_why_add(why, "%s: %s", path, pwr_status_text(status));
    }
}

pwr_status_t pwr_why_worse(pwr_status_t left, pwr_status_t right)
{
    static const unsigned char weight[] = {
        [PWR_ERR_UNSUPPORTED] = 1, [PWR_ERR_RANGE] = 2, [PWR_ERR_PARSE] = 3,
        [PWR_ERR_TIMEOUT] = 4,     [PWR_ERR_IO] = 5,    [PWR_ERR_PERM] = 6,
        [PWR_ERR_SHARED] = 7,      [PWR_ERR_NOMEM] = 8, [PWR_ERR_ARG] = 9,
        [PWR_ERR_FOREIGN] = 5,     [PWR_ERR_GONE] = 4,  [PWR_ERR_DESCRIPTORS] = 8,
    };
    return weight[right] > weight[left] ? right : left;
}
