/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Numbers and lines as kernel files and our own write them.
 */
#include "config.h"

#include "number.h"

#include <limits.h>
#include <string.h>

/* -1: not a digit of any base up to 16. */
static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    if (letter >= 'a' && letter <= 'f') {
        return letter - 'a' + 10;
    }
    return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

static size_t trimmed(const char *text, size_t size)
{
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\n' || text[size - 1] == '\t' ||
                        text[size - 1] == '\r')) {
        size--;
    }
    return size;
}

static pwr_status_t parse_digits(const char *text, size_t size, unsigned base, uint64_t *value)
{
    uint64_t number = 0;
    for (size_t at = 0; at < size; at++) {
        int digit = digit_of(text[at]);
        if (digit < 0 || (unsigned)digit >= base ||
            number > (UINT64_MAX - (unsigned)digit) / base) {
            return PWR_ERR_PARSE;
        }
        number = number * base + (unsigned)digit;
    }
    if (size == 0) {
        return PWR_ERR_PARSE;
    }
    *value = number;
    return PWR_OK;
}

pwr_status_t pwr_number_parse(const char *text, size_t size, uint64_t *value)
{
    size_t end = trimmed(text, size);
    bool hex = end > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    return hex ? parse_digits(text + 2, end - 2, 16, value) : parse_digits(text, end, 10, value);
}

pwr_status_t pwr_number_parse_decimal(const char *text, size_t size, unsigned *value)
{
    uint64_t number;
    if (parse_digits(text, size, 10, &number) != PWR_OK || number > UINT_MAX) {
        return PWR_ERR_PARSE;
    }
    *value = (unsigned)number;
    return PWR_OK;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\n");
    text[trimmed(text, strlen(text))] = '\0';
    return text;
}

bool pwr_line_split(char *line, char **key, char **value)
{
    char *colon = strchr(line, ':');
    if (!colon) {
        return false;
    }
    *colon = '\0';
    *key = trim(line);
    *value = trim(colon + 1);
    return true;
}
