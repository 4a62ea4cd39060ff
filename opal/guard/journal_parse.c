/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reading a journal that anybody may have written.
 *
 * A line is split into words, these are understood, and what was understood is written again: only
 * if that gives the same bytes, CRC included, the line counts.  So there is one spelling of
 * everything, and no second description of the format that could differ from the first.
 */
#include "config.h"

#include "guard/journal.h"
#include "number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CRC_DIGITS = 8, MAX_WORDS = 10, HEADER_WORDS = 10, ENTRY_WORDS = 6 };

typedef struct reader {
    pwr_journal_t journal;
    pwr_journal_flaw_t *flaw;
    char words[PWR_JOURNAL_LINE_BYTES]; /* the line, cut at its spaces */
    char *word[MAX_WORDS];
    pwr_journal_line_t again; /* what was understood, written again */
} reader_t;

/* Reasons quote the file, and end on terminals and in logs: printable bytes only. */
__attribute__((format(printf, 2, 3))) static pwr_status_t damaged(reader_t *reader,
                                                                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->flaw->reason, sizeof reader->flaw->reason, format, args);
    va_end(args);
    for (char *byte = reader->flaw->reason; *byte != '\0'; byte++) {
        *byte = *byte >= ' ' && *byte <= '~' ? *byte : '?';
    }
    reader->flaw->line = reader->journal.lines + 1;
    return PWR_ERR_PARSE;
}

/* ---- words ---- */

/* The number of words, or MAX_WORDS + 1 when there are more. */
static size_t split(reader_t *reader, const char *line, size_t length)
{
    size_t count = 0;
    memcpy(reader->words, line, length);
    reader->words[length - 1] = '\0'; /* the newline */
    char *at = reader->words;
    while (at && count < MAX_WORDS) {
        reader->word[count++] = at;
        at = strchr(at, ' ');
        if (at) {
            *at++ = '\0';
        }
    }
    return at ? MAX_WORDS + 1 : count;
}

static bool read_number(const char *word, uint64_t highest, uint64_t *number)
{
    uint64_t value;
    if (pwr_number_parse(word, strlen(word), &value) != PWR_OK || value > highest) {
        return false;
    }
    *number = value;
    return true;
}

/* The value of "key=value", or NULL. */
static const char *value_of(const char *word, const char *key)
{
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool read_key_number(const char *word, const char *key, uint64_t highest, uint64_t *number)
{
    const char *value = value_of(word, key);
    return value && read_number(value, highest, number);
}

static int hex_digit(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

static bool read_key_text(const char *word, const char *key, char *text, size_t size)
{
    const char *from = value_of(word, key);
    size_t length = 0;
    while (from && *from != '\0' && length + 1 < size) {
        if (*from != '%') {
            text[length++] = *from++;
            continue;
        }
        int high = hex_digit(from[1]);
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low < 0 || (high == 0 && low == 0)) {
            return false;
        }
        text[length++] = (char)(high << 4 | low);
        from += 3;
    }
    text[length] = '\0';
    return from && *from == '\0';
}

/* ---- lines ---- */

static bool understand_header(char *const word[], pwr_journal_header_t *header)
{
    uint64_t uid, pid;
    if (!read_key_text(word[2], "host", header->host, sizeof header->host) ||
        !read_key_text(word[3], "boot", header->boot, sizeof header->boot) ||
        !read_key_number(word[4], "uid", UINT32_MAX, &uid) ||
        !read_key_number(word[5], "pid", INT32_MAX, &pid) ||
        !read_key_number(word[6], "start", UINT64_MAX, &header->start) ||
        !read_key_text(word[7], "job", header->job, sizeof header->job) ||
        !read_key_text(word[8], "root", header->root, sizeof header->root)) {
        return false;
    }
    header->uid = (uid_t)uid;
    header->pid = (pid_t)pid;
    if (strcmp(header->root, "/") == 0) {
        header->root[0] = '\0';
    }
    return header->root[0] == '\0' || header->root[0] == '/';
}

/* Whether the line is what was understood of it, written again; if not, why. */
static pwr_status_t compare(reader_t *reader, const char *line, size_t length)
{
    const pwr_journal_line_t *again = &reader->again;
    if (length == again->length && memcmp(line, again->text, length) == 0) {
        return PWR_OK;
    }
    size_t crc = again->length - CRC_DIGITS - 1;
    if (length == again->length && memcmp(line, again->text, crc) == 0) {
        return damaged(reader, "wrong check sum: %.8s instead of %.8s", line + crc,
                       again->text + crc);
    }
    return damaged(reader, "not in its one form (spaces, digits or %% signs)");
}

static pwr_status_t take_header(reader_t *reader, const char *line, size_t length, size_t words)
{
    pwr_journal_header_t header;
    uint64_t version;
    if (strcmp(reader->word[0], "poweraware-journal") != 0 || words < 2) {
        return damaged(reader, "not a journal of poweraware");
    }
    if (!read_number(reader->word[1], UINT64_MAX, &version) || version != PWR_JOURNAL_VERSION) {
        return damaged(reader, "version %.16s, and only version %d is known", reader->word[1],
                       PWR_JOURNAL_VERSION);
    }
    if (words != HEADER_WORDS || !understand_header(reader->word, &header)) {
        return damaged(reader, "not a first line of version %d", PWR_JOURNAL_VERSION);
    }
    pwr_status_t status = pwr_journal_format_header(&header, &reader->again);
    if (status == PWR_OK) {
        status = compare(reader, line, length);
    }
    if (status == PWR_OK) {
        pwr_journal_commit_header(&reader->journal, &header, &reader->again);
    }
    return status;
}

static pwr_status_t understand_entry(reader_t *reader, size_t words, pwr_journal_entry_t *entry)
{
    char *const *word = reader->word;
    uint64_t cpu;
    entry->ours = strcmp(word[0], "ours") == 0;
    if (!entry->ours && strcmp(word[0], "original") != 0) {
        return damaged(reader, "unknown word \"%.32s\"", word[0]);
    }
    if (words != ENTRY_WORDS) {
        return damaged(reader, "%zu words instead of %d", words, ENTRY_WORDS);
    }
    entry->kind = pwr_control_kind_find(word[1]);
    if (entry->kind == PWR_CONTROL_KINDS) {
        return damaged(reader, "unknown control \"%.32s\"", word[1]);
    }
    entry->access = pwr_access_find(word[2]);
    if (!entry->access) {
        return damaged(reader, "unknown access \"%.32s\"", word[2]);
    }
    if (!read_number(word[3], PWR_JOURNAL_MAX_CPU, &cpu)) {
        return damaged(reader, "no CPU number: \"%.32s\"", word[3]);
    }
    entry->cpu = (unsigned)cpu;
    if (!read_number(word[4], UINT64_MAX, &entry->value)) {
        return damaged(reader, "no value: \"%.32s\"", word[4]);
    }
    return PWR_OK;
}

static pwr_status_t take_entry(reader_t *reader, const char *line, size_t length, size_t words)
{
    pwr_journal_entry_t entry;
    bool known;
    pwr_status_t status = understand_entry(reader, words, &entry);
    if (status != PWR_OK) {
        return status;
    }
    if (pwr_journal_format(&reader->journal, &entry, &reader->again) != PWR_OK) {
        return damaged(reader, "more lines than a journal has");
    }
    status = compare(reader, line, length);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_journal_admit(&reader->journal, &entry, &known);
    if (status == PWR_ERR_NOMEM) {
        return status;
    }
    if (status != PWR_OK) {
        return damaged(reader, "%s",
                       status == PWR_ERR_ARG ? "a value of ours before the original"
                                             : "more values of ours than a journal has");
    }
    pwr_journal_commit(&reader->journal, &entry, &reader->again);
    return PWR_OK;
}

static pwr_status_t take_line(reader_t *reader, const char *line, size_t length)
{
    if (length > PWR_JOURNAL_LINE_BYTES) {
        return damaged(reader, "longer than %d bytes", PWR_JOURNAL_LINE_BYTES);
    }
    if (memchr(line, '\0', length)) {
        return damaged(reader, "a NUL byte");
    }
    size_t words = split(reader, line, length);
    return reader->journal.has_header ? take_entry(reader, line, length, words)
                                      : take_header(reader, line, length, words);
}

static pwr_status_t take_text(reader_t *reader, const char *text, size_t size)
{
    pwr_status_t status = PWR_OK;
    if (size > PWR_JOURNAL_MAX_BYTES) {
        return damaged(reader, "the file is larger than %d bytes", PWR_JOURNAL_MAX_BYTES);
    }
    while (status == PWR_OK && reader->journal.size < size) {
        const char *line = text + reader->journal.size;
        size_t left = size - reader->journal.size;
        const char *newline = memchr(line, '\n', left);
        if (!newline) {
            reader->journal.torn = true;
            /* An interrupted line is short and has no NUL: it was text to begin with. */
            return left > PWR_JOURNAL_LINE_BYTES || memchr(line, '\0', left)
                       ? damaged(reader, "an interrupted line that is none of ours")
                       : PWR_OK;
        }
        status = take_line(reader, line, (size_t)(newline - line) + 1);
    }
    return status;
}

pwr_status_t pwr_journal_parse(const char *text, size_t size, pwr_journal_t *journal,
                               pwr_journal_flaw_t *flaw)
{
    reader_t *reader = calloc(1, sizeof *reader);
    if (!reader) {
        return PWR_ERR_NOMEM;
    }
    reader->flaw = flaw;
    pwr_status_t status = take_text(reader, text, size);
    if (status == PWR_OK) {
        *journal = reader->journal;
    } else {
        pwr_journal_free(&reader->journal);
    }
    free(reader);
    return status;
}
