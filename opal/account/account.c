/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Tables of sums (pwr/account.h): a hash table of kinds with open addressing, from which nothing is
 * ever removed.
 */
#include "config.h"

#include "pwr/account.h"

#include <pthread.h>
#include <string.h>

/* A key: used, communicator, collective, algorithm + 1, size class. */
#define USED (UINT64_C(1) << 63)
enum { COMM_SHIFT = 48, OPERATION_SHIFT = 32, ALGORITHM_SHIFT = 16, PART_MASK = 0xffff };
enum { COMM_MASK = 0x7fff };

_Static_assert((PWR_ACCOUNT_CELLS & (PWR_ACCOUNT_CELLS - 1)) == 0, "a power of two");
_Static_assert((int)PWR_ACCOUNT_COMMS <= (int)COMM_MASK, "fits the key");

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- communicators ---- */

static bool is(const pwr_account_comm_t *comm, const char *name, uint64_t size)
{
    return comm->size == size && strncmp(comm->name, name, sizeof comm->name - 1) == 0;
}

static unsigned find_comm(pwr_account_t *account, const char *name, uint64_t size)
{
    for (unsigned i = PWR_ACCOUNT_OTHERS + 1; i < PWR_ACCOUNT_COMMS; i++) {
        pwr_account_comm_t *comm = &account->comms[i];
        if (comm->size == 0) {
            strncpy(comm->name, name, sizeof comm->name - 1);
            comm->size = size;
            return i;
        }
        if (is(comm, name, size)) {
            return i;
        }
    }
    return PWR_ACCOUNT_OTHERS;
}

unsigned pwr_account_comm(pwr_account_t *account, const char *name, uint64_t size)
{
    if (size == 0) {
        return PWR_ACCOUNT_OTHERS;
    }
    pthread_mutex_lock(&names_lock);
    unsigned number = find_comm(account, name, size);
    pthread_mutex_unlock(&names_lock);
    return number;
}

/* ---- regions ---- */

static pwr_account_region_t *find_region(pwr_account_t *account, const char *name)
{
    for (unsigned i = PWR_ACCOUNT_OTHERS + 1; i < PWR_ACCOUNT_REGIONS; i++) {
        pwr_account_region_t *region = &account->regions[i];
        if (region->name[0] == '\0') {
            strncpy(region->name, name, sizeof region->name - 1);
            return region;
        }
        if (strncmp(region->name, name, sizeof region->name - 1) == 0) {
            return region;
        }
    }
    return &account->regions[PWR_ACCOUNT_OTHERS];
}

pwr_account_region_t *pwr_account_region(pwr_account_t *account, const char *name)
{
    pthread_mutex_lock(&names_lock);
    pwr_account_region_t *region = find_region(account, name);
    pthread_mutex_unlock(&names_lock);
    return region;
}

void pwr_account_enter(pwr_account_t *account, const pwr_account_region_t *region, uint64_t ns,
                       uint64_t cpu_ns)
{
    pwr_account_region_t *before = pwr_account_open_region(account);
    pwr_account_now_t *now = &account->now;
    if (before) {
        before->ns += ns - now->since_ns;
        before->cpu_ns += cpu_ns - now->since_cpu_ns;
    }
    now->since_ns = ns;
    now->since_cpu_ns = cpu_ns;
    atomic_store_explicit(&now->region, region ? (uint32_t)(region - account->regions) + 1 : 0,
                          memory_order_relaxed);
}

/* ---- cells ---- */

static uint64_t key_of(const pwr_account_kind_t *kind)
{
    return USED | (uint64_t)(kind->comm & COMM_MASK) << COMM_SHIFT |
           (uint64_t)(kind->operation & PART_MASK) << OPERATION_SHIFT |
           (uint64_t)((unsigned)(kind->algorithm + 1) & PART_MASK) << ALGORITHM_SHIFT |
           (kind->size_class & PART_MASK);
}

pwr_account_kind_t pwr_account_kind(const pwr_account_cell_t *cell)
{
    uint64_t key = atomic_load_explicit(&cell->key, memory_order_relaxed);
    return (pwr_account_kind_t){
        .comm = (unsigned)(key >> COMM_SHIFT) & COMM_MASK,
        .operation = (unsigned)(key >> OPERATION_SHIFT) & PART_MASK,
        .algorithm = (int)((unsigned)(key >> ALGORITHM_SHIFT) & PART_MASK) - 1,
        .size_class = (unsigned)key & PART_MASK,
    };
}

/* Fibonacci hashing: the golden ratio spreads keys that differ in few bits. */
static unsigned first_place(uint64_t key)
{
    return (unsigned)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % PWR_ACCOUNT_CELLS;
}

/* Whether the cell is, or becomes, that of the key. */
static bool take(pwr_account_cell_t *cell, uint64_t key)
{
    uint64_t before = 0;
    return atomic_compare_exchange_strong_explicit(&cell->key, &before, key, memory_order_relaxed,
                                                   memory_order_relaxed) ||
           before == key;
}

pwr_account_cell_t *pwr_account_cell(pwr_account_t *account, const pwr_account_kind_t *kind)
{
    uint64_t key = key_of(kind);
    unsigned place = first_place(key);
    for (unsigned i = 0; i < PWR_ACCOUNT_CELLS; i++) {
        pwr_account_cell_t *cell = &account->cells[(place + i) % PWR_ACCOUNT_CELLS];
        if (take(cell, key)) {
            return cell;
        }
    }
    return &account->rest;
}

void pwr_account_add_in_threads(pwr_account_sums_t *sums, const pwr_account_sums_t *call)
{
    uint64_t *to = (uint64_t *)sums;
    const uint64_t *from = (const uint64_t *)call;
    for (int i = 0; i < PWR_ACCOUNT_SUMS; i++) {
        if (&to[i] != &sums->longest_ns) {
            __atomic_fetch_add(&to[i], from[i], __ATOMIC_RELAXED);
        }
    }
    uint64_t longest = __atomic_load_n(&sums->longest_ns, __ATOMIC_RELAXED);
    while (longest < call->longest_ns &&
           !__atomic_compare_exchange_n(&sums->longest_ns, &longest, call->longest_ns, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Sums may be another process's, and wrong: nothing here can overflow. */
double pwr_account_cpu_ns(const pwr_account_sums_t *sums)
{
    double measured = (double)sums->cpu_ns;
    double measured_of = (double)sums->cpu_of_ns;
    double others_of = (double)sums->ns - (double)sums->sleep_ns - measured_of;
    if (measured <= 0.0 || others_of <= 0.0) {
        return measured;
    }
    return measured + others_of * (measured < measured_of ? measured / measured_of : 1.0);
}

const pwr_account_cell_t *pwr_account_next(const pwr_account_t *account, unsigned *index)
{
    while (*index < PWR_ACCOUNT_CELLS) {
        const pwr_account_cell_t *cell = &account->cells[(*index)++];
        if (atomic_load_explicit(&cell->key, memory_order_relaxed) != 0) {
            return cell;
        }
    }
    return NULL;
}

/* ---- several tables ---- */

/* Where a table's communicators are in another one. */
typedef struct renumbering {
    unsigned number[PWR_ACCOUNT_COMMS];
} renumbering_t;

static void take_least(pwr_account_cell_t *into, const pwr_account_cell_t *from)
{
    if (from->processes == 0) {
        return;
    }
    if (into->processes == 0 || from->least_ns < into->least_ns) {
        into->least_ns = from->least_ns;
        into->least_process = from->least_process;
    }
    into->processes += from->processes;
}

static void add_cell(pwr_account_t *into, const renumbering_t *comms,
                     const pwr_account_cell_t *cell)
{
    pwr_account_kind_t kind = pwr_account_kind(cell);
    /* another process's table may have been written over by its program */
    kind.comm = kind.comm < PWR_ACCOUNT_COMMS ? comms->number[kind.comm] : PWR_ACCOUNT_OTHERS;
    pwr_account_cell_t *sum = pwr_account_cell(into, &kind);
    pwr_account_add_plainly(&sum->sums, &cell->sums);
    take_least(sum, cell);
}

static void add_region(pwr_account_t *into, const pwr_account_region_t *region)
{
    bool named = region->name[0] != '\0' && memchr(region->name, '\0', sizeof region->name);
    pwr_account_region_t *sum =
        named ? pwr_account_region(into, region->name) : &into->regions[PWR_ACCOUNT_OTHERS];
    sum->entered += region->entered;
    sum->ns += region->ns;
    sum->cpu_ns += region->cpu_ns;
    sum->uj += region->uj;
    pwr_account_add_plainly(&sum->calls, &region->calls);
}

static renumbering_t renumber(pwr_account_t *into, const pwr_account_comm_t *comms, unsigned num)
{
    renumbering_t renumbered = {{0}};
    for (unsigned i = 0; i < num; i++) {
        renumbered.number[i] = pwr_account_comm(into, comms[i].name, comms[i].size);
    }
    return renumbered;
}

void pwr_account_merge(pwr_account_t *into, const pwr_account_t *from, unsigned process)
{
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    const renumbering_t comms = renumber(into, from->comms, PWR_ACCOUNT_COMMS);
    while ((cell = pwr_account_next(from, &index)) != NULL) {
        const pwr_account_cell_t own = {.key = cell->key,
                                        .sums = cell->sums,
                                        .processes = cell->sums.calls > 0,
                                        .least_ns = cell->sums.ns,
                                        .least_process = process};
        add_cell(into, &comms, &own);
    }
    for (unsigned i = 0; i < PWR_ACCOUNT_REGIONS; i++) {
        add_region(into, &from->regions[i]);
    }
    pwr_account_add_plainly(&into->rest.sums, &from->rest.sums);
}

static unsigned num_comms(const pwr_account_t *account)
{
    unsigned num = PWR_ACCOUNT_OTHERS + 1;
    while (num < PWR_ACCOUNT_COMMS && account->comms[num].size != 0) {
        num++;
    }
    return num;
}

/* 0 where the program has marked none. */
static unsigned num_regions(const pwr_account_t *account)
{
    unsigned num = PWR_ACCOUNT_OTHERS + 1;
    while (num < PWR_ACCOUNT_REGIONS && account->regions[num].name[0] != '\0') {
        num++;
    }
    return num > PWR_ACCOUNT_OTHERS + 1 ? num : 0;
}

/* The rest comes last, with a key of 0. */
size_t pwr_account_pack(const pwr_account_t *account, void *out)
{
    pwr_account_packed_head_t *head = out;
    pwr_account_comm_t *comms = (pwr_account_comm_t *)(head + 1);
    unsigned num = num_comms(account);
    pwr_account_region_t *regions = (pwr_account_region_t *)(comms + num);
    unsigned marked = num_regions(account);
    pwr_account_cell_t *cells = (pwr_account_cell_t *)(regions + marked);
    pwr_account_cell_t *end = cells;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    memcpy(comms, account->comms, num * sizeof *comms);
    memcpy(regions, account->regions, marked * sizeof *regions);
    while ((cell = pwr_account_next(account, &index)) != NULL) {
        memcpy(end++, cell, sizeof *end);
    }
    memcpy(end++, &account->rest, sizeof *end);
    *head = (pwr_account_packed_head_t){
        .num_comms = num,
        .num_cells = (uint32_t)(end - cells),
        .num_regions = marked,
    };
    return (size_t)((char *)end - (char *)out);
}

static bool is_sound_head(const pwr_account_packed_head_t *head, size_t bytes)
{
    return bytes >= sizeof *head && head->num_comms >= 1 && head->num_comms <= PWR_ACCOUNT_COMMS &&
           head->num_cells >= 1 && head->num_cells <= PWR_ACCOUNT_CELLS + 1 &&
           head->num_regions <= PWR_ACCOUNT_REGIONS &&
           bytes == sizeof *head + head->num_comms * sizeof(pwr_account_comm_t) +
                        head->num_regions * sizeof(pwr_account_region_t) +
                        head->num_cells * sizeof(pwr_account_cell_t);
}

typedef struct parts {
    const pwr_account_packed_head_t *head;
    const pwr_account_comm_t *comms;
    const pwr_account_region_t *regions;
    const pwr_account_cell_t *cells;
} parts_t;

static parts_t parts_of(const pwr_account_packed_head_t *head)
{
    parts_t parts = {.head = head, .comms = (const pwr_account_comm_t *)(head + 1)};
    parts.regions = (const pwr_account_region_t *)(parts.comms + head->num_comms);
    parts.cells = (const pwr_account_cell_t *)(parts.regions + head->num_regions);
    return parts;
}

static bool is_sound(const parts_t *parts)
{
    const pwr_account_packed_head_t *head = parts->head;
    for (unsigned i = 0; i < head->num_comms; i++) {
        if (memchr(parts->comms[i].name, '\0', sizeof parts->comms[i].name) == NULL) {
            return false;
        }
    }
    for (unsigned i = 0; i + 1 < head->num_cells; i++) {
        const pwr_account_cell_t *cell = &parts->cells[i];
        if ((cell->key & USED) == 0 || pwr_account_kind(cell).comm >= head->num_comms) {
            return false;
        }
    }
    return parts->cells[head->num_cells - 1].key == 0;
}

pwr_status_t pwr_account_merge_packed(pwr_account_t *into, const void *packed, size_t bytes)
{
    if (!is_sound_head(packed, bytes)) {
        return PWR_ERR_PARSE;
    }
    const parts_t parts = parts_of(packed);
    if (!is_sound(&parts)) {
        return PWR_ERR_PARSE;
    }
    unsigned rest = parts.head->num_cells - 1;
    const renumbering_t renumbered = renumber(into, parts.comms, parts.head->num_comms);
    for (unsigned i = 0; i < rest; i++) {
        add_cell(into, &renumbered, &parts.cells[i]);
    }
    for (unsigned i = 0; i < parts.head->num_regions; i++) {
        add_region(into, &parts.regions[i]);
    }
    pwr_account_add_plainly(&into->rest.sums, &parts.cells[rest].sums);
    return PWR_OK;
}
