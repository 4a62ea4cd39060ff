/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: knowledge.json.  What is read can be written within its bounds, and is then read as
 * the same.
 * Sources: policy/knowledge.c policy/knowledge_json.c policy/audit.c status.c why.c
 * Libraries: -ljansson -lm
 */
#include "config.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "policy/knowledge_private.h"

/* Machines change places in between. */
static void expect_same(const pwr_knowledge_file_t *file, pwr_knowledge_file_t *again)
{
    demand(file->count == again->count);
    for (unsigned i = 0; i < file->count; i++) {
        unsigned count, count_again;
        demand(pwr_knowledge_file_first(again, &file->of[i].machine) == PWR_OK);
        const pwr_knowledge_entry_t *entry = pwr_knowledge_entries(file->of[i].knowledge, &count);
        (void)pwr_knowledge_entries(again->of[0].knowledge, &count_again);
        demand(count == count_again);
        for (unsigned j = 0; j < count; j++) {
            const pwr_knowledge_key_t *key = &entry[j].key;
            const pwr_knowledge_entry_t *other = pwr_knowledge_find(again->of[0].knowledge, key);
            demand(other && other->day == entry[j].day);
            demand(pwr_knowledge_checksum(file->of[i].knowledge, key->nodes) ==
                   pwr_knowledge_checksum(again->of[0].knowledge, key->nodes));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[100];
    char *text;
    pwr_knowledge_file_t file = {0}, again = {0};
    if (pwr_knowledge_file_parse((const char *)data, size, why, sizeof why, &file) != PWR_OK) {
        demand(why[0] != '\0' && memchr(why, '\0', sizeof why));
        return 0;
    }
    demand(pwr_knowledge_file_format(&file, &text) == PWR_OK);
    demand(strlen(text) <= PWR_KNOWLEDGE_BYTES_MOST);
    demand(pwr_knowledge_file_parse(text, strlen(text), why, sizeof why, &again) == PWR_OK);
    free(text);
    expect_same(&file, &again);
    pwr_knowledge_file_free(&file);
    pwr_knowledge_file_free(&again);
    return 0;
}
