/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads machine files: "key = value" lines, '#' starts a comment.
 */
#include "config.h"

#include "machine_file.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "driver.h"
#include "machine_check.h"
#include "machine_keys.h"

enum { LINE_SIZE = 4096, WHY_SIZE = 256, KEY_LIMIT = 128 };

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

static const struct emu_key *key_find(const char *name)
{
    for (size_t i = 0; i < emu_key_count; i++) {
        if (strcmp(emu_keys[i].name, name) == 0) {
            return &emu_keys[i];
        }
    }
    return NULL;
}

/* One "key = value" line.  given[] remembers where each key was seen. */
static bool parse_line(char *line, int number, const char *file, struct emu_config *config,
                       int *given, char *error, size_t error_size)
{
    char *comment = strchr(line, '#');
    if (comment != NULL) {
        *comment = '\0';
    }
    char *name = trim(line);
    if (*name == '\0') {
        return true;
    }
    char *equals = strchr(name, '=');
    if (equals == NULL) {
        snprintf(error, error_size, "%s:%d: '%.80s' is not 'key = value'", file, number, name);
        return false;
    }
    *equals = '\0';
    name = trim(name);
    const struct emu_key *key = key_find(name);
    if (key == NULL) {
        snprintf(error, error_size, "%s:%d: %.80s: no such key ('pwr-emulator --keys' lists them)",
                 file, number, name);
        return false;
    }
    int *seen = &given[key - emu_keys];
    if (*seen != 0) {
        snprintf(error, error_size, "%s:%d: %s: already given in line %d", file, number, name,
                 *seen);
        return false;
    }
    *seen = number;
    char why[WHY_SIZE];
    if (!emu_key_parse(key, config, trim(equals + 1), why, sizeof why)) {
        snprintf(error, error_size, "%s:%d: %s: %s", file, number, name, why);
        return false;
    }
    return true;
}

/* Defaults that follow from other keys. */
static void complete(struct emu_config *config)
{
    if (config->pstate_count > 0) {
        config->pstate_min_khz = (int)config->pstates_khz[0];
        config->pstate_max_khz = (int)config->pstates_khz[config->pstate_count - 1];
    }
    if (config->base_khz == 0) {
        config->base_khz = config->pstate_max_khz;
    }
    if (config->core_dyn_khz == 0) {
        config->core_dyn_khz = config->base_khz;
    }
    if (config->policy_scope == EMU_SCOPE_AUTO) {
        bool shared =
            config->driver == EMU_DRIVER_ACPI && config->pstate_scope == EMU_SCOPE_PACKAGE;
        config->policy_scope = shared ? EMU_SCOPE_PACKAGE : EMU_SCOPE_THREAD;
    }
}

static bool check(const struct emu_config *config, const char *file, const int *given, char *error,
                  size_t error_size)
{
    for (size_t i = 0; i < emu_check_count; i++) {
        int line = given[key_find(emu_checks[i].key) - emu_keys];
        if (line == 0 && emu_checks[i].if_given) {
            continue;
        }
        const char *why = emu_checks[i].check(config);
        if (why != NULL) {
            snprintf(error, error_size, "%s:%d: %s: %s", file, line, emu_checks[i].key, why);
            return false;
        }
    }
    return true;
}

bool emu_config_parse(FILE *stream, const char *name, struct emu_config *config, char *error,
                      size_t error_size)
{
    int given[KEY_LIMIT] = {0};
    _Static_assert(KEY_LIMIT > 64, "room for every key");
    char line[LINE_SIZE], why[WHY_SIZE];
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < emu_key_count; i++) {
        if (emu_keys[i].fallback != NULL &&
            !emu_key_parse(&emu_keys[i], config, emu_keys[i].fallback, why, sizeof why)) {
            snprintf(error, error_size, "default of %s: %s", emu_keys[i].name, why);
            return false;
        }
    }
    int number = 0;
    while (fgets(line, sizeof line, stream) != NULL) {
        number++;
        if (strchr(line, '\n') == NULL && strlen(line) == sizeof line - 1) {
            snprintf(error, error_size, "%s:%d: line longer than %d characters", name, number,
                     LINE_SIZE - 2);
            return false;
        }
        if (!parse_line(line, number, name, config, given, error, error_size)) {
            return false;
        }
    }
    for (size_t i = 0; i < emu_key_count; i++) {
        if (emu_keys[i].fallback == NULL && given[i] == 0) {
            snprintf(error, error_size, "%s:%d: %s: missing, there is no default", name, number,
                     emu_keys[i].name);
            return false;
        }
    }
    if (!check(config, name, given, error, error_size)) {
        return false;
    }
    complete(config);
    return true;
}

bool emu_config_read(const char *path, struct emu_config *config, char *error, size_t error_size)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        snprintf(error, error_size, "machine file %s: %s", path, strerror(errno));
        return false;
    }
    bool good = emu_config_parse(stream, path, config, error, error_size);
    fclose(stream);
    return good;
}

void emu_config_print_keys(FILE *out)
{
    fprintf(out, "| key | unit or words | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < emu_key_count; i++) {
        const struct emu_key *key = &emu_keys[i];
        fprintf(out, "| `%s` | ", key->name);
        for (int w = 0; key->words != NULL && key->words[w] != NULL; w++) {
            fprintf(out, "%s%s", w > 0 ? ", " : "", key->words[w]);
        }
        if (key->unit != NULL) {
            fprintf(out, "%s%s", key->words != NULL ? " " : "", key->unit);
        }
        const char *fallback = key->fallback == NULL      ? "must be given"
                               : key->fallback[0] == '\0' ? "empty"
                                                          : key->fallback;
        fprintf(out, " | %s | %s |\n", fallback, key->help);
    }
}
