/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads machine files: "key = value" lines, '#' starts a comment.
 */
#include "config.h"

#include "machine_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { LINE_SIZE = 4096, WHY_SIZE = 256, MIN_KHZ = 100000 };

static const struct emu_driver_traits drivers[] = {
    [EMU_DRIVER_ACPI] = {"acpi-cpufreq", .intel = true, .amd = true},
    [EMU_DRIVER_INTEL_PSTATE] = {"intel_pstate", .intel = true, .active = true, .hwp = true},
    [EMU_DRIVER_INTEL_CPUFREQ] = {"intel_cpufreq", .intel = true, .hwp = true},
    [EMU_DRIVER_AMD_PSTATE] = {"amd-pstate", .amd = true},
    [EMU_DRIVER_AMD_PSTATE_EPP] = {"amd-pstate-epp", .amd = true, .active = true},
    [EMU_DRIVER_NONE] = {.intel = true, .amd = true, .hwp = true},
};

const struct emu_driver_traits *emu_driver_of(const struct emu_config *config)
{
    return &drivers[config->driver];
}

int emu_driver_governors(const struct emu_config *config)
{
    return emu_driver_of(config)->active ? EMU_GOV_POWERSAVE + 1 : EMU_GOV_SCHEDUTIL + 1;
}

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

/* A file as far as it has been read. */
struct reader {
    const char *file;
    int line;
    int given[EMU_KEY_LIMIT]; /* the line each key was seen in, 0: not yet */
    struct emu_config *config;
    char *error;
    size_t error_size;
};

/* Writes "FILE:LINE: " and the reason; false. */
__attribute__((format(printf, 3, 4))) static bool complain(const struct reader *reader, int line,
                                                           const char *format, ...)
{
    va_list arguments;
    int used = snprintf(reader->error, reader->error_size, "%s:%d: ", reader->file, line);
    va_start(arguments, format);
    if (used >= 0 && (size_t)used < reader->error_size) {
        vsnprintf(reader->error + used, reader->error_size - (size_t)used, format, arguments);
    }
    va_end(arguments);
    return false;
}

/* One "key = value" line. */
static bool parse_line(struct reader *reader, char *line)
{
    char why[WHY_SIZE];
    line[strcspn(line, "#")] = '\0';
    char *name = trim(line), *equals = strchr(name, '=');
    if (*name == '\0') {
        return true;
    }
    if (equals == NULL) {
        return complain(reader, reader->line, "'%.80s' is not 'key = value'", name);
    }
    *equals = '\0';
    name = trim(name);
    const struct emu_key *key = key_find(name);
    if (key == NULL) {
        return complain(reader, reader->line,
                        "%.80s: no such key ('pwr-emulator --keys' lists them)", name);
    }
    int *seen = &reader->given[key - emu_keys];
    if (*seen != 0) {
        return complain(reader, reader->line, "%s: already given in line %d", name, *seen);
    }
    *seen = reader->line;
    return emu_key_parse(key, reader->config, trim(equals + 1), why, sizeof why) ||
           complain(reader, reader->line, "%s: %s", name, why);
}

/* Defaults that follow from other keys. */
static void complete(struct emu_config *config)
{
    if (config->pstate_count == 0) {
        for (int khz = config->pstate_min_khz; khz < config->pstate_max_khz; khz += MIN_KHZ) {
            config->pstates_khz[config->pstate_count++] = (uint32_t)khz;
        }
        config->pstates_khz[config->pstate_count++] = (uint32_t)config->pstate_max_khz;
    }
    config->pstate_min_khz = (int)config->pstates_khz[0];
    config->pstate_max_khz = (int)config->pstates_khz[config->pstate_count - 1];
    if (config->base_khz == 0) {
        config->base_khz = config->pstate_max_khz;
    }
    if (config->core_dyn_khz == 0) {
        config->core_dyn_khz = config->base_khz;
    }
}

/* What one key means for another: combinations that no machine has. */
static bool check(const struct reader *reader)
{
    const struct emu_config *config = reader->config;
    const struct emu_driver_traits *driver = emu_driver_of(config);
    bool amd = config->cpu_vendor == EMU_VENDOR_AMD, list = config->pstate_count > 0;
    bool uncore = config->uncore != EMU_UNCORE_NONE;
    int lowest = list ? (int)config->pstates_khz[0] : config->pstate_min_khz;
    int highest =
        list ? (int)config->pstates_khz[config->pstate_count - 1] : config->pstate_max_khz;
    const struct {
        bool wrong;
        const char *key, *why;
    } checks[] = {
        {config->packages * config->cores * config->smt > EMU_MAX_CPUS, "cores",
         "packages x cores x smt is more than 256 CPUs"},
        {amd && config->cpu_family < 23, "cpu_family",
         "AMD processors before family 23 have other registers, and no RAPL"},
        {!(amd ? driver->amd : driver->intel), "cpufreq_driver",
         "does not drive processors of this cpu_vendor"},
        {(config->pstate_min_khz != 0 && config->pstate_min_khz != lowest) ||
             (config->pstate_max_khz != 0 && config->pstate_max_khz != highest),
         "pstates_khz", "its ends are not pstate_min_khz and pstate_max_khz: give one of both"},
        {lowest < MIN_KHZ || highest < lowest, "pstate_min_khz",
         "give pstates_khz, or pstate_min_khz (100000 or more) and a pstate_max_khz not below it"},
        {config->policy_scope != EMU_SCOPE_THREAD && config->driver != EMU_DRIVER_ACPI,
         "policy_scope", "only acpi-cpufreq lets CPUs share a policy"},
        {config->governor >= emu_driver_governors(config), "governor",
         "this cpufreq_driver has only performance and powersave"},
        {config->hwp && (!driver->hwp || amd), "hwp",
         "hardware P-states are Intel's, driven by intel_pstate, intel_cpufreq or nobody"},
        {amd && reader->given[key_find("tstate_step") - emu_keys] != 0, "tstate_step",
         "AMD processors have no T-states"},
        {uncore && amd, "uncore", "AMD processors have no such register"},
        {uncore &&
             (config->uncore_min_khz < MIN_KHZ || config->uncore_max_khz < config->uncore_min_khz),
         "uncore", "give uncore_min_khz (100000 or more) and an uncore_max_khz not below it"},
        {!uncore && config->uncore_w > 0, "uncore", "uncore_w is for uncore = msr or sysfs"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (checks[i].wrong) {
            return complain(reader, reader->given[key_find(checks[i].key) - emu_keys], "%s: %s",
                            checks[i].key, checks[i].why);
        }
    }
    return true;
}

bool emu_config_parse(FILE *stream, const char *name, struct emu_config *config, char *error,
                      size_t error_size)
{
    struct reader reader = {
        .file = name, .config = config, .error = error, .error_size = error_size};
    char line[LINE_SIZE], why[WHY_SIZE];
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < emu_key_count; i++) {
        if (emu_keys[i].fallback != NULL &&
            !emu_key_parse(&emu_keys[i], config, emu_keys[i].fallback, why, sizeof why)) {
            return complain(&reader, 0, "default of %s: %s", emu_keys[i].name, why);
        }
    }
    while (fgets(line, sizeof line, stream) != NULL) {
        reader.line++;
        if (strlen(line) == sizeof line - 1) {
            return complain(&reader, reader.line, "line longer than %d characters", LINE_SIZE - 2);
        }
        if (!parse_line(&reader, line)) {
            return false;
        }
    }
    for (size_t i = 0; i < emu_key_count; i++) {
        if (emu_keys[i].fallback == NULL && reader.given[i] == 0) {
            return complain(&reader, reader.line, "%s: missing, there is no default",
                            emu_keys[i].name);
        }
    }
    if (!check(&reader)) {
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
