/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Faults on demand: rules such as "write msr:0x19a cpu=3 error=EIO after=2 count=1".
 */
#include "config.h"

#include "fault.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const op_names[] = {"read", "write", "open"};

static bool parse_error(struct emu_fault *rule, const char *name)
{
    for (int error = 1; error <= EHWPOISON; error++) { /* Linux's last one */
        const char *known = strerrorname_np(error);
        if (known != NULL && strcmp(known, name) == 0) {
            rule->hit.error = error;
        }
    }
    return rule->hit.error != 0;
}

static bool parse_word(struct emu_fault *rule, const char *word)
{
    char name[16], rest;
    if (strcmp(word, "short") == 0) {
        rule->hit.short_read = true;
        return rule->op == EMU_FAULT_READ;
    }
    if (sscanf(word, "error=%15s", name) == 1) {
        return parse_error(rule, name);
    }
    return strcmp(word, "cpu=*") == 0 || sscanf(word, "cpu=%d%c", &rule->cpu, &rest) == 1 ||
           sscanf(word, "after=%" SCNu64 "%c", &rule->after, &rest) == 1 ||
           sscanf(word, "count=%" SCNu64 "%c", &rule->count, &rest) == 1 ||
           sscanf(word, "delay_us=%" SCNu64 "%c", &rule->hit.delay_us, &rest) == 1;
}

static bool parse_rule(struct emu_fault *rule, const char *line)
{
    char copy[EMU_FAULT_TEXT], op[8], rest;
    int op_end = 0;
    *rule = (struct emu_fault){.cpu = -1, .count = UINT64_MAX};
    if (strlen(line) >= sizeof copy || sscanf(line, "%7s %95s%n", op, rule->target, &op_end) != 2) {
        return false;
    }
    while (rule->op <= EMU_FAULT_OPEN && strcmp(op, op_names[rule->op]) != 0) {
        rule->op++;
    }
    if (rule->op > EMU_FAULT_OPEN) {
        return false;
    }
    if (sscanf(rule->target, "msr:%" SCNx32 "%c", &rule->reg, &rest) == 1) {
        rule->target[0] = '\0';
    }
    strcpy(rule->text, line);
    char *words = strcpy(copy, line + op_end), *word;
    while ((word = strtok_r(words, " ", &words)) != NULL) {
        if (!parse_word(rule, word)) {
            return false;
        }
    }
    return rule->hit.error != 0 || rule->hit.short_read || rule->hit.delay_us > 0;
}

const char *emu_faults_store(struct emu_faults *faults, const char *text)
{
    static char line[256];
    struct emu_faults made = *faults;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        text += length + (text[length] == '\n');
        if (strcmp(line, "clear") == 0) {
            made.count = 0;
        } else if (line[0] != '\0') {
            if (made.count == EMU_MAX_FAULTS || !parse_rule(&made.rules[made.count], line)) {
                return line;
            }
            made.count++;
        }
    }
    *faults = made;
    return NULL;
}

static bool matches(const struct emu_fault *rule, const struct emu_node *node, enum emu_fault_op op,
                    uint32_t reg)
{
    bool registers = node->file != NULL && node->file->registers;
    bool named = rule->target[0] == '\0' ? registers && rule->reg == reg
                                         : strcmp(rule->target, node->name) == 0;
    return named && rule->op == op && (rule->cpu < 0 || rule->cpu == node->index);
}

struct emu_fault_hit emu_faults_ask(struct emu_faults *faults, const struct emu_node *node,
                                    enum emu_fault_op op, uint32_t reg)
{
    bool never = node->file != NULL && node->file->no_faults;
    for (int i = 0; i < faults->count && !never; i++) {
        struct emu_fault *rule = &faults->rules[i];
        if (matches(rule, node, op, reg) && rule->seen++ >= rule->after &&
            rule->hits < rule->count) {
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
