/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Numbers as kernel files and our own write them.
 */
#include "config.h"

#include "number.h"

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

pwr_status_t pwr_number_parse(const char *text, size_t size, uint64_t *value)
{
    size_t end = trimmed(text, size);
    size_t at = 0;
    unsigned base = 10;
    if (end > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        at = 2;
    }
    if (at == end) {
        return PWR_ERR_PARSE;
    }
    uint64_t number = 0;
    for (; at < end; at++) {
        int digit = digit_of(text[at]);
        if (digit < 0 || (unsigned)digit >= base ||
            number > (UINT64_MAX - (unsigned)digit) / base) {
            return PWR_ERR_PARSE;
        }
        number = number * base + (unsigned)digit;
    }
    *value = number;
    return PWR_OK;
}
