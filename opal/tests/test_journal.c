/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The form of journals: what is read, and all that is not.
 */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "guard/journal.h"

#define FIRST                                                                                      \
    "poweraware-journal 1 host=n0 boot=b-1 uid=1000 pid=4711 start=99 job=12.a root=/emu%20lated"

/* Its check sums were computed with zlib. */
static const char sample[] = FIRST " f7feeb72\n"
                                   "original ceiling cpufreq 3 3000000 bc2e998f\n"
                                   "ours ceiling cpufreq 3 1200000 812333b4\n"
                                   "original clock_modulation msr_safe 3 0x0 4a6b3198\n"
                                   "ours clock_modulation msr_safe 3 0x1f b46d4388\n"
                                   "original ceiling cpufreq 3 2000000 f7fe2371\n";

enum { SAMPLE_SIZE = sizeof sample - 1, SAMPLE_LINES = 6 };

static void expect_good(const char *text, size_t size, pwr_journal_t *journal)
{
    pwr_journal_flaw_t flaw = {0};
    pwr_status_t status = pwr_journal_parse(text, size, journal, &flaw);
    if (status != PWR_OK) {
        print_error("line %zu: %s\n", flaw.line, flaw.reason);
    }
    assert_int_equal(status, PWR_OK);
}

static void expect_damage(const char *text, size_t size, size_t line, const char *reason)
{
    pwr_journal_t journal = {0};
    pwr_journal_flaw_t flaw = {0};
    assert_int_equal(pwr_journal_parse(text, size, &journal, &flaw), PWR_ERR_PARSE);
    assert_int_equal(journal.count, 0);
    if (line > 0) {
        assert_int_equal(flaw.line, line);
    }
    if (!strstr(flaw.reason, reason)) {
        print_error("\"%s\" instead of \"%s\"\n", flaw.reason, reason);
        fail();
    }
}

/* Appends a line with the right check sum. */
static size_t seal(char *text, size_t size, const char *line, size_t length)
{
    memcpy(text + size, line, length);
    text[size + length] = ' ';
    size += length + 1;
    return size +
           (size_t)sprintf(text + size, "%08lx\n", (unsigned long)pwr_journal_crc(0, text, size));
}

static void test_sample(void **state)
{
    pwr_journal_t journal;
    (void)state;
    expect_good(sample, SAMPLE_SIZE, &journal);
    assert_true(journal.has_header);
    assert_false(journal.torn);
    assert_string_equal(journal.header.host, "n0");
    assert_string_equal(journal.header.boot, "b-1");
    assert_string_equal(journal.header.job, "12.a");
    assert_string_equal(journal.header.root, "/emu lated");
    assert_int_equal(journal.header.uid, 1000);
    assert_int_equal(journal.header.pid, 4711);
    assert_int_equal(journal.header.start, 99);
    assert_int_equal(journal.count, 2);
    const pwr_journal_record_t *ceiling = &journal.records[0];
    assert_ptr_equal(ceiling->access, &pwr_access_cpufreq);
    assert_int_equal(ceiling->kind, PWR_CONTROL_CEILING);
    assert_int_equal(ceiling->cpu, 3);
    assert_int_equal(ceiling->original, 2000000); /* the later one */
    assert_int_equal(ceiling->num_ours, 1);
    assert_int_equal(ceiling->ours[0], 1200000);
    const pwr_journal_record_t *duty = &journal.records[1];
    assert_ptr_equal(duty->access, &pwr_access_msr_safe);
    assert_int_equal(duty->original, 0);
    assert_int_equal(duty->ours[0], 0x1f);
    pwr_journal_free(&journal);
    assert_int_equal(journal.count, 0);
}

static size_t add(pwr_journal_t *journal, char *text, size_t size, const pwr_journal_entry_t *entry)
{
    pwr_journal_line_t line;
    bool known;
    assert_int_equal(pwr_journal_admit(journal, entry, &known), PWR_OK);
    assert_false(known);
    assert_int_equal(pwr_journal_format(journal, entry, &line), PWR_OK);
    pwr_journal_commit(journal, entry, &line);
    memcpy(text + size, line.text, line.length);
    return size + line.length;
}

static void test_what_is_written_is_the_sample(void **state)
{
    static const pwr_journal_entry_t entries[] = {
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, false, 3000000},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, true, 1200000},
        {&pwr_access_msr_safe, PWR_CONTROL_CLOCK_MODULATION, 3, false, 0},
        {&pwr_access_msr_safe, PWR_CONTROL_CLOCK_MODULATION, 3, true, 0x1f},
        {&pwr_access_cpufreq, PWR_CONTROL_CEILING, 3, false, 2000000},
    };
    const pwr_journal_header_t header = {.host = "n0",
                                         .boot = "b-1",
                                         .job = "12.a",
                                         .root = "/emu lated",
                                         .uid = 1000,
                                         .pid = 4711,
                                         .start = 99};
    char text[PWR_JOURNAL_LINE_BYTES + sizeof sample];
    pwr_journal_line_t line;
    pwr_journal_t journal = {0};
    (void)state;
    assert_int_equal(pwr_journal_format_header(&header, &line), PWR_OK);
    pwr_journal_commit_header(&journal, &header, &line);
    memcpy(text, line.text, line.length);
    size_t size = line.length;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        size = add(&journal, text, size, &entries[i]);
    }
    assert_int_equal(size, SAMPLE_SIZE);
    assert_memory_equal(text, sample, size);
    assert_int_equal(journal.size, size);
    pwr_journal_free(&journal);
}

/* A guardian that is killed, or a disk that is full, at any byte. */
static void test_interrupted_anywhere(void **state)
{
    (void)state;
    size_t lines = 0;
    for (size_t size = 0; size <= SAMPLE_SIZE; size++) {
        pwr_journal_t journal;
        lines += size > 0 && sample[size - 1] == '\n';
        expect_good(sample, size, &journal);
        assert_int_equal(journal.lines, lines);
        assert_int_equal(journal.has_header, lines > 0);
        assert_int_equal(journal.torn, size > 0 && sample[size - 1] != '\n');
        assert_true(journal.size <= size);
        pwr_journal_free(&journal);
    }
    assert_int_equal(lines, SAMPLE_LINES);
}

static void test_every_flipped_bit_is_noticed(void **state)
{
    char text[sizeof sample];
    (void)state;
    for (size_t bit = 0; bit < 8 * (SAMPLE_SIZE - 1); bit++) {
        memcpy(text, sample, sizeof sample);
        text[bit / 8] ^= (char)(1 << bit % 8);
        expect_damage(text, SAMPLE_SIZE, 0, "");
    }
}

/* A line that is missing, doubled or moved has the right check sum for itself alone. */
static void test_lines_belong_where_they_were_written(void **state)
{
    char text[2 * sizeof sample];
    const char *line = sample;
    (void)state;
    for (int i = 0; i + 1 < SAMPLE_LINES; i++) {
        const char *next = strchr(line, '\n') + 1;
        size_t before = (size_t)(line - sample);
        size_t length = (size_t)(next - line);
        memcpy(text, sample, before);
        strcpy(text + before, next);
        expect_damage(text, SAMPLE_SIZE - length, (size_t)i + 1, "");
        memcpy(text, sample, before + length);
        strcpy(text + before + length, line);
        expect_damage(text, SAMPLE_SIZE + length, (size_t)i + 2, "");
        line = next;
    }
}

/* ---- damage that has the right check sum ---- */

typedef struct damage {
    const char *line;
    const char *reason;
} damage_t;

static void test_first_lines(void **state)
{
    static const damage_t damages[] = {
        {"", "not a journal"},
        {"poweraware-journal", "and only version 1"},
        {"something else 1 2 3", "not a journal"},
        {"poweraware-journal 2 host=n0", "version 2, and only version 1"},
        {"poweraware-journal \x1b[2J", "version ?[2J"},
        {"poweraware-journal 01 host=n0 boot=b uid=1 pid=1 start=1 job=j root=/", "one form"},
        {"poweraware-journal 1 host=n0 boot=b uid=1 pid=1 start=1 job=j", "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=1 pid=1 start=1 job=j root=/ more=1",
         "not a first line"},
        {"poweraware-journal 1 boot=b host=n0 uid=1 pid=1 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=-1 pid=1 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=4294967296 pid=1 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=1 pid=2147483648 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=1 pid=1 start=18446744073709551616 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=1 pid=1 start=1 job=j root=relative",
         "not a first line"},
        {"poweraware-journal 1 host=n0 boot=b uid=1 pid=1 start=1 job=j root=", "one form"},
        {"poweraware-journal 1 host=%00 boot=b uid=1 pid=1 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=%4 boot=b uid=1 pid=1 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=%41 boot=b uid=1 pid=1 start=1 job=j root=/", "one form"},
        {"poweraware-journal 1 host=%1b boot=b uid=1 pid=1 start=1 job=j root=/",
         "not a first line"},
        {"poweraware-journal 1 host=\x7f boot=b uid=1 pid=1 start=1 job=j root=/", "one form"},
        {"poweraware-journal 1  host=n0 boot=b uid=1 pid=1 start=1 job=j root=/",
         "not a first line"},
    };
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        size_t size = seal(text, 0, damages[i].line, strlen(damages[i].line));
        expect_damage(text, size, 1, damages[i].reason);
    }
}

static void test_other_lines(void **state)
{
    static const damage_t damages[] = {
        {"", "unknown word \"\""},
        {"remember ceiling cpufreq 3 3000000", "unknown word \"remember\""},
        {"\x1b]0;evil\x07 ceiling", "unknown word \"?]0;evil?\""},
        {FIRST, "unknown word \"poweraware-journal\""},
        {"original ceiling cpufreq 3", "5 words instead of 6"},
        {"original ceiling cpufreq 3 3000000 ", "7 words"},
        {"original  ceiling cpufreq 3 3000000", "7 words"},
        {"original a b c d e f g h i j k l", "words instead of 6"},
        {"original roof cpufreq 3 3000000", "unknown control \"roof\""},
        {"original ceiling window 3 3000000", "unknown access \"window\""},
        {"original ceiling cpufreq 65536 3000000", "no CPU number"},
        {"original ceiling cpufreq -3 3000000", "no CPU number"},
        {"original ceiling cpufreq 03 3000000", "one form"},
        {"original ceiling cpufreq 0x3 3000000", "one form"},
        {"original ceiling cpufreq 3 +3000000", "no value"},
        {"original ceiling cpufreq 3 3000000kHz", "no value"},
        {"original ceiling cpufreq 3 18446744073709551616", "no value"},
        {"original ceiling cpufreq 3 0x2dc6c0", "one form"},
        {"original clock_modulation msr 3 31", "one form"},
        {"original clock_modulation msr 3 0x1F", "one form"},
        {"original clock_modulation msr 3 0x01f", "one form"},
        {"original clock_modulation msr 3 0x", "no value"},
        {"ours floor cpufreq 3 1200000", "before the original"},
    };
    char text[2 * sizeof sample];
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        memcpy(text, sample, SAMPLE_SIZE);
        size_t size = seal(text, SAMPLE_SIZE, damages[i].line, strlen(damages[i].line));
        expect_damage(text, size, SAMPLE_LINES + 1, damages[i].reason);
    }
}

static void test_bytes_that_are_no_text(void **state)
{
    char text[2 * sizeof sample];
    (void)state;
    memcpy(text, sample, SAMPLE_SIZE);
    size_t size = seal(text, SAMPLE_SIZE, "original ceiling\0cpufreq 3 1", 28);
    expect_damage(text, size, SAMPLE_LINES + 1, "NUL");
    memset(text + SAMPLE_SIZE, 0, 16); /* what a sparse file reads as */
    expect_damage(text, SAMPLE_SIZE + 16, SAMPLE_LINES + 1, "interrupted line that is none");
}

static void test_too_long(void **state)
{
    size_t size = SAMPLE_SIZE + PWR_JOURNAL_LINE_BYTES + 1;
    char *text = malloc((size_t)PWR_JOURNAL_MAX_BYTES + 1);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', (size_t)PWR_JOURNAL_MAX_BYTES + 1);
    memcpy(text, sample, SAMPLE_SIZE);
    expect_damage(text, size, SAMPLE_LINES + 1, "interrupted line that is none");
    text[size - 1] = '\n';
    expect_damage(text, size, SAMPLE_LINES + 1, "longer than");
    expect_damage(text, (size_t)PWR_JOURNAL_MAX_BYTES + 1, 1, "larger than");
    free(text);
}

/* Alternating originals of one control, line by line up to the limit and one more. */
static void test_too_many_lines(void **state)
{
    pwr_journal_t journal;
    size_t size = 0;
    char *text = malloc(PWR_JOURNAL_MAX_BYTES);
    pwr_journal_entry_t entry = {&pwr_access_cpufreq, PWR_CONTROL_FLOOR, 0, false, 0};
    (void)state;
    assert_non_null(text);
    expect_good(sample, SAMPLE_SIZE, &journal);
    memcpy(text, sample, SAMPLE_SIZE);
    size = SAMPLE_SIZE;
    while (journal.lines < PWR_JOURNAL_MAX_LINES) {
        entry.value ^= 1;
        size = add(&journal, text, size, &entry);
    }
    pwr_journal_t again;
    expect_good(text, size, &again);
    pwr_journal_free(&again);
    pwr_journal_line_t line;
    assert_int_equal(pwr_journal_format(&journal, &entry, &line), PWR_ERR_RANGE);
    size = seal(text, size, "original floor cpufreq 0 7", 26);
    expect_damage(text, size, PWR_JOURNAL_MAX_LINES + 1, "more lines");
    pwr_journal_free(&journal);
    free(text);
}

/* ---- what may be added ---- */

static void test_values_of_ours(void **state)
{
    pwr_journal_t journal;
    bool known;
    char text[PWR_JOURNAL_LINE_BYTES + 64 * (PWR_JOURNAL_OURS + 1)];
    size_t size = SAMPLE_SIZE;
    pwr_journal_entry_t entry = {&pwr_access_msr, PWR_CONTROL_PERF_CTL, 1, true, 1};
    (void)state;
    expect_good(sample, SAMPLE_SIZE, &journal);
    memcpy(text, sample, SAMPLE_SIZE);
    assert_int_equal(pwr_journal_admit(&journal, &entry, &known), PWR_ERR_ARG);
    entry.ours = false;
    size = add(&journal, text, size, &entry);
    assert_int_equal(pwr_journal_admit(&journal, &entry, &known), PWR_OK);
    assert_true(known);
    entry.ours = true;
    for (unsigned i = 0; i < PWR_JOURNAL_OURS; i++) {
        entry.value = i;
        size = add(&journal, text, size, &entry);
    }
    assert_int_equal(pwr_journal_admit(&journal, &entry, &known), PWR_OK);
    assert_true(known);
    entry.value = PWR_JOURNAL_OURS;
    assert_int_equal(pwr_journal_admit(&journal, &entry, &known), PWR_ERR_RANGE);
    size = seal(text, size, "ours perf_ctl msr 1 0xffff", 26);
    expect_damage(text, size, 0, "more values");
    entry = (pwr_journal_entry_t){&pwr_access_msr, PWR_CONTROL_PERF_CTL, PWR_JOURNAL_MAX_CPU + 1,
                                  false, 1};
    assert_int_equal(pwr_journal_admit(&journal, &entry, &known), PWR_ERR_ARG);
    pwr_journal_free(&journal);
}

/* The largest machine: every control is found again. */
static void test_many_controls(void **state)
{
    pwr_journal_t journal, again;
    char *text = malloc(PWR_JOURNAL_MAX_BYTES);
    size_t size = SAMPLE_SIZE;
    (void)state;
    assert_non_null(text);
    memcpy(text, sample, SAMPLE_SIZE);
    expect_good(sample, SAMPLE_SIZE, &journal);
    for (unsigned cpu = 0; cpu < 4096; cpu++) {
        for (int kind = 0; kind < PWR_CONTROL_KINDS; kind++) {
            const pwr_journal_entry_t entry = {&pwr_access_msr, (pwr_control_kind_t)kind, cpu,
                                               false, cpu};
            size = add(&journal, text, size, &entry);
        }
    }
    expect_good(text, size, &again);
    assert_int_equal(again.count, 2 + 4096 * PWR_CONTROL_KINDS);
    assert_int_equal(again.crc, journal.crc);
    pwr_journal_free(&journal);
    pwr_journal_free(&again);
    free(text);
}

static void test_the_longest_first_line(void **state)
{
    pwr_journal_header_t header = {.host = "n0"};
    pwr_journal_line_t line;
    (void)state;
    memset(header.root, ' ', sizeof header.root - 1); /* three bytes each */
    header.root[0] = '/';
    assert_int_equal(pwr_journal_format_header(&header, &line), PWR_OK);
    pwr_journal_t journal;
    expect_good(line.text, line.length, &journal);
    assert_string_equal(journal.header.root, header.root);
    pwr_journal_free(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_what_is_written_is_the_sample),
        cmocka_unit_test(test_interrupted_anywhere),
        cmocka_unit_test(test_every_flipped_bit_is_noticed),
        cmocka_unit_test(test_lines_belong_where_they_were_written),
        cmocka_unit_test(test_first_lines),
        cmocka_unit_test(test_other_lines),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_too_many_lines),
        cmocka_unit_test(test_values_of_ours),
        cmocka_unit_test(test_many_controls),
        cmocka_unit_test(test_the_longest_first_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
