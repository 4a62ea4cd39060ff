/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Knowledge in memory: an array that is ordered by key.
 */
#include "config.h"

#include "pwr/checksum.h"
#include "pwr/knowledge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/knowledge_private.h"

enum { ROOM_FIRST = 64, SECONDS_PER_DAY = 86400 };

static const double digits = 1e6; /* of ratios, behind the point */

pwr_knowledge_t *pwr_knowledge_new(void)
{
    return calloc(1, sizeof(pwr_knowledge_t));
}

void pwr_knowledge_free(pwr_knowledge_t *knowledge)
{
    if (knowledge) {
        free(knowledge->entries);
        free(knowledge);
    }
}

uint32_t pwr_knowledge_today(void)
{
    time_t now = time(NULL);
    return now > 0 ? (uint32_t)(now / SECONDS_PER_DAY) : 0;
}

/* ---- what is allowed ---- */

static bool is_word(const char *text, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "_.+-";
    size_t length = strnlen(text, size);
    return length > 0 && length < size && strspn(text, letters) == length;
}

static bool is_count(unsigned count, unsigned least)
{
    return count >= least && count <= PWR_KNOWLEDGE_COUNT_MOST;
}

static bool is_ratio(double ratio, double least)
{
    return ratio >= least && ratio <= PWR_KNOWLEDGE_RATIO_MOST;
}

const char *pwr_knowledge_flaw(const pwr_knowledge_entry_t *entry)
{
    const pwr_knowledge_key_t *key = &entry->key;
    const struct {
        const char *name;
        bool is_good;
    } rules[] = {
        {"operation", is_word(key->operation, sizeof key->operation)},
        {"transport", is_word(key->transport, sizeof key->transport)},
        {"nodes", is_count(key->nodes, 1)},
        {"ranks_per_node", is_count(key->ranks_per_node, 1)},
        {"size_class", key->size_class < PWR_KNOWLEDGE_SIZE_CLASSES},
        {"algorithm", is_word(entry->algorithm, sizeof entry->algorithm)},
        {"depth", entry->depth <= PWR_AUDIT_REFERENCE},
        {"pairs", is_count(entry->pairs, 0)},
        {"trials", is_count(entry->trials, 0)},
        {"slowdown", is_ratio(entry->slowdown, -1.0)},
        {"gain", is_ratio(entry->gain, 1.0 / digits)},
        {"calls", entry->calls <= PWR_KNOWLEDGE_CALLS_MOST},
        {"day", entry->day <= PWR_KNOWLEDGE_DAY_MOST},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].is_good) {
            return rules[i].name;
        }
    }
    return NULL;
}

/* ---- order ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int compare_keys(const pwr_knowledge_key_t *left, const pwr_knowledge_key_t *right)
{
    const int orders[] = {
        compare_numbers(left->nodes, right->nodes),
        compare_numbers(left->ranks_per_node, right->ranks_per_node),
        strcmp(left->transport, right->transport),
        strcmp(left->operation, right->operation),
        compare_numbers(left->size_class, right->size_class),
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (orders[i] != 0) {
            return orders[i];
        }
    }
    return 0;
}

/* Which was used longer ago. */
static int compare_use(const pwr_knowledge_entry_t *left, const pwr_knowledge_entry_t *right)
{
    int days = compare_numbers(left->day, right->day);
    return days != 0 ? days : compare_numbers(left->calls, right->calls);
}

/* Where the key is, or belongs. */
static unsigned place_of(const pwr_knowledge_t *knowledge, const pwr_knowledge_key_t *key)
{
    unsigned low = 0;
    unsigned high = knowledge->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (compare_keys(&knowledge->entries[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const pwr_knowledge_t *knowledge, unsigned place, const pwr_knowledge_key_t *key)
{
    return place < knowledge->count && compare_keys(&knowledge->entries[place].key, key) == 0;
}

const pwr_knowledge_entry_t *pwr_knowledge_find(const pwr_knowledge_t *knowledge,
                                                const pwr_knowledge_key_t *key)
{
    unsigned place = place_of(knowledge, key);
    return is_at(knowledge, place, key) ? &knowledge->entries[place] : NULL;
}

const pwr_knowledge_entry_t *pwr_knowledge_entries(const pwr_knowledge_t *knowledge,
                                                   unsigned *count)
{
    *count = knowledge->count;
    return knowledge->entries;
}

/* ---- what stays ---- */

static unsigned oldest(const pwr_knowledge_t *knowledge)
{
    unsigned found = 0;
    for (unsigned i = 1; i < knowledge->count; i++) {
        if (compare_use(&knowledge->entries[i], &knowledge->entries[found]) < 0) {
            found = i;
        }
    }
    return found;
}

static void drop(pwr_knowledge_t *knowledge, unsigned place)
{
    pwr_knowledge_entry_t *entry = &knowledge->entries[place];
    memmove(entry, entry + 1, (--knowledge->count - place) * sizeof *entry);
}

static pwr_status_t make_room(pwr_knowledge_t *knowledge)
{
    if (knowledge->count == PWR_KNOWLEDGE_MOST) {
        drop(knowledge, oldest(knowledge));
        return PWR_OK;
    }
    if (knowledge->count < knowledge->room) {
        return PWR_OK;
    }
    unsigned room = knowledge->room > 0 ? 2 * knowledge->room : ROOM_FIRST;
    pwr_knowledge_entry_t *entries = realloc(knowledge->entries, room * sizeof *entries);
    if (!entries) {
        return PWR_ERR_NOMEM;
    }
    knowledge->entries = entries;
    knowledge->room = room;
    return PWR_OK;
}

/* As the file has it; without -0, which equals 0 but has other bits. */
static double rounded(double ratio)
{
    return round(ratio * digits) / digits + 0.0;
}

static void put(pwr_knowledge_entry_t *place, const pwr_knowledge_entry_t *entry)
{
    *place = *entry;
    place->slowdown = rounded(entry->slowdown);
    place->gain = rounded(entry->gain);
}

pwr_status_t pwr_knowledge_note(pwr_knowledge_t *knowledge, const pwr_knowledge_entry_t *entry)
{
    if (pwr_knowledge_flaw(entry)) {
        return PWR_ERR_RANGE;
    }
    unsigned place = place_of(knowledge, &entry->key);
    if (!is_at(knowledge, place, &entry->key)) {
        pwr_status_t status = make_room(knowledge);
        if (status != PWR_OK) {
            return status;
        }
        place = place_of(knowledge, &entry->key);
        pwr_knowledge_entry_t *from = &knowledge->entries[place];
        memmove(from + 1, from, (knowledge->count++ - place) * sizeof *from);
    }
    put(&knowledge->entries[place], entry);
    return PWR_OK;
}

/* Whether an entry of another job belongs here. */
static bool is_wanted(const pwr_knowledge_t *knowledge, const pwr_knowledge_entry_t *entry)
{
    const pwr_knowledge_entry_t *ours = pwr_knowledge_find(knowledge, &entry->key);
    if (!ours && knowledge->count == PWR_KNOWLEDGE_MOST) {
        ours = &knowledge->entries[oldest(knowledge)];
    }
    return !ours || compare_use(ours, entry) <= 0;
}

pwr_status_t pwr_knowledge_merge(pwr_knowledge_t *knowledge, const pwr_knowledge_t *other)
{
    pwr_status_t status = PWR_OK;
    for (unsigned i = 0; status == PWR_OK && i < other->count; i++) {
        if (is_wanted(knowledge, &other->entries[i])) {
            status = pwr_knowledge_note(knowledge, &other->entries[i]);
        }
    }
    return status;
}

uint32_t pwr_knowledge_last_day(const pwr_knowledge_t *knowledge)
{
    uint32_t day = 0;
    for (unsigned i = 0; i < knowledge->count; i++) {
        day = knowledge->entries[i].day > day ? knowledge->entries[i].day : day;
    }
    return day;
}

/* ---- comparing ---- */

/* With its end, so that "a", "bc" and "ab", "c" differ. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return pwr_checksum_add(hash, text, strlen(text) + 1);
}

/* By members: what is between them is not known. */
static uint64_t hash_entry(uint64_t hash, const pwr_knowledge_entry_t *entry)
{
    const unsigned numbers[] = {entry->key.nodes, entry->key.ranks_per_node, entry->key.size_class};
    hash = hash_text(hash, entry->key.operation);
    hash = hash_text(hash, entry->algorithm);
    return pwr_checksum_add(hash, numbers, sizeof numbers);
}

static bool may_be_of(const pwr_knowledge_key_t *key, unsigned ranks)
{
    return key->nodes <= ranks && key->ranks_per_node <= ranks &&
           (uint64_t)key->nodes * key->ranks_per_node >= ranks;
}

uint64_t pwr_knowledge_checksum(const pwr_knowledge_t *knowledge, unsigned ranks)
{
    uint64_t hash = PWR_CHECKSUM_OF_NOTHING;
    for (unsigned i = 0; i < knowledge->count; i++) {
        const pwr_knowledge_entry_t *entry = &knowledge->entries[i];
        if (may_be_of(&entry->key, ranks)) {
            hash = hash_entry(hash, entry);
        }
    }
    return hash;
}
