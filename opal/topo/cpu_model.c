/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The processor's identity from /proc/cpuinfo, and a table of what is documented about T-states.
 */
#include "config.h"

#include "pwr/cpu_model.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Vendor, family, model, name and stepping are the first lines of a CPU's paragraph. */
    CPUINFO_BYTES = 4096,
};

typedef struct span {
    const char *start;
    size_t length;
} span_t;

/* ---- /proc/cpuinfo ---- */

/* The next line of text without its newline; false at the end. */
static bool next_line(span_t *rest, span_t *line)
{
    if (rest->length == 0) {
        return false;
    }
    const char *newline = memchr(rest->start, '\n', rest->length);
    size_t length = newline ? (size_t)(newline - rest->start) : rest->length;
    size_t used = length + (newline != NULL);
    *line = (span_t){rest->start, length};
    *rest = (span_t){rest->start + used, rest->length - used};
    return true;
}

static span_t trimmed(const char *start, const char *end)
{
    while (start < end && isspace((unsigned char)*start)) {
        start++;
    }
    while (start < end && isspace((unsigned char)end[-1])) {
        end--;
    }
    return (span_t){start, (size_t)(end - start)};
}

/* The value of "key<blanks>: value" in the first CPU's paragraph; false when there is none. */
static bool find_value(span_t text, const char *key, span_t *value)
{
    span_t line;
    while (next_line(&text, &line) && line.length > 0) {
        const char *colon = memchr(line.start, ':', line.length);
        if (!colon) {
            continue;
        }
        span_t found = trimmed(line.start, colon);
        if (found.length == strlen(key) && memcmp(found.start, key, found.length) == 0) {
            *value = trimmed(colon + 1, line.start + line.length);
            return true;
        }
    }
    return false;
}

static bool to_number(span_t text, unsigned *number)
{
    unsigned result = 0;
    if (text.length == 0) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned)(unsigned char)text.start[i] - '0';
        if (digit > 9 || result > (UINT_MAX - digit) / 10) {
            return false;
        }
        result = result * 10 + digit;
    }
    *number = result;
    return true;
}

static bool is_printable(span_t text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!isprint((unsigned char)text.start[i])) {
            return false;
        }
    }
    return true;
}

pwr_status_t pwr_cpu_model_parse(const char *text, size_t size, pwr_cpu_model_t *model)
{
    span_t all = {text, size};
    span_t value;
    pwr_cpu_model_t made = {.stepping = 0};
    if (!find_value(all, "vendor_id", &value)) {
        return PWR_ERR_UNSUPPORTED;
    }
    if (value.length == 0 || value.length >= sizeof made.vendor || !is_printable(value)) {
        return PWR_ERR_PARSE;
    }
    memcpy(made.vendor, value.start, value.length);
    if (!find_value(all, "cpu family", &value) || !to_number(value, &made.family) ||
        !find_value(all, "model", &value) || !to_number(value, &made.model)) {
        return PWR_ERR_PARSE;
    }
    /* Some hypervisors hide these two; Linux then writes "unknown". */
    if (find_value(all, "stepping", &value) && !to_number(value, &made.stepping)) {
        made.stepping = 0;
    }
    if (find_value(all, "model name", &value) && is_printable(value)) {
        size_t kept = value.length < sizeof made.name ? value.length : sizeof made.name - 1;
        memcpy(made.name, value.start, kept);
    }
    *model = made;
    return PWR_OK;
}

pwr_status_t pwr_cpu_model_read(const pwr_env_t *env, pwr_cpu_model_t *model)
{
    char text[CPUINFO_BYTES];
    int fd;
    pwr_status_t status = pwr_env_open(env, "/proc/cpuinfo", O_RDONLY, &fd);
    if (status != PWR_OK) {
        return status;
    }
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < sizeof text) {
        got = read(fd, text + length, sizeof text - length);
        length += got > 0 ? (size_t)got : 0;
    }
    status = got < 0 ? pwr_status_from_errno(errno) : PWR_OK;
    close(fd);
    return status == PWR_OK ? pwr_cpu_model_parse(text, length, model) : status;
}

/* ---- T-states ---- */

/* Intel SDM volume 3, "Software Controlled Clock Modulation": cores of a package are independent;
   hardware threads of a core share one duty cycle, the highest that was asked for on the signatures
   it lists by name (here: HIGHEST), the lowest on all others.  P6 processors (up to model 0x0d)
   modulate through the chipset.

   ICPP 2010 found Nehalem (model 0x1a) to throttle whole packages, with the highest duty taken to
   win.  There the documented scope can only promise too much saving, not slow others down;
   coll_poweraware_tstate_scope says what is known better.

   AMD documents no IA32_CLOCK_MODULATION. */
static const struct {
    const char *vendor;
    unsigned family;
    unsigned first_model, last_model;
    pwr_tstate_winner_t winner;
} tstate_table[] = {
    /* The first row that matches counts. */
    {"GenuineIntel", 6, 0x1a, 0x1a, PWR_TSTATE_WINNER_HIGHEST}, /* Nehalem-EP */
    {"GenuineIntel", 6, 0x1c, 0x1c, PWR_TSTATE_WINNER_HIGHEST}, /* Atom Bonnell */
    {"GenuineIntel", 6, 0x1e, 0x1f, PWR_TSTATE_WINNER_HIGHEST}, /* Nehalem */
    {"GenuineIntel", 6, 0x25, 0x27, PWR_TSTATE_WINNER_HIGHEST}, /* Westmere, Atom Bonnell */
    {"GenuineIntel", 6, 0x2c, 0x2c, PWR_TSTATE_WINNER_HIGHEST}, /* Westmere-EP */
    {"GenuineIntel", 6, 0x2e, 0x2f, PWR_TSTATE_WINNER_HIGHEST}, /* Nehalem-EX, Westmere-EX */
    {"GenuineIntel", 6, 0x35, 0x36, PWR_TSTATE_WINNER_HIGHEST}, /* Atom Saltwell */
    {"GenuineIntel", 6, 0x0e, UINT_MAX, PWR_TSTATE_WINNER_LOWEST},
    {"GenuineIntel", 15, 0, UINT_MAX, PWR_TSTATE_WINNER_HIGHEST}, /* NetBurst */
};

pwr_tstate_winner_t pwr_tstate_winner(const pwr_cpu_model_t *model)
{
    for (size_t i = 0; i < sizeof tstate_table / sizeof tstate_table[0]; i++) {
        if (strcmp(model->vendor, tstate_table[i].vendor) == 0 &&
            model->family == tstate_table[i].family &&
            model->model >= tstate_table[i].first_model &&
            model->model <= tstate_table[i].last_model) {
            return tstate_table[i].winner;
        }
    }
    return PWR_TSTATE_WINNER_UNKNOWN;
}
