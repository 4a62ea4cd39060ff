/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Faults on demand: which reads, writes and opens of which files fail, come short or take long.
 *
 * Rules are asked in the order they were added; the first that matches and is due answers.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "tree.h"

enum { EMU_MAX_FAULTS = 64, EMU_FAULT_TEXT = 96 };

enum emu_fault_op { EMU_FAULT_READ, EMU_FAULT_WRITE, EMU_FAULT_OPEN };

/* What becomes of one operation; all zero: nothing. */
struct emu_fault_hit {
    int error;       /* errno instead of the operation */
    bool short_read; /* only half of the bytes */
    uint64_t delay_us;
};

struct emu_fault {
    char text[EMU_FAULT_TEXT]; /* as written */
    enum emu_fault_op op;
    char target[EMU_FAULT_TEXT]; /* a file's name; empty: a register, through either device */
    uint32_t reg;
    int cpu; /* -1: any */
    struct emu_fault_hit hit;
    uint64_t after, count; /* skips the first, then acts so many times */
    uint64_t seen, hits;
};

struct emu_faults {
    int count;
    struct emu_fault rules[EMU_MAX_FAULTS];
};

/* Adds the rules of text, one per line, all or none; the line "clear" drops all before it.  Returns
   the first bad line, or NULL. */
const char *emu_faults_store(struct emu_faults *faults, const char *text);

/* What happens to this operation, which is counted.  reg only matters for registers. */
struct emu_fault_hit emu_faults_ask(struct emu_faults *faults, const struct emu_node *node,
                                    enum emu_fault_op op, uint32_t reg);

/* The rules, one per line, each with "hits=N". */
void emu_faults_print(const struct emu_faults *faults, FILE *out);

#endif
