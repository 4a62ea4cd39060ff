/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The processor's identity from /proc/cpuinfo, and a table of what is documented about T-states.
 */
#include "config.h"

#include "number.h"
#include "pwr/cpu_model.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- /proc/cpuinfo ---- */

enum { VENDOR, FAMILY, MODEL, STEPPING, NAME, NUM_KEYS, VALUE_BYTES = 256 };

static const char *const keys[NUM_KEYS] = {
    [VENDOR] = "vendor_id",  [FAMILY] = "cpu family", [MODEL] = "model",
    [STEPPING] = "stepping", [NAME] = "model name",
};

/* What the first CPU's paragraph says. */
typedef struct paragraph {
    bool has[NUM_KEYS];
    char values[NUM_KEYS][VALUE_BYTES]; /* "": none */
} paragraph_t;

static void take_line(char *line, paragraph_t *paragraph)
{
    char *key, *value;
    if (!pwr_line_split(line, &key, &value)) {
        return;
    }
    for (int i = 0; i < NUM_KEYS; i++) {
        if (!paragraph->has[i] && strcmp(key, keys[i]) == 0) {
            paragraph->has[i] = true;
            snprintf(paragraph->values[i], VALUE_BYTES, "%s", value);
        }
    }
}

static bool is_printable(const char *text)
{
    while (isprint((unsigned char)*text)) {
        text++;
    }
    return *text == '\0';
}

static pwr_status_t to_number(const char *text, unsigned *number)
{
    return pwr_number_parse_decimal(text, strlen(text), number);
}

static pwr_status_t identify(const paragraph_t *paragraph, pwr_cpu_model_t *model)
{
    pwr_cpu_model_t made = {.stepping = 0};
    const char *vendor = paragraph->values[VENDOR];
    const char *name = paragraph->values[NAME];
    if (!paragraph->has[VENDOR]) {
        return PWR_ERR_UNSUPPORTED;
    }
    if (vendor[0] == '\0' || strlen(vendor) >= sizeof made.vendor || !is_printable(vendor) ||
        to_number(paragraph->values[FAMILY], &made.family) != PWR_OK ||
        to_number(paragraph->values[MODEL], &made.model) != PWR_OK) {
        return PWR_ERR_PARSE;
    }
    /* Some hypervisors hide these two; Linux then writes "unknown". */
    (void)to_number(paragraph->values[STEPPING], &made.stepping);
    snprintf(made.name, sizeof made.name, "%.*s", (int)sizeof made.name - 1,
             is_printable(name) ? name : "");
    snprintf(made.vendor, sizeof made.vendor, "%s", vendor);
    *model = made;
    return PWR_OK;
}

pwr_status_t pwr_cpu_model_parse(FILE *cpuinfo, pwr_cpu_model_t *model)
{
    paragraph_t paragraph = {.has = {false}};
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, cpuinfo) > 0 && line[0] != '\n') {
        take_line(line, &paragraph);
    }
    free(line);
    return ferror(cpuinfo) ? PWR_ERR_IO : identify(&paragraph, model);
}

pwr_status_t pwr_cpu_model_read(const pwr_env_t *env, pwr_cpu_model_t *model)
{
    FILE *cpuinfo;
    pwr_status_t status = pwr_env_open_stream(env, "/proc/cpuinfo", &cpuinfo);
    if (status == PWR_OK) {
        status = pwr_cpu_model_parse(cpuinfo, model);
        fclose(cpuinfo);
    }
    return status;
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
