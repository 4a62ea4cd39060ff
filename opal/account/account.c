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

static pthread_mutex_t comms_lock = PTHREAD_MUTEX_INITIALIZER;

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
    pthread_mutex_lock(&comms_lock);
    unsigned number = find_comm(account, name, size);
    pthread_mutex_unlock(&comms_lock);
    return number;
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

static void add_cell(pwr_account_t *into, const renumbering_t *comms,
                     const pwr_account_cell_t *cell)
{
    pwr_account_kind_t kind = pwr_account_kind(cell);
    /* another process's table may have been written over by its program */
    kind.comm = kind.comm < PWR_ACCOUNT_COMMS ? comms->number[kind.comm] : PWR_ACCOUNT_OTHERS;
    pwr_account_add_plainly(&pwr_account_cell(into, &kind)->sums, &cell->sums);
}

static renumbering_t renumber(pwr_account_t *into, const pwr_account_comm_t *comms, unsigned num)
{
    renumbering_t renumbered = {{0}};
    for (unsigned i = 0; i < num; i++) {
        renumbered.number[i] = pwr_account_comm(into, comms[i].name, comms[i].size);
    }
    return renumbered;
}

void pwr_account_merge(pwr_account_t *into, const pwr_account_t *from)
{
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    const renumbering_t comms = renumber(into, from->comms, PWR_ACCOUNT_COMMS);
    while ((cell = pwr_account_next(from, &index)) != NULL) {
        add_cell(into, &comms, cell);
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

/* The rest comes last, with a key of 0. */
size_t pwr_account_pack(const pwr_account_t *account, void *out)
{
    pwr_account_packed_head_t *head = out;
    pwr_account_comm_t *comms = (pwr_account_comm_t *)(head + 1);
    unsigned num = num_comms(account);
    pwr_account_cell_t *cells = (pwr_account_cell_t *)(comms + num);
    pwr_account_cell_t *end = cells;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    memcpy(comms, account->comms, num * sizeof *comms);
    while ((cell = pwr_account_next(account, &index)) != NULL) {
        memcpy(end++, cell, sizeof *end);
    }
    memcpy(end++, &account->rest, sizeof *end);
    *head = (pwr_account_packed_head_t){
        .num_comms = num,
        .num_cells = (uint32_t)(end - cells),
    };
    return (size_t)((char *)end - (char *)out);
}

static bool is_sound_head(const pwr_account_packed_head_t *head, size_t bytes)
{
    return bytes >= sizeof *head && head->num_comms >= 1 && head->num_comms <= PWR_ACCOUNT_COMMS &&
           head->num_cells >= 1 && head->num_cells <= PWR_ACCOUNT_CELLS + 1 &&
           bytes == sizeof *head + head->num_comms * sizeof(pwr_account_comm_t) +
                        head->num_cells * sizeof(pwr_account_cell_t);
}

static bool is_sound(const void *packed, size_t bytes)
{
    const pwr_account_packed_head_t *head = packed;
    if (!is_sound_head(head, bytes)) {
        return false;
    }
    const pwr_account_comm_t *comms = (const pwr_account_comm_t *)(head + 1);
    const pwr_account_cell_t *cells = (const pwr_account_cell_t *)(comms + head->num_comms);
    for (unsigned i = 0; i < head->num_comms; i++) {
        if (memchr(comms[i].name, '\0', sizeof comms[i].name) == NULL) {
            return false;
        }
    }
    for (unsigned i = 0; i + 1 < head->num_cells; i++) {
        if ((cells[i].key & USED) == 0 || pwr_account_kind(&cells[i]).comm >= head->num_comms) {
            return false;
        }
    }
    return cells[head->num_cells - 1].key == 0;
}

pwr_status_t pwr_account_merge_packed(pwr_account_t *into, const void *packed, size_t bytes)
{
    if (!is_sound(packed, bytes)) {
        return PWR_ERR_PARSE;
    }
    const pwr_account_packed_head_t *head = packed;
    const pwr_account_comm_t *comms = (const pwr_account_comm_t *)(head + 1);
    const pwr_account_cell_t *cells = (const pwr_account_cell_t *)(comms + head->num_comms);
    const renumbering_t renumbered = renumber(into, comms, head->num_comms);
    for (unsigned i = 0; i + 1 < head->num_cells; i++) {
        add_cell(into, &renumbered, &cells[i]);
    }
    pwr_account_add_plainly(&into->rest.sums, &cells[head->num_cells - 1].sums);
    return PWR_OK;
}
