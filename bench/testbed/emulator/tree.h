/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The emulated files: a tree built once at start, then only read (permissions apart).  What an
 * offline CPU has no longer stays in the tree behind a gate.
 */
#ifndef EMU_TREE_H
#define EMU_TREE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "activity.h"
#include "csv_file.h"
#include "machine.h"

/* What the functions behind a file get to know. The machine's lock is held. */
struct emu_access {
    struct emu_machine *machine;
    struct emu_activity *activity;       /* NULL: fixed */
    struct emu_affinity_table *affinity; /* NULL in tests, like the two below */
    struct emu_csv *trace;
    struct emu_faults *faults;
    int index; /* CPU or package, as the file was added */
    uint64_t now_ns;
    pid_t pid; /* who writes */
};

/* A text file: shown as a whole, written as a whole. */
struct emu_attribute {
    const char *name;
    mode_t mode;
    void (*show)(const struct emu_access *access, FILE *out);
    /* text is trimmed. 0, or an errno for the writer.  NULL: read-only. */
    int (*store)(const struct emu_access *access, const char *text);
    const char *lever; /* its values go to trace.csv under this name; NULL: they do not */
};

enum emu_node_kind {
    EMU_NODE_FOLDER,
    EMU_NODE_LINK,
    EMU_NODE_TEXT,
    EMU_NODE_ATTRIBUTE,
    EMU_NODE_MSR,
    EMU_NODE_MSR_SAFE
};

/* What a folder does while the CPU of its index is offline. */
enum emu_gate {
    EMU_GATE_NONE,
    EMU_GATE_VANISH, /* it is not there; files in it that were opened before give ENODEV */
    EMU_GATE_POLICY, /* once all CPUs of the policy are offline, files in it give EBUSY */
};

struct emu_node {
    char name[48];
    enum emu_node_kind kind;
    enum emu_gate gate;
    mode_t mode;
    uid_t owner;
    int parent, first_child, next; /* indices, 0 (the root) ends a list */
    int index;
    const struct emu_attribute *attribute;
    char *text; /* of TEXT and LINK */
};

struct emu_tree {
    struct emu_node *nodes; /* 0 is the root */
    int count, room;
};

/* Building. Out of memory ends the program: nothing is served yet. */
void emu_tree_init(struct emu_tree *tree);
int emu_tree_folder(struct emu_tree *tree, int parent, const char *name);
/* A path of folders from the root, made as needed. */
int emu_tree_path(struct emu_tree *tree, const char *path);
/* A folder with a gate, for a CPU. */
int emu_tree_gated(struct emu_tree *tree, int parent, const char *name, enum emu_gate gate,
                   int cpu);
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

/* The node's path from the root, without a '/' in front. */
void emu_tree_path_of(const struct emu_tree *tree, int node, char *path, size_t size);

/* Why a file or folder cannot be used now, or 0: the gates above it; ENXIO for the registers of an
   offline CPU. */
int emu_tree_barred(const struct emu_tree *tree, const struct emu_machine *machine, int node);

/* A number as a store gets it: decimal digits and nothing else. */
bool emu_parse_u32(const char *text, uint32_t *number);

/* The parts of the tree; each file fills its own. */
void emu_topology_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_hotplug_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_cpufreq_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_uncore_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_powercap_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_msr_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_procfs_install(struct emu_tree *tree, const struct emu_machine *machine);
void emu_ctl_install(struct emu_tree *tree, const struct emu_machine *machine);

#endif
