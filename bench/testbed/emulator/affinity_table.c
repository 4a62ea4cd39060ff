/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Which virtual CPUs each task may run on.
 */
#include "config.h"

#include "affinity_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct emu_affinity_table *map(int fd)
{
    void *memory =
        mmap(NULL, sizeof(struct emu_affinity_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct emu_affinity_table *emu_affinity_create(const char *path, int cpu_count)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return NULL;
    }
    struct emu_affinity_table *table = NULL;
    /* fallocate: a full disk must show here, not as SIGBUS in somebody's program */
    int error = posix_fallocate(fd, 0, sizeof *table);
    if (error != 0) {
        errno = error;
    } else if (fchmod(fd, 0666) == 0) { /* whatever the umask */
        table = map(fd);
    }
    close(fd);
    if (table != NULL) {
        table->cpu_count = cpu_count;
        for (int cpu = 0; cpu < cpu_count; cpu++) {
            emu_affinity_set_online(table, cpu, true);
        }
        table->magic = EMU_AFFINITY_MAGIC;
    }
    return table;
}

struct emu_affinity_table *emu_affinity_attach(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    struct stat status;
    struct emu_affinity_table *table = NULL;
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof *table) {
        table = map(fd);
    }
    close(fd);
    if (table != NULL && (table->magic != EMU_AFFINITY_MAGIC || table->cpu_count <= 0 ||
                          table->cpu_count > EMU_MAX_CPUS)) {
        emu_affinity_detach(table);
        table = NULL;
    }
    return table;
}

void emu_affinity_detach(struct emu_affinity_table *table)
{
    munmap(table, sizeof *table);
}

static unsigned hash(pid_t tid)
{
    return ((unsigned)tid * 2654435761u) >> 20 & (EMU_AFFINITY_SLOTS - 1);
}

static struct emu_affinity_slot *find(struct emu_affinity_table *table, pid_t tid)
{
    for (unsigned i = 0; i < EMU_AFFINITY_SLOTS; i++) {
        struct emu_affinity_slot *slot = &table->slots[(hash(tid) + i) & (EMU_AFFINITY_SLOTS - 1)];
        int32_t owner = atomic_load_explicit(&slot->tid, memory_order_acquire);
        if (owner == tid) {
            return slot;
        }
        if (owner == EMU_TID_EMPTY) {
            return NULL;
        }
    }
    return NULL;
}

static struct emu_affinity_slot *claim(struct emu_affinity_table *table, pid_t tid)
{
    for (unsigned i = 0; i < EMU_AFFINITY_SLOTS; i++) {
        struct emu_affinity_slot *slot = &table->slots[(hash(tid) + i) & (EMU_AFFINITY_SLOTS - 1)];
        int32_t owner = atomic_load_explicit(&slot->tid, memory_order_relaxed);
        while (owner == EMU_TID_EMPTY || owner == EMU_TID_GONE) {
            if (atomic_compare_exchange_weak_explicit(&slot->tid, &owner, EMU_TID_CLAIMED,
                                                      memory_order_acquire, memory_order_relaxed)) {
                return slot;
            }
        }
    }
    return NULL;
}

static void changed(struct emu_affinity_table *table)
{
    atomic_fetch_add_explicit(&table->generation, 1, memory_order_release);
}

bool emu_affinity_get(struct emu_affinity_table *table, pid_t tid, emu_mask_t *mask, int *cpu)
{
    /* 0 is a parent outside the PID namespace, and the mark of a free slot */
    struct emu_affinity_slot *slot = tid > 0 ? find(table, tid) : NULL;
    if (slot == NULL) {
        return false;
    }
    for (int i = 0; i < EMU_AFFINITY_WORDS; i++) {
        mask->word[i] = atomic_load_explicit(&slot->mask[i], memory_order_relaxed);
    }
    if (cpu != NULL) {
        *cpu = atomic_load_explicit(&slot->cpu, memory_order_relaxed);
    }
    return true;
}

bool emu_affinity_set(struct emu_affinity_table *table, pid_t tid, const emu_mask_t *mask)
{
    struct emu_affinity_slot *slot = find(table, tid);
    bool fresh = slot == NULL;
    if (fresh) {
        slot = claim(table, tid);
        if (slot == NULL) {
            return false;
        }
        atomic_store_explicit(&slot->cpu, -1, memory_order_relaxed);
    }
    for (int i = 0; i < EMU_AFFINITY_WORDS; i++) {
        atomic_store_explicit(&slot->mask[i], mask->word[i], memory_order_relaxed);
    }
    if (fresh) {
        atomic_store_explicit(&slot->tid, tid, memory_order_release);
        /* the same task recorded by two others at once: the first slot of the search stays */
        if (find(table, tid) != slot) {
            atomic_store_explicit(&slot->tid, EMU_TID_GONE, memory_order_release);
        }
    }
    changed(table);
    return true;
}

void emu_affinity_drop(struct emu_affinity_table *table, pid_t tid)
{
    struct emu_affinity_slot *slot = find(table, tid);
    if (slot != NULL) {
        atomic_store_explicit(&slot->tid, EMU_TID_GONE, memory_order_release);
        changed(table);
    }
}

void emu_affinity_place(struct emu_affinity_table *table, pid_t tid, int cpu)
{
    struct emu_affinity_slot *slot = find(table, tid);
    if (slot != NULL) {
        atomic_store_explicit(&slot->cpu, cpu, memory_order_relaxed);
    }
}

void emu_affinity_set_online(struct emu_affinity_table *table, int cpu, bool online)
{
    uint64_t bit = UINT64_C(1) << (cpu % 64);
    if (online) {
        atomic_fetch_or_explicit(&table->online[cpu / 64], bit, memory_order_relaxed);
    } else {
        atomic_fetch_and_explicit(&table->online[cpu / 64], ~bit, memory_order_relaxed);
    }
    changed(table);
}

bool emu_affinity_is_online(const struct emu_affinity_table *table, int cpu)
{
    uint64_t word = atomic_load_explicit(&table->online[cpu / 64], memory_order_relaxed);
    return (word >> (cpu % 64) & 1) != 0;
}

void emu_affinity_effective(const struct emu_affinity_table *table, emu_mask_t *mask)
{
    uint64_t online[EMU_AFFINITY_WORDS], any = 0;
    for (int i = 0; i < EMU_AFFINITY_WORDS; i++) {
        online[i] = atomic_load_explicit(&table->online[i], memory_order_relaxed);
        any |= mask->word[i] & online[i];
    }
    for (int i = 0; i < EMU_AFFINITY_WORDS; i++) {
        mask->word[i] = any != 0 ? mask->word[i] & online[i] : online[i];
    }
}
