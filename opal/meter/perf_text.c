/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the kernel writes into the event files of a PMU.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

bool pwr_perf_parse_config(const char *text, uint64_t *config)
{
    static const char before[] = "event=0x";
    const char *digits = text + strlen(before);
    if (strncmp(text, before, strlen(before)) != 0) {
        return false;
    }
    size_t length = strspn(digits, "0123456789abcdefABCDEF");
    if (length < 1 || length > 2 || digits[length] != '\0') {
        return false;
    }
    *config = strtoul(digits, NULL, 16);
    return true;
}

bool pwr_perf_parse_scale(const char *text, double *scale)
{
    char *end;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return false;
    }
    double value = strtod_l(text, &end, plain);
    freelocale(plain);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(value > 0 && value <= 1)) {
        return false;
    }
    *scale = value;
    return true;
}
