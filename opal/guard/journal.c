/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a journal knows, and how its lines are written; reading is in journal_parse.c.
 */
#include "config.h"

#include "guard/journal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_RECORDS = 64 };

uint32_t pwr_journal_crc(uint32_t crc, const void *bytes, size_t size)
{
    /* The polynomial 0xedb88320, four bits at a time. */
    static const uint32_t steps[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *byte = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ steps[crc & 15];
        crc = crc >> 4 ^ steps[crc & 15];
    }
    return ~crc;
}

void pwr_journal_free(pwr_journal_t *journal)
{
    free(journal->records);
    memset(journal, 0, sizeof *journal);
}

/* ---- records by control ---- */

static size_t chain_of(const pwr_journal_entry_t *entry)
{
    return ((size_t)entry->cpu * PWR_CONTROL_KINDS + entry->kind) % PWR_JOURNAL_CHAINS;
}

pwr_journal_record_t *pwr_journal_find(const pwr_journal_t *journal,
                                       const pwr_journal_entry_t *entry)
{
    uint32_t number = journal->first_of_chain[chain_of(entry)];
    while (number > 0) {
        pwr_journal_record_t *record = &journal->records[number - 1];
        if (record->access == entry->access && record->kind == entry->kind &&
            record->cpu == entry->cpu) {
            return record;
        }
        number = record->next;
    }
    return NULL;
}

static pwr_journal_record_t *add_record(pwr_journal_t *journal, const pwr_journal_entry_t *entry)
{
    uint32_t *first = &journal->first_of_chain[chain_of(entry)];
    pwr_journal_record_t *record = &journal->records[journal->count++];
    *record = (pwr_journal_record_t){
        .access = entry->access, .kind = entry->kind, .cpu = entry->cpu, .next = *first};
    *first = (uint32_t)journal->count;
    return record;
}

/* For one record more. */
static pwr_status_t make_room(pwr_journal_t *journal)
{
    if (journal->count < journal->capacity) {
        return PWR_OK;
    }
    size_t capacity = journal->capacity > 0 ? 2 * journal->capacity : FIRST_RECORDS;
    pwr_journal_record_t *records = realloc(journal->records, capacity * sizeof *records);
    if (!records) {
        return PWR_ERR_NOMEM;
    }
    journal->records = records;
    journal->capacity = capacity;
    return PWR_OK;
}

static bool has_value(const pwr_journal_record_t *record, uint64_t value)
{
    for (unsigned i = 0; i < record->num_ours; i++) {
        if (record->ours[i] == value) {
            return true;
        }
    }
    return false;
}

pwr_status_t pwr_journal_admit(pwr_journal_t *journal, const pwr_journal_entry_t *entry,
                               bool *known)
{
    if (entry->cpu > PWR_JOURNAL_MAX_CPU) {
        return PWR_ERR_ARG;
    }
    const pwr_journal_record_t *record = pwr_journal_find(journal, entry);
    if (entry->ours && !record) {
        return PWR_ERR_ARG;
    }
    bool same = record &&
                (entry->ours ? has_value(record, entry->value) : record->original == entry->value);
    if (entry->ours && !same && record->num_ours == PWR_JOURNAL_OURS) {
        return PWR_ERR_RANGE;
    }
    pwr_status_t status = record ? PWR_OK : make_room(journal);
    if (status == PWR_OK) {
        *known = same;
    }
    return status;
}

static void advance(pwr_journal_t *journal, const pwr_journal_line_t *line)
{
    journal->crc = pwr_journal_crc(journal->crc, line->text, line->length);
    journal->size += line->length;
    journal->lines++;
}

void pwr_journal_commit_header(pwr_journal_t *journal, const pwr_journal_header_t *header,
                               const pwr_journal_line_t *line)
{
    journal->header = *header;
    journal->has_header = true;
    advance(journal, line);
}

void pwr_journal_commit(pwr_journal_t *journal, const pwr_journal_entry_t *entry,
                        const pwr_journal_line_t *line)
{
    pwr_journal_record_t *record = pwr_journal_find(journal, entry);
    if (!record) {
        record = add_record(journal, entry);
    }
    if (!entry->ours) {
        record->original = entry->value;
    } else if (!has_value(record, entry->value)) {
        record->ours[record->num_ours++] = entry->value;
    }
    advance(journal, line);
}

/* ---- lines ---- */

enum { CRC_BYTES = sizeof " 12345678\n" };

/* Appends, leaving room for the CRC; what does not fit makes the line full. */
__attribute__((format(printf, 2, 3))) static void put(pwr_journal_line_t *line, const char *format,
                                                      ...)
{
    va_list args;
    size_t room = PWR_JOURNAL_LINE_BYTES - CRC_BYTES - line->length;
    va_start(args, format);
    int length = vsnprintf(line->text + line->length, room, format, args);
    va_end(args);
    if (line->full || length < 0 || (size_t)length >= room) {
        line->full = true;
        return;
    }
    line->length += (size_t)length;
}

static void begin(pwr_journal_line_t *line)
{
    line->length = 0;
    line->full = false;
}

static void put_word(pwr_journal_line_t *line, const char *key, const char *word)
{
    put(line, " %s=", key);
    for (const unsigned char *byte = (const unsigned char *)word; *byte != '\0'; byte++) {
        bool plain = *byte > 0x20 && *byte < 0x7f && *byte != '%';
        put(line, plain ? "%c" : "%%%02X", *byte);
    }
}

static pwr_status_t finish(pwr_journal_line_t *line, uint32_t crc_before)
{
    if (line->full) {
        return PWR_ERR_RANGE;
    }
    line->text[line->length++] = ' ';
    uint32_t crc = pwr_journal_crc(crc_before, line->text, line->length);
    line->length += (size_t)snprintf(line->text + line->length, CRC_BYTES, "%08" PRIx32 "\n", crc);
    return PWR_OK;
}

pwr_status_t pwr_journal_format_header(const pwr_journal_header_t *header, pwr_journal_line_t *line)
{
    begin(line);
    put(line, "poweraware-journal %d", PWR_JOURNAL_VERSION);
    put_word(line, "host", header->host);
    put_word(line, "boot", header->boot);
    put(line, " uid=%lu pid=%ld start=%" PRIu64, (unsigned long)header->uid, (long)header->pid,
        header->start);
    put_word(line, "job", header->job);
    put_word(line, "root", header->root[0] == '\0' ? "/" : header->root);
    return finish(line, 0);
}

bool pwr_journal_is_khz(pwr_control_kind_t kind)
{
    return kind == PWR_CONTROL_CEILING || kind == PWR_CONTROL_FLOOR || kind == PWR_CONTROL_SPEED;
}

pwr_status_t pwr_journal_format(const pwr_journal_t *journal, const pwr_journal_entry_t *entry,
                                pwr_journal_line_t *line)
{
    begin(line);
    put(line, "%s %s %s %u ", entry->ours ? "ours" : "original", pwr_control_kind_name(entry->kind),
        entry->access->name, entry->cpu);
    put(line, pwr_journal_is_khz(entry->kind) ? "%" PRIu64 : "0x%" PRIx64, entry->value);
    if (journal->lines >= PWR_JOURNAL_MAX_LINES ||
        journal->size + line->length + CRC_BYTES > PWR_JOURNAL_MAX_BYTES) {
        return PWR_ERR_RANGE;
    }
    return finish(line, journal->crc);
}
