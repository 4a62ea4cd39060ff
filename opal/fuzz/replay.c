/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls a fuzz target with each file named, and with each prefix of it: what a fuzz once found
 * stays found.
 */
#include "config.h"

#include "fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_PREFIXES = 512 };

/* An exact allocation, so that a sanitizer or valgrind sees a read behind the end. */
static void call(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (!exact) {
        fputs("replay: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    memcpy(exact, bytes, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void replay(const char *name)
{
    static uint8_t bytes[MOST_BYTES];
    FILE *file = fopen(name, "rb");
    if (!file) {
        fprintf(stderr, "replay: %s: %s\n", name, strerror(errno));
        exit(EXIT_FAILURE);
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    call(bytes, size);
    for (size_t prefix = 0; prefix < size && prefix < MOST_PREFIXES; prefix++) {
        call(bytes, prefix);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        replay(argv[i]);
    }
    printf("%d files\n", argc - 1);
    return EXIT_SUCCESS;
}
