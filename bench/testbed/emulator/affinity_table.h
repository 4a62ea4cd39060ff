/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which virtual CPUs each task may run on: a file shared by the processes on an emulated machine
 * (vcpu/vcpu.c writes) and the daemon (reads, and drops entries of dead tasks).
 *
 * An open hash table keyed by thread id, without locks: a client may be killed at any instruction.
 *   - a slot is claimed by compare-and-swap of tid from EMPTY or GONE;
 *   - tid is published (release) after the mask, and read (acquire) before it;
 *   - a mask of several words may be read torn while it is rewritten; the generation counter,
 * bumped after every change, makes the daemon look again. Rejected: a lock in shared memory, which
 * a client killed while holding it would never give back.
 */
#ifndef EMU_AFFINITY_TABLE_H
#define EMU_AFFINITY_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine_file.h"

enum {
    EMU_AFFINITY_MAGIC = 0x70777262,
    EMU_AFFINITY_SLOTS = 4096, /* a power of two */
    EMU_AFFINITY_WORDS = EMU_MAX_CPUS / 64,
    EMU_TID_EMPTY = 0, /* never used: a search ends here */
    EMU_TID_GONE = -1,
    EMU_TID_CLAIMED = -2, /* mask is being written */
};

struct emu_affinity_slot {
    _Atomic int32_t tid;
    _Atomic int32_t cpu; /* where the daemon placed the process, -1: not yet */
    _Atomic uint64_t mask[EMU_AFFINITY_WORDS];
};

struct emu_affinity_table {
    uint32_t magic;
    int32_t cpu_count;
    _Atomic uint32_t generation;
    uint32_t reserved;
    _Atomic uint64_t online[EMU_AFFINITY_WORDS]; /* written by the daemon alone */
    struct emu_affinity_slot slots[EMU_AFFINITY_SLOTS];
};

typedef struct emu_mask {
    uint64_t word[EMU_AFFINITY_WORDS];
} emu_mask_t;

static inline bool emu_mask_has(const emu_mask_t *mask, int cpu)
{
    return (mask->word[cpu / 64] >> (cpu % 64) & 1) != 0;
}

/* Creates the file for a machine of cpu_count CPUs, all online (mode 0666: users of the machine
   write). NULL and errno on failure. */
struct emu_affinity_table *emu_affinity_create(const char *path, int cpu_count);
/* Maps an existing file. NULL if there is none or it is not ours. */
struct emu_affinity_table *emu_affinity_attach(const char *path);
void emu_affinity_detach(struct emu_affinity_table *table);

/* Looks up a task. False if it has no mask. cpu may be NULL. */
bool emu_affinity_get(struct emu_affinity_table *table, pid_t tid, emu_mask_t *mask, int *cpu);
/* Records a mask.  False if the table is full. */
bool emu_affinity_set(struct emu_affinity_table *table, pid_t tid, const emu_mask_t *mask);
/* Hotplug.  Masks stay as recorded. */
void emu_affinity_set_online(struct emu_affinity_table *table, int cpu, bool online);
bool emu_affinity_is_online(const struct emu_affinity_table *table, int cpu);
/* What of the mask is online.  If nothing is, all CPUs that are: the kernel lets such a task run
   anywhere, and takes it back when its CPU returns. */
void emu_affinity_effective(const struct emu_affinity_table *table, emu_mask_t *mask);
void emu_affinity_drop(struct emu_affinity_table *table, pid_t tid);
void emu_affinity_place(struct emu_affinity_table *table, pid_t tid, int cpu);

#endif
