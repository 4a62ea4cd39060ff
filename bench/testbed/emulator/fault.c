/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Faults on demand: rules such as "write msr:0x19a cpu=3 error=EIO after=2 count=1".
 */
#include "config.h"

#include "fault.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[] = {"read", "write", "open"};

static const struct {
    const char *name;
    int number;
} error_names[] = {
    {"EIO", EIO},       {"EACCES", EACCES}, {"EPERM", EPERM},
    {"ENOENT", ENOENT}, {"ENOSPC", ENOSPC}, {"ENODEV", ENODEV},
    {"ENXIO", ENXIO},   {"EBUSY", EBUSY},   {"EINVAL", EINVAL},
};

/* --- reading rules --- */

static bool parse_count(const char *text, int base, uint64_t limit, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, base);
    return isxdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *number <= limit;
}

static bool parse_error(struct emu_fault *rule, const char *value)
{
    for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++) {
        if (strcmp(error_names[i].name, value) == 0) {
            rule->hit.error = error_names[i].number;
            return true;
        }
    }
    return false;
}

static bool parse_cpu(struct emu_fault *rule, const char *value)
{
    uint64_t number = 0;
    bool any = strcmp(value, "*") == 0;
    bool good = any || parse_count(value, 10, EMU_MAX_CPUS - 1, &number);
    rule->cpu = any ? -1 : (int)number;
    return good;
}

static bool parse_after(struct emu_fault *rule, const char *value)
{
    return parse_count(value, 10, UINT64_MAX, &rule->after);
}

static bool parse_times(struct emu_fault *rule, const char *value)
{
    return parse_count(value, 10, UINT64_MAX, &rule->count) && rule->count > 0;
}

static bool parse_delay(struct emu_fault *rule, const char *value)
{
    return parse_count(value, 10, 60000000, &rule->hit.delay_us) && rule->hit.delay_us > 0;
}

static const struct {
    const char *key;
    bool (*parse)(struct emu_fault *rule, const char *value);
    const char *expects;
} words[] = {
    {"error", parse_error, "EIO EACCES EPERM ENOENT ENOSPC ENODEV ENXIO EBUSY EINVAL"},
    {"cpu", parse_cpu, "* or a CPU's number"},
    {"after", parse_after, "how many to let pass"},
    {"count", parse_times, "how many to fail, 1 or more"},
    {"delay_us", parse_delay, "microseconds, 1 to 60000000"},
};

static bool parse_word(struct emu_fault *rule, char *word, char *why, size_t why_size)
{
    if (strcmp(word, "short") == 0) {
        rule->hit.short_read = true;
        return true;
    }
    char *equals = strchr(word, '=');
    for (size_t i = 0; equals != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(words[i].key, word, (size_t)(equals - word)) != 0 ||
            words[i].key[equals - word] != '\0') {
            continue;
        }
        if (!words[i].parse(rule, equals + 1)) {
            snprintf(why, why_size, "'%.60s': %s is %s", word, words[i].key, words[i].expects);
            return false;
        }
        return true;
    }
    snprintf(why, why_size, "'%.60s' is none of error= cpu= after= count= delay_us= short", word);
    return false;
}

/* "msr:0x19a" is the register through either device, "msr_safe:0x19a" through that one. */
static bool parse_target(struct emu_fault *rule, char *word, char *why, size_t why_size)
{
    char *colon = strncmp(word, "msr:", 4) == 0 || strncmp(word, "msr_safe:", 9) == 0
                      ? strchr(word, ':')
                      : NULL;
    if (colon != NULL) {
        uint64_t reg;
        *colon = '\0';
        rule->any_device = strcmp(word, "msr") == 0;
        rule->has_reg = true;
        if (!parse_count(colon + 1, 0, UINT32_MAX, &reg)) {
            snprintf(why, why_size, "'%.60s' is no register", colon + 1);
            return false;
        }
        rule->reg = (uint32_t)reg;
    }
    snprintf(rule->target, sizeof rule->target, "%s", word);
    return true;
}

static bool parse_op(struct emu_fault *rule, const char *word, char *why, size_t why_size)
{
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, op_names[i]) == 0) {
            rule->op = (enum emu_fault_op)i;
            return true;
        }
    }
    snprintf(why, why_size, "'%.60s' is none of read write open clear", word);
    return false;
}

/* What the words of a rule mean together. */
static const char *check(const struct emu_fault *rule)
{
    if (rule->target[0] == '\0') {
        return "no file is named";
    }
    if (rule->hit.error == 0 && !rule->hit.short_read && rule->hit.delay_us == 0) {
        return "nothing is to happen: error=, short or delay_us= is missing";
    }
    if (rule->hit.short_read && (rule->op != EMU_FAULT_READ || rule->hit.error != 0)) {
        return "only a read that succeeds can be short";
    }
    if (rule->has_reg && rule->op == EMU_FAULT_OPEN) {
        return "a register cannot be opened, msr and msr_safe can";
    }
    return NULL;
}

static bool parse_rule(struct emu_fault *rule, const char *line, char *why, size_t why_size)
{
    *rule = (struct emu_fault){.cpu = -1, .count = UINT64_MAX};
    char copy[EMU_FAULT_TEXT], *rest = copy, *word;
    if (strlen(line) >= sizeof copy) {
        snprintf(why, why_size, "longer than %d characters", EMU_FAULT_TEXT - 1);
        return false;
    }
    strcpy(rule->text, line);
    strcpy(copy, line);
    for (int i = 0; (word = strtok_r(rest, " \t", &rest)) != NULL; i++) {
        bool good = i == 0   ? parse_op(rule, word, why, why_size)
                    : i == 1 ? parse_target(rule, word, why, why_size)
                             : parse_word(rule, word, why, why_size);
        if (!good) {
            return false;
        }
    }
    const char *wrong = check(rule);
    if (wrong != NULL) {
        snprintf(why, why_size, "%s", wrong);
    }
    return wrong == NULL;
}

static bool add(struct emu_faults *faults, const char *line, char *why, size_t why_size)
{
    if (line[strspn(line, " \t")] == '\0') {
        return true;
    }
    if (strcmp(line, "clear") == 0) {
        faults->count = 0;
        return true;
    }
    if (faults->count == EMU_MAX_FAULTS) {
        snprintf(why, why_size, "there are %d rules already", EMU_MAX_FAULTS);
        return false;
    }
    char reason[EMU_FAULT_TEXT];
    if (!parse_rule(&faults->rules[faults->count], line, reason, sizeof reason)) {
        snprintf(why, why_size, "fault '%.80s': %s", line, reason);
        return false;
    }
    faults->count++;
    return true;
}

bool emu_faults_store(struct emu_faults *faults, const char *text, char *why, size_t why_size)
{
    struct emu_faults *made = malloc(sizeof *made);
    char *copy = strdup(text), *rest = copy, *line;
    bool good = made != NULL && copy != NULL;
    if (good) {
        *made = *faults;
    } else {
        snprintf(why, why_size, "out of memory");
    }
    while (good && (line = strsep(&rest, "\n")) != NULL) {
        good = add(made, line, why, why_size);
    }
    if (good) {
        *faults = *made;
    }
    free(copy);
    free(made);
    return good;
}

/* --- asking them --- */

static bool names(const struct emu_fault *rule, const struct emu_node *node, const char *path,
                  uint32_t reg)
{
    bool device = node->kind == EMU_NODE_MSR || node->kind == EMU_NODE_MSR_SAFE;
    if (rule->has_reg && (!device || rule->reg != reg)) {
        return false;
    }
    if (rule->any_device) {
        return true;
    }
    return strchr(rule->target, '/') != NULL ? fnmatch(rule->target, path, 0) == 0
                                             : strcmp(rule->target, node->name) == 0;
}

struct emu_fault_hit emu_faults_ask(struct emu_faults *faults, const struct emu_tree *tree,
                                    int number, enum emu_fault_op op, uint32_t reg)
{
    const struct emu_node *node = &tree->nodes[number];
    char path[256] = "";
    if (faults->count > 0) {
        emu_tree_path_of(tree, number, path, sizeof path);
    }
    if (strncmp(path, "ctl/", 4) == 0) { /* what is broken must be mendable */
        return (struct emu_fault_hit){0};
    }
    for (int i = 0; i < faults->count; i++) {
        struct emu_fault *rule = &faults->rules[i];
        if (rule->op != op || (rule->cpu >= 0 && rule->cpu != node->index) ||
            !names(rule, node, path, reg)) {
            continue;
        }
        if (rule->seen++ >= rule->after && rule->hits < rule->count) {
            rule->hits++;
            return rule->hit;
        }
    }
    return (struct emu_fault_hit){0};
}

void emu_faults_print(const struct emu_faults *faults, FILE *out)
{
    for (int i = 0; i < faults->count; i++) {
        fprintf(out, "%s hits=%" PRIu64 "\n", faults->rules[i].text, faults->rules[i].hits);
    }
}
