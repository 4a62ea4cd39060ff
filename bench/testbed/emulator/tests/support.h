/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the unit tests share: machines from text.
 */
#ifndef EMU_TEST_SUPPORT_H
#define EMU_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "msr.h"

enum { MS = 1000000, SECOND = 1000000000 };

/* False and a message in error[256] when the text is no machine. */
static inline bool config_parse(const char *text, struct emu_config *config, char error[256])
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    bool good = emu_config_parse(stream, "test.machine", config, error, 256);
    fclose(stream);
    return good;
}

/* A machine of 2 x 4 cores, 1.0 to 2.0 GHz, 10 W per core at 2 GHz; more lines may follow. */
static inline struct emu_machine *machine_new(const char *more, uint64_t now_ns)
{
    static const char base[] = "packages = 2\ncores = 4\npstate_min_khz = 1000000\n"
                               "pstate_max_khz = 2000000\ncore_dyn_w = 10\n";
    char text[2048], error[256];
    struct emu_config config;
    struct emu_machine *machine = malloc(sizeof *machine);
    assert_non_null(machine);
    snprintf(text, sizeof text, "%s%s", base, more);
    if (!config_parse(text, &config, error)) {
        fail_msg("%s", error);
    }
    emu_machine_init(machine, &config, now_ns);
    return machine;
}

/* A write of a CPU's register at now_ns: 0 or errno. */
static inline int msr_write(struct emu_machine *machine, int cpu, uint32_t reg, uint64_t value,
                            uint64_t now_ns)
{
    struct emu_access access = {.machine = machine, .index = cpu, .now_ns = now_ns};
    return emu_msr_write(&access, reg, value);
}

/* What a file of the tree shows, until the next call. */
static inline const char *shown(struct emu_tree *tree, struct emu_machine *machine,
                                const char *folder, const char *name)
{
    static char text[1024];
    const struct emu_node *node =
        &tree->nodes[emu_tree_find(tree, emu_tree_folder(tree, 0, "%s", folder), name)];
    struct emu_access access = {
        .machine = machine, .file = node->file, .index = node->index, .now_ns = 1};
    if (node->text != NULL) {
        return node->text;
    }
    assert_non_null(node->file);
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    emu_file_show(&access, out);
    fclose(out);
    return text;
}

#endif
