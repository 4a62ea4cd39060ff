/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * energy_performance_preference: words for values of the hardware's field, as intel_pstate and
 * amd-pstate-epp translate them.
 */
#include "config.h"

#include "epp.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pstate.h"

static const struct {
    const char *name;
    int intel, amd;
} words[] = {
    {"default", EMU_EPP_DEFAULT, EMU_EPP_DEFAULT},
    {"performance", EMU_EPP_PERFORMANCE, EMU_EPP_PERFORMANCE},
    {"balance_performance", 0x80, 0x80},
    {"balance_power", 0xc0, 0xbf},
    {"power", 0xff, 0xff},
};
enum { WORDS = sizeof words / sizeof words[0] };

static bool is_amd(const struct emu_access *access)
{
    return access->machine->config.cpu_vendor == EMU_VENDOR_AMD;
}

static int value_of(const struct emu_access *access, int word)
{
    return is_amd(access) ? words[word].amd : words[word].intel;
}

/* A value that has no word is shown as a number; only a raw write of HWP_REQUEST or a number in the
   file makes one.  "default" is never shown. */
static void show_preference(const struct emu_access *access, FILE *out)
{
    int epp = emu_pstate_epp(access->machine, access->index);
    for (int i = 1; i < WORDS; i++) {
        if (value_of(access, i) == epp) {
            fprintf(out, "%s\n", words[i].name);
            return;
        }
    }
    fprintf(out, "%d\n", epp);
}

static int parse_preference(const struct emu_access *access, const char *text, int *epp)
{
    for (int i = 0; i < WORDS; i++) {
        if (strcmp(words[i].name, text) == 0) {
            *epp = value_of(access, i);
            return 0;
        }
    }
    char *end;
    long number = strtol(text, &end, 10);
    if (is_amd(access) || !isdigit((unsigned char)text[0]) || *end != '\0' || number > 255) {
        return EINVAL; /* amd-pstate takes no numbers */
    }
    *epp = (int)number;
    return 0;
}

static int store_preference(const struct emu_access *access, const char *text)
{
    int epp;
    int error = parse_preference(access, text, &epp);
    return error != 0 ? error
                      : emu_pstate_prefer(access->machine, access->index, epp, access->now_ns);
}

static void show_words(const struct emu_access *access, FILE *out)
{
    (void)access;
    for (int i = 0; i < WORDS; i++) {
        fprintf(out, "%s ", words[i].name);
    }
    fputc('\n', out);
}

const struct emu_attribute emu_epp_attributes[EMU_EPP_ATTRIBUTES] = {
    {"energy_performance_preference", 0644, show_preference, store_preference,
     "energy_performance_preference"},
    {"energy_performance_available_preferences", 0444, show_words, NULL, NULL},
};
