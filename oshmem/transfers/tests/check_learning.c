/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * When pwr_shmem_putv has chosen, and what: check_learning shm|tcp [pattern of PWR_SHMEM_PUTV].
 */
#include "config.h"

#include "../learn.h"
#include "../pwr_shmem.h"

#include <stdio.h>
#include <string.h>

enum { FRAGMENTS = 256, BYTES = 16, MOST = (PWR_LEARN_KEPT + 1) * PWR_LEARN_PATTERNS };

static int wrong;
static char source[FRAGMENTS * BYTES];
static pwr_shmem_fragment_t items[FRAGMENTS];

static void expect(bool is_right, const char *what, const char *found)
{
    if (!is_right) {
        printf("%s: %s\n", what, found != NULL ? found : "none");
        wrong++;
    }
}

static bool is_one_of(const char *name, const char *first, const char *second)
{
    return name != NULL && (strcmp(name, first) == 0 || strcmp(name, second) == 0);
}

static void put_all(const pwr_shmem_fragments_t *fragments, int calls)
{
    for (int i = 0; i < calls; i++) {
        pwr_shmem_putv(SHMEM_CTX_DEFAULT, fragments, 1);
    }
    shmem_quiet();
}

/* Neighbours: two patterns are possible. */
static void learns(const pwr_shmem_fragments_t *fragments, bool is_mapped)
{
    const char *other = is_mapped ? "copy" : "pack";
    const char *first = pwr_shmem_putv_pattern(fragments, 1);
    expect(first == NULL, "chosen without a trial", first);
    put_all(fragments, MOST);
    const char *chosen = pwr_shmem_putv_pattern(fragments, 1);
    expect(is_one_of(chosen, "fragments", other), "chosen after all trials", chosen);
    put_all(fragments, 3 * MOST);
    const char *later = pwr_shmem_putv_pattern(fragments, 1);
    expect(later == chosen, "chosen later", later);
}

/* With gaps there is nothing to pack. */
static void scattered(char *dest, const pwr_shmem_fragments_t *fragments, bool is_mapped)
{
    for (size_t i = 0; i < FRAGMENTS; i++) {
        items[i].dest = dest + i * BYTES * 2;
    }
    const char *found = pwr_shmem_putv_pattern(fragments, 1);
    expect(is_mapped ? found == NULL : is_one_of(found, "fragments", "fragments"),
           "scattered fragments", found);
}

/* copy is possible only in shared memory. */
static void obeys(const pwr_shmem_fragments_t *fragments, bool is_mapped, const char *wish)
{
    const char *found = pwr_shmem_putv_pattern(fragments, 1);
    if (strcmp(wish, "copy") == 0 && !is_mapped) {
        expect(found == NULL, "impossible wish", found);
    } else {
        expect(is_one_of(found, wish, wish), "wish", found);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    char *dest = shmem_malloc(sizeof source * 2);
    pwr_shmem_fragments_t fragments = {items, FRAGMENTS};
    bool is_mapped = argc > 1 && strcmp(argv[1], "shm") == 0;
    for (size_t i = 0; i < FRAGMENTS; i++) {
        items[i] = (pwr_shmem_fragment_t){dest + i * BYTES, source + i * BYTES, BYTES};
    }
    if (shmem_my_pe() == 0) {
        if (argc > 2) {
            obeys(&fragments, is_mapped, argv[2]);
        } else {
            learns(&fragments, is_mapped);
            scattered(dest, &fragments, is_mapped);
        }
        printf("%s: %d wrong results\n", argc > 1 ? argv[1] : "", wrong);
    }
    shmem_finalize();
    return wrong != 0;
}
