/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Fuzz target: journals of the guardian, as they are and with the right check sum behind each line.
 * Sources: guard/journal.c guard/journal_parse.c helper/ likwid/ msr/ env.c number.c status.c why.c
 * Sources: control/control.c control/control_file.c control/control_msr.c
 */
#include "config.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/journal.h"

static int is_same(const pwr_journal_record_t *left, const pwr_journal_record_t *right)
{
    return left->access == right->access && left->kind == right->kind && left->cpu == right->cpu &&
           left->original == right->original && left->num_ours == right->num_ours &&
           memcmp(left->ours, right->ours, left->num_ours * sizeof left->ours[0]) == 0;
}

static void check(const char *text, size_t size)
{
    pwr_journal_t journal, again;
    pwr_journal_flaw_t flaw = {0};
    pwr_status_t status = pwr_journal_parse(text, size, &journal, &flaw);
    if (status != PWR_OK) {
        demand(status != PWR_ERR_PARSE || (flaw.line > 0 && flaw.reason[0] != '\0'));
        return;
    }
    /* It is all there but for an interrupted line, and that line makes no difference. */
    demand(journal.size <= size && journal.torn == (journal.size < size));
    demand(journal.crc == pwr_journal_crc(0, text, journal.size));
    demand(pwr_journal_parse(text, journal.size, &again, &flaw) == PWR_OK);
    demand(again.count == journal.count && again.lines == journal.lines && !again.torn);
    for (size_t i = 0; i < journal.count; i++) {
        demand(is_same(&journal.records[i], &again.records[i]));
    }
    pwr_journal_free(&again);
    pwr_journal_free(&journal);
}

/* A CRC keeps random lines out; behind it is where a parser may err. */
static void check_sealed(const char *lines, size_t size)
{
    enum { CRC_BYTES = sizeof " 12345678\n" };
    char *text = malloc(size * CRC_BYTES + CRC_BYTES);
    size_t used = 0;
    uint32_t crc = 0;
    const char *end = lines + size;
    demand(text != NULL);
    for (const char *at = lines; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        size_t start = used;
        memcpy(text + used, at, length);
        used += length;
        if (!newline) {
            break;
        }
        text[used++] = ' ';
        crc = pwr_journal_crc(crc, text + start, used - start);
        used += (size_t)snprintf(text + used, CRC_BYTES, "%08lx\n", (unsigned long)crc);
        crc = pwr_journal_crc(crc, text + used - 9, 9);
        at = newline + 1;
    }
    check(text, used);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check((const char *)data, size);
    check_sealed((const char *)data, size);
    return 0;
}
