/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The emulated files: a tree built once at start, then only read (permissions apart).
 */
#ifndef EMU_TREE_H
#define EMU_TREE_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "activity.h"
#include "machine.h"
#include "records.h"

enum { EMU_TEXT_LIMIT = 4096 }; /* of a written text, and the size of every file, as in sysfs */

/* What the functions behind a file get to know of a call. */
struct emu_access {
    struct emu_machine *machine;
    struct emu_activity *activity; /* NULL in tests, like the next two */
    struct emu_faults *faults;
    struct emu_csv *trace;
    const struct emu_file *file;
    int index; /* CPU or package, as the file was added */
    uint64_t now_ns;
    pid_t pid; /* who calls */
};

/* What is at one offset of a device: the value of a register, or a mask of CPUs. */
union emu_datum {
    uint64_t value;
    cpu_set_t mask;
};

/* A kind of file. Functions return 0, or an errno for who calls. */
struct emu_file {
    const char *name;
    mode_t mode;
    const char *lever; /* its values go to trace.csv under this name; NULL: they do not */
    int kind;          /* tells files apart that have the same functions */
    bool policy;       /* EBUSY while all CPUs of the policy of its index are offline */
    bool registers;    /* an MSR device: ENXIO while its CPU is offline */
    bool rawio;        /* to open it needs CAP_SYS_RAWIO where the machine file says so */
    bool no_faults;    /* what is broken must be mendable */

    /* A text, shown as a whole and written as a whole: a frequency of a CPU .. */
    uint32_t (*khz)(const struct emu_machine *machine, int cpu);
    int (*set_khz)(struct emu_machine *machine, int cpu, uint32_t khz, uint64_t now_ns);
    /* .. or anything else.  text is trimmed. */
    void (*show)(const struct emu_access *access, FILE *out);
    int (*store)(const struct emu_access *access, const char *text);

    /* A device: size bytes (0: a text) at every offset. */
    size_t size;
    int (*read)(const struct emu_access *access, uint32_t at, union emu_datum *datum);
    int (*write)(const struct emu_access *access, uint32_t at, const union emu_datum *datum);
};

void emu_file_show(const struct emu_access *access, FILE *out);
/* Traces what was written, logs what is refused. EACCES: the file is read-only. */
int emu_file_store(const struct emu_access *access, const char *bytes, size_t size);

/* A line of the trace: the lever has this value from now on. */
void emu_access_trace(const struct emu_access *access, const char *lever, const char *value);
/* Counts and logs a write that is refused; returns error. */
int emu_access_refuse(const struct emu_access *access, const char *value, int error);

struct emu_node {
    char name[48];
    mode_t mode; /* with the kind: a folder, a link, a file */
    uid_t owner;
    int first_child, next; /* indices, 0 (the root) ends a list */
    int index;
    const struct emu_file *file;
    char *text; /* of a link, and of a file that never changes (its file is NULL) */
};

struct emu_tree {
    struct emu_node *nodes; /* 0 is the root */
    int count, room;
};

/* Building. Out of memory ends the program: nothing is served yet. */
void emu_tree_init(struct emu_tree *tree);
/* The folder of that path below parent (0: the root), made as needed. */
int emu_tree_folder(struct emu_tree *tree, int parent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* name NULL: like what it points to. */
void emu_tree_link(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void emu_tree_text(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The files of a list that ends with a NULL name.  mode: permissions of those that can be written,
   negative: as the list says. */
void emu_tree_files(struct emu_tree *tree, int parent, const struct emu_file *files, int index,
                    int mode);
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
void emu_ctl_install(struct emu_tree *tree, const struct emu_machine *machine);

#endif
