/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads machine files: "key = value" lines, '#' starts a comment.
 */
#include "config.h"

#include "machine_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096, KEY_LIMIT = 64, MIN_KHZ = 100000 };

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
    return &drivers[config->cpufreq_driver];
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

/* A file as far as it has been read. */
struct reader {
    const char *file;
    int line;
    const struct key *key; /* what is being read; NULL: no key yet */
    int given[KEY_LIMIT];  /* the line each key was seen in, 0: not yet */
    struct emu_config *config;
    char *error;
    size_t error_size;
};

/* A key that machine files may have. */
struct key {
    const char *name;
    const char *fallback; /* as it would stand in the file; NULL: the key must be given */
    size_t offset;        /* of the field in struct emu_config */
    bool (*parse)(const struct reader *reader, const char *value); /* complains itself */
    double min, max;                                               /* of a number */
    const char *words[8]; /* NULL-terminated, the field takes the index */
};

/* Writes "FILE:LINE: KEY: " and the reason; false. */
__attribute__((format(printf, 2, 3))) static bool complain(const struct reader *reader,
                                                           const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(reader->error, reader->error_size, "%s:%d: %s%s%s", reader->file, reader->line,
             reader->key != NULL ? reader->key->name : "", reader->key != NULL ? ": " : "", why);
    return false;
}

static void *field_of(const struct reader *reader)
{
    return (char *)reader->config + reader->key->offset;
}

/* --- values --- */

static bool is_real(const char *value, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(value, &end);
    return end != value && *end == '\0' && errno == 0 && isfinite(*number);
}

static bool in_range(const struct reader *reader, double number)
{
    const struct key *key = reader->key;
    return (number >= key->min && number <= key->max) ||
           complain(reader, "%.10g is not from %.10g to %.10g", number, key->min, key->max);
}

static bool parse_int(const struct reader *reader, const char *value)
{
    double number;
    if (!is_real(value, &number) || number != floor(number)) {
        return complain(reader, "'%s' is not a whole number", value);
    }
    if (!in_range(reader, number)) {
        return false;
    }
    *(int *)field_of(reader) = (int)number;
    return true;
}

static bool parse_real(const struct reader *reader, const char *value)
{
    double number;
    if (!is_real(value, &number)) {
        return complain(reader, "'%s' is not a number", value);
    }
    *(double *)field_of(reader) = number;
    return in_range(reader, number);
}

static bool parse_word(const struct reader *reader, const char *value)
{
    char known[256] = "";
    for (int i = 0; reader->key->words[i] != NULL; i++) {
        if (strcmp(reader->key->words[i], value) == 0) {
            *(int *)field_of(reader) = i;
            return true;
        }
        strcat(strcat(known, " "), reader->key->words[i]);
    }
    return complain(reader, "'%s' is not one of:%s", value, known);
}

static bool parse_mode(const struct reader *reader, const char *value)
{
    char *end;
    unsigned long mode = strtoul(value, &end, 8);
    *(int *)field_of(reader) = (int)mode;
    return (end != value && *end == '\0' && mode <= 0777) ||
           complain(reader, "'%s' is not an octal mode from 0000 to 0777", value);
}

static bool parse_text(const struct reader *reader, const char *value)
{
    int length = snprintf(field_of(reader), EMU_TEXT_SIZE, "%s", value);
    return length < EMU_TEXT_SIZE ||
           complain(reader, "longer than %d characters", EMU_TEXT_SIZE - 1);
}

static int by_value(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* "2400000 1600000 ...": kHz, any order; kept ascending. */
static bool parse_pstates(const struct reader *reader, const char *value)
{
    struct emu_config *config = reader->config;
    int count = 0;
    for (char *end; *value != '\0'; value = end + strspn(end, " \t")) {
        unsigned long khz = strtoul(value, &end, 10);
        if (end == value || khz < MIN_KHZ || khz > 10000000 || count == EMU_MAX_PSTATES) {
            return complain(reader, "'%s' does not start with a frequency in kHz", value);
        }
        config->pstates_khz[count++] = (uint32_t)khz;
    }
    qsort(config->pstates_khz, (size_t)count, sizeof config->pstates_khz[0], by_value);
    config->pstate_count = count;
    return true;
}

/* "0x19a:0x1f 0x611:0": register and write mask, in hexadecimal. */
static bool parse_msr_rules(const struct reader *reader, const char *value)
{
    int count = 0;
    for (int end = 0; *value != '\0'; value += end + (int)strspn(value + end, " \t")) {
        struct emu_msr_rule rule;
        if (count == EMU_MAX_MSR_RULES ||
            sscanf(value, "%" SCNx32 ":%" SCNx64 "%n", &rule.reg, &rule.write_mask, &end) != 2) {
            return complain(reader, "'%s' does not start with REGISTER:WRITE_MASK", value);
        }
        reader->config->msr_safe_allow[count++] = rule;
    }
    reader->config->msr_safe_count = count;
    return true;
}

static bool parse_activity(const struct reader *reader, const char *value)
{
    double *fixed = &reader->config->fixed_activity;
    *fixed = -1;
    return strcmp(value, "measured") == 0 ||
           (strncmp(value, "fixed:", 6) == 0 && is_real(value + 6, fixed) && *fixed >= 0 &&
            *fixed <= 1) ||
           complain(reader, "'%s' is neither 'measured' nor 'fixed:X' with X from 0 to 1", value);
}

/* --- keys --- */

/* The default comes second, NULL: there is none. */
#define KEY(field, standard, ...)                                                                  \
    {                                                                                              \
        .name = #field, .fallback = (standard), .offset = offsetof(struct emu_config, field),      \
        .parse = __VA_ARGS__                                                                       \
    }
#define INT(field, fallback, low, high) KEY(field, fallback, parse_int, .min = (low), .max = (high))
#define REAL(field, fallback, low, high)                                                           \
    KEY(field, fallback, parse_real, .min = (low), .max = (high))
#define WORD(field, fallback, ...) KEY(field, fallback, parse_word, .words = {__VA_ARGS__})
#define BOOL(field, fallback) WORD(field, fallback, "no", "yes")

/* README.md says what they mean. */
static const struct key keys[] = {
    KEY(name, "emulated", parse_text),
    INT(packages, NULL, 1, EMU_MAX_PACKAGES),
    INT(cores, NULL, 1, EMU_MAX_CPUS),
    INT(smt, "1", 1, EMU_MAX_SMT),
    WORD(cpu_numbering, "packed", "packed", "scattered"),
    INT(memory_mb, "8192", 1, 1 << 30),
    WORD(cpu_vendor, "GenuineIntel", "GenuineIntel", "AuthenticAMD"),
    INT(cpu_family, "6", 0, 255),
    INT(cpu_model, "85", 0, 255),
    INT(cpu_stepping, "4", 0, 15),
    KEY(cpu_name, "Emulated processor", parse_text),

    WORD(cpufreq_driver, "acpi-cpufreq", "acpi-cpufreq", "intel_pstate", "intel_cpufreq",
         "amd-pstate", "amd-pstate-epp", "none"),
    KEY(pstates_khz, "", parse_pstates),
    INT(pstate_min_khz, "0", 0, 10000000),
    INT(pstate_max_khz, "0", 0, 10000000),
    INT(base_khz, "0", 0, 10000000),
    WORD(pstate_scope, "core", "thread", "core", "package"),
    WORD(policy_scope, "thread", "thread", "core", "package"),
    WORD(governor, "performance", "performance", "powersave", "userspace", "ondemand", "schedutil"),
    BOOL(hwp, "no"),

    WORD(tstate_step, "12.5", "12.5", "6.25"),
    WORD(tstate_scope, "core", "thread", "core", "package"),
    WORD(tstate_rule, "lowest", "highest", "lowest"),

    WORD(uncore, "none", "none", "msr", "sysfs"),
    INT(uncore_min_khz, "0", 0, 12700000),
    INT(uncore_max_khz, "0", 0, 12700000),

    BOOL(rapl, "yes"),
    INT(rapl_energy_unit, "14", 0, 31),
    INT(rapl_dram_unit, "16", 0, 31),
    INT(rapl_update_us, "1000", 1, 1000000),
    REAL(rapl_start, "0", 0, 4294967295.0),
    BOOL(powercap, "yes"),
    REAL(tdp_w, "80", 1, 10000),

    REAL(core_dyn_w, NULL, 0, 1000),
    INT(core_dyn_khz, "0", 0, 10000000),
    REAL(core_dyn_exponent, "1.83", 0, 5),
    REAL(core_idle_w, "1", 0, 1000),
    REAL(package_static_w, "0", 0, 10000),
    REAL(uncore_w, "0", 0, 10000),
    REAL(dram_static_w, "0", 0, 10000),
    REAL(dram_dyn_w, "0", 0, 10000),
    REAL(platform_static_w, "0", 0, 100000),

    KEY(msr_mode, "0600", parse_mode),
    KEY(msr_safe_allow, "", parse_msr_rules),
    KEY(sysfs_mode, "0644", parse_mode),
    BOOL(require_rawio, "no"),

    {.name = "activity", .fallback = "measured", .parse = parse_activity},
    INT(ledger_interval_ms, "50", 1, 60000),
};
enum { KEYS = sizeof keys / sizeof keys[0] };
_Static_assert(sizeof keys / sizeof keys[0] <= KEY_LIMIT, "room for every key");

/* NULL: there is none. */
static const struct key *key_find(const char *name)
{
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

/* --- files --- */

/* One "key = value" line. */
static bool parse_line(struct reader *reader, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *name = trim(line), *equals = strchr(name, '=');
    reader->key = NULL;
    if (*name == '\0') {
        return true;
    }
    if (equals == NULL) {
        return complain(reader, "'%.80s' is not 'key = value'", name);
    }
    *equals = '\0';
    name = trim(name);
    const struct key *key = key_find(name);
    if (key == NULL) {
        return complain(reader, "%.80s: no such key (README.md lists them)", name);
    }
    reader->key = key;
    int *seen = &reader->given[key - keys];
    if (*seen != 0) {
        return complain(reader, "already given in line %d", *seen);
    }
    *seen = reader->line;
    return key->parse(reader, trim(equals + 1));
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
static bool check(struct reader *reader)
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
        {config->policy_scope != EMU_SCOPE_THREAD && config->cpufreq_driver != EMU_DRIVER_ACPI,
         "policy_scope", "only acpi-cpufreq lets CPUs share a policy"},
        {config->governor >= emu_driver_governors(config), "governor",
         "this cpufreq_driver has only performance and powersave"},
        {config->hwp && (!driver->hwp || amd), "hwp",
         "hardware P-states are Intel's, driven by intel_pstate, intel_cpufreq or nobody"},
        {amd && reader->given[key_find("tstate_step") - keys] != 0, "tstate_step",
         "AMD processors have no T-states"},
        {uncore && amd, "uncore", "AMD processors have no such register"},
        {uncore &&
             (config->uncore_min_khz < MIN_KHZ || config->uncore_max_khz < config->uncore_min_khz),
         "uncore", "give uncore_min_khz (100000 or more) and an uncore_max_khz not below it"},
        {!uncore && config->uncore_w > 0, "uncore", "uncore_w is for uncore = msr or sysfs"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (checks[i].wrong) {
            reader->key = key_find(checks[i].key);
            reader->line = reader->given[reader->key - keys];
            return complain(reader, "%s", checks[i].why);
        }
    }
    return true;
}

bool emu_config_parse(FILE *stream, const char *name, struct emu_config *config, char *error,
                      size_t error_size)
{
    struct reader reader = {
        .file = name, .config = config, .error = error, .error_size = error_size};
    char line[LINE_SIZE];
    memset(config, 0, sizeof *config);
    for (reader.key = keys; reader.key < keys + KEYS; reader.key++) {
        if (reader.key->fallback != NULL && !reader.key->parse(&reader, reader.key->fallback)) {
            return false;
        }
    }
    while (fgets(line, sizeof line, stream) != NULL) {
        reader.line++;
        if (strlen(line) == sizeof line - 1) {
            reader.key = NULL;
            return complain(&reader, "line longer than %d characters", LINE_SIZE - 2);
        }
        if (!parse_line(&reader, line)) {
            return false;
        }
    }
    for (reader.key = keys; reader.key < keys + KEYS; reader.key++) {
        if (reader.key->fallback == NULL && reader.given[reader.key - keys] == 0) {
            return complain(&reader, "missing, there is no default");
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
