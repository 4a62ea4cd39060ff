/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The emulated files: a tree built once at start, then only read (permissions apart).
 */
#ifndef EMU_TREE_H
#define EMU_TREE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "activity.h"
#include "machine.h"

/* What the functions behind a file get to know. The machine's lock is held. */
struct emu_access {
    struct emu_machine *machine;
    struct emu_activity *activity; /* NULL in tests, like the next */
    struct emu_faults *faults;
    int index; /* CPU or package, as the file was added */
    int kind;  /* of the attribute */
    uint64_t now_ns;
    pid_t pid; /* who writes */
};

/* A text file: shown as a whole, written as a whole. */
struct emu_attribute {
    const char *name;
    mode_t mode;
    const char *lever; /* its values go to trace.csv under this name; NULL: they do not */
    int kind;          /* tells files apart that have the same functions */

    /* A frequency of a CPU.  set_khz returns 0 or an errno for the writer. */
    uint32_t (*khz)(const struct emu_machine *machine, int cpu);
    int (*set_khz)(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
    /* Anything else.  text is trimmed. */
    void (*show)(const struct emu_access *access, FILE *out);
    int (*store)(const struct emu_access *access, const char *text);
};

void emu_attribute_show(const struct emu_attribute *attribute, struct emu_access access, FILE *out);
/* 0, or an errno for the writer: EACCES for what is read-only. */
int emu_attribute_store(const struct emu_attribute *attribute, struct emu_access access,
                        const char *text);

enum emu_node_kind {
    EMU_NODE_FOLDER,
    EMU_NODE_LINK,
    EMU_NODE_TEXT,
    EMU_NODE_ATTRIBUTE,
    EMU_NODE_MSR,
    EMU_NODE_MSR_SAFE,
    EMU_NODE_AFFINITY, /* a task's mask, a cpu_set_t, is at the offset of its number */
};

struct emu_node {
    char name[48];
    enum emu_node_kind kind;
    mode_t mode;
    uid_t owner;
    int parent, first_child, next; /* indices, 0 (the root) ends a list */
    int index;
    bool policy; /* EBUSY while all CPUs of the policy of its index are offline */
    const struct emu_attribute *attribute;
    char *text; /* of TEXT and LINK */
};

struct emu_tree {
    struct emu_node *nodes; /* 0 is the root */
    int count, room;
};

/* Building. Out of memory ends the program: nothing is served yet. */
void emu_tree_init(struct emu_tree *tree);
int emu_tree_folder(struct emu_tree *tree, int parent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A path of folders from the root, made as needed. */
int emu_tree_path(struct emu_tree *tree, const char *path);
void emu_tree_link(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void emu_tree_text(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct emu_node *emu_tree_attribute(struct emu_tree *tree, int parent,
                                    const struct emu_attribute *attribute, int index);
void emu_tree_device(struct emu_tree *tree, int parent, const char *name, enum emu_node_kind kind,
                     mode_t mode, int index);
void emu_tree_free(struct emu_tree *tree);

/* Index of the child, or 0. */
int emu_tree_find(const struct emu_tree *tree, int parent, const char *name);

/* The parts of the tree; each file fills its own. */
void emu_topology_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_cpufreq_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_uncore_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_powercap_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_msr_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_procfs_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_ctl_install(struct emu_tree *tree);

#endif
