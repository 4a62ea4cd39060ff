/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Knowledge that lasts: what stays and what goes, which texts are refused, who may write the file,
 * and what writers do to each other.
 */
#include "config.h"

#include "fixture.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/knowledge_private.h"
#include "pwr/knowledge.h"

#define FOLDER "/home/user/.cache/poweraware"
#define FILE_NAME FOLDER "/knowledge.json"

enum { NOBODY = 65534, WRITERS = 6, ENTRIES_EACH = 16, NOT_SECURE = 77 };

static const pwr_knowledge_machine_t here = {
    .cpu = {.vendor = "GenuineIntel", .family = 6, .model = 143, .name = "Xeon \"Platinum\""},
    .cpus = 64,
    .mpi = "Open MPI 4.1.4"};

/* ---- helpers ---- */

static pwr_knowledge_entry_t entry_of(unsigned ranks, unsigned size_class, uint32_t day,
                                      uint64_t calls)
{
    return (pwr_knowledge_entry_t){.key = {.operation = "allreduce",
                                           .transport = "ob1",
                                           .nodes = 2,
                                           .ranks_per_node = ranks,
                                           .size_class = size_class},
                                   .algorithm = "stock",
                                   .depth = PWR_AUDIT_LADDER,
                                   .pairs = 12,
                                   .trials = 3,
                                   .slowdown = 0.0123456789,
                                   .gain = 0.875,
                                   .calls = calls,
                                   .day = day};
}

static void note(pwr_knowledge_t *knowledge, pwr_knowledge_entry_t entry)
{
    assert_int_equal(pwr_knowledge_note(knowledge, &entry), PWR_OK);
}

static unsigned count_of(const pwr_knowledge_t *knowledge)
{
    unsigned count;
    (void)pwr_knowledge_entries(knowledge, &count);
    return count;
}

static const pwr_knowledge_entry_t *find(const pwr_knowledge_t *knowledge, unsigned ranks,
                                         unsigned size_class)
{
    const pwr_knowledge_entry_t entry = entry_of(ranks, size_class, 0, 0);
    return pwr_knowledge_find(knowledge, &entry.key);
}

/* Knowledge of one entry. */
static pwr_knowledge_t *knowing(pwr_knowledge_entry_t entry)
{
    pwr_knowledge_t *knowledge = pwr_knowledge_new();
    assert_non_null(knowledge);
    note(knowledge, entry);
    return knowledge;
}

static uint64_t checksum(const pwr_knowledge_t *knowledge)
{
    return pwr_knowledge_checksum(knowledge, 16);
}

static void put_home(fixture_t *fixture)
{
    fixture_make_directory(fixture, "/home/user");
    setenv("HOME", "/home/user", 1);
    unsetenv("XDG_CACHE_HOME");
}

static void full_name(const fixture_t *fixture, const char *path, char name[PATH_MAX])
{
    assert_int_equal(pwr_env_path(&fixture->env, path, name, PATH_MAX), PWR_OK);
}

static pwr_status_t save_of(fixture_t *fixture, const pwr_knowledge_machine_t *machine,
                            pwr_knowledge_entry_t entry, char why[PWR_KNOWLEDGE_WHY])
{
    pwr_knowledge_t *knowledge = knowing(entry);
    pwr_status_t status =
        pwr_knowledge_save(&fixture->env, NULL, machine, knowledge, why, PWR_KNOWLEDGE_WHY);
    pwr_knowledge_free(knowledge);
    return status;
}

static void expect_saved(fixture_t *fixture, pwr_knowledge_entry_t entry)
{
    char why[PWR_KNOWLEDGE_WHY];
    assert_int_equal(save_of(fixture, &here, entry, why), PWR_OK);
    assert_string_equal(why, "");
}

/* Not saved, for a reason with that word in it. */
static void expect_unsaved(fixture_t *fixture, pwr_status_t status, const char *word)
{
    char why[PWR_KNOWLEDGE_WHY];
    assert_int_equal(save_of(fixture, &here, entry_of(8, 3, 20000, 10), why), status);
    assert_non_null(strstr(why, FILE_NAME));
    assert_non_null(strstr(why, word));
}

static pwr_knowledge_t *load_of(fixture_t *fixture, const pwr_knowledge_machine_t *machine,
                                char why[PWR_KNOWLEDGE_WHY])
{
    pwr_knowledge_t *knowledge;
    assert_int_equal(
        pwr_knowledge_load(&fixture->env, NULL, machine, why, PWR_KNOWLEDGE_WHY, &knowledge),
        PWR_OK);
    return knowledge;
}

static pwr_knowledge_t *load(fixture_t *fixture)
{
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_t *knowledge = load_of(fixture, &here, why);
    assert_string_equal(why, "");
    return knowledge;
}

/* Nothing known, for a reason with that word in it. */
static void expect_left_out(fixture_t *fixture, const char *word)
{
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_t *knowledge = load_of(fixture, &here, why);
    assert_int_equal(count_of(knowledge), 0);
    assert_non_null(strstr(why, FILE_NAME));
    assert_non_null(strstr(why, word));
    pwr_knowledge_free(knowledge);
}

static unsigned count_saved(fixture_t *fixture, const pwr_knowledge_machine_t *machine)
{
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_t *knowledge = load_of(fixture, machine, why);
    unsigned count = count_of(knowledge);
    assert_string_equal(why, "");
    pwr_knowledge_free(knowledge);
    return count;
}

/* But for "." and "..". */
static unsigned count_names(const fixture_t *fixture, const char *folder)
{
    char name[PATH_MAX];
    unsigned names = 0;
    full_name(fixture, folder, name);
    DIR *directory = opendir(name);
    assert_non_null(directory);
    while (readdir(directory)) {
        names++;
    }
    closedir(directory);
    return names - 2;
}

/* ---- in memory ---- */

static void test_what_is_noted_is_found(void **state)
{
    (void)state;
    pwr_knowledge_t *knowledge = knowing(entry_of(8, 3, 20000, 10));
    note(knowledge, entry_of(8, 2, 20000, 20));
    note(knowledge, entry_of(4, 9, 20000, 30));
    note(knowledge, entry_of(8, 3, 20001, 40));
    assert_int_equal(count_of(knowledge), 3);
    assert_int_equal(find(knowledge, 8, 3)->calls, 40);
    assert_int_equal(find(knowledge, 4, 9)->calls, 30);
    assert_null(find(knowledge, 4, 3));
    assert_true(find(knowledge, 8, 2)->slowdown == 0.012346);
    pwr_knowledge_free(knowledge);
    pwr_knowledge_free(NULL);
}

static void test_wrong_values_are_not_noted(void **state)
{
    (void)state;
    const pwr_knowledge_entry_t good = entry_of(8, 3, 20000, 10);
    pwr_knowledge_entry_t bad[14];
    for (unsigned i = 0; i < 14; i++) {
        bad[i] = good;
    }
    bad[0].key.operation[0] = '\0';
    memset(bad[1].key.operation, 'a', sizeof bad[1].key.operation);
    bad[2].key.transport[1] = '"';
    bad[3].key.nodes = 0;
    bad[4].key.ranks_per_node = PWR_KNOWLEDGE_COUNT_MOST + 1;
    bad[5].key.size_class = PWR_KNOWLEDGE_SIZE_CLASSES;
    bad[6].algorithm[2] = ' ';
    bad[7].depth = PWR_AUDIT_REFERENCE + 1;
    bad[8].slowdown = INFINITY;
    bad[9].slowdown = -1.5;
    bad[10].gain = 0.0;
    bad[11].gain = NAN;
    bad[12].calls = PWR_KNOWLEDGE_CALLS_MOST + 1;
    bad[13].day = PWR_KNOWLEDGE_DAY_MOST + 1;
    pwr_knowledge_t *knowledge = pwr_knowledge_new();
    for (unsigned i = 0; i < 14; i++) {
        assert_int_equal(pwr_knowledge_note(knowledge, &bad[i]), PWR_ERR_RANGE);
    }
    assert_int_equal(count_of(knowledge), 0);
    note(knowledge, good);
    pwr_knowledge_free(knowledge);
}

/* As many as there may be, of one day; the more ranks, the more calls. */
static pwr_knowledge_t *full_one(uint32_t day)
{
    pwr_knowledge_t *knowledge = pwr_knowledge_new();
    for (unsigned i = 0; i < PWR_KNOWLEDGE_MOST; i++) {
        note(knowledge, entry_of(1 + i, 3, day, 100 + i));
    }
    return knowledge;
}

static void test_what_was_used_longest_ago_goes(void **state)
{
    (void)state;
    pwr_knowledge_t *knowledge = full_one(20000);
    note(knowledge, entry_of(5, 3, 19999, 1000000)); /* now the oldest */
    note(knowledge, entry_of(1, 4, 20000, 1));
    assert_int_equal(count_of(knowledge), PWR_KNOWLEDGE_MOST);
    assert_null(find(knowledge, 5, 3));
    assert_int_equal(find(knowledge, 1, 4)->calls, 1);
    note(knowledge, entry_of(1, 5, 20000, 2)); /* of one day, that of the fewest calls goes */
    assert_null(find(knowledge, 1, 4));
    assert_non_null(find(knowledge, 1, 3));
    assert_non_null(find(knowledge, PWR_KNOWLEDGE_MOST, 3));
    pwr_knowledge_free(knowledge);
}

static void test_checksum(void **state)
{
    (void)state;
    pwr_knowledge_t *one = knowing(entry_of(8, 3, 20000, 10));
    note(one, entry_of(8, 4, 20000, 20));
    pwr_knowledge_t *other = knowing(entry_of(8, 4, 20005, 20));
    assert_true(checksum(one) != checksum(other));
    note(other, entry_of(8, 3, 20000, 10));
    assert_true(checksum(one) == checksum(other)); /* another order, another day */
    note(other, entry_of(4, 3, 20000, 10));        /* of at most 8 ranks, not of 16 */
    assert_true(checksum(one) == checksum(other));
    assert_true(pwr_knowledge_checksum(one, 8) != pwr_knowledge_checksum(other, 8));
    pwr_knowledge_entry_t changed = entry_of(8, 3, 20000, 30);
    changed.depth = PWR_AUDIT_LINGER; /* each rank's own */
    note(other, changed);
    assert_true(checksum(one) == checksum(other));
    snprintf(changed.algorithm, sizeof changed.algorithm, "box");
    note(other, changed);
    assert_true(checksum(one) != checksum(other));
    pwr_knowledge_free(one);
    pwr_knowledge_free(other);
}

/* ---- as text ---- */

static pwr_status_t parse(const char *text, const pwr_knowledge_machine_t *machine,
                          char why[PWR_KNOWLEDGE_WHY], pwr_knowledge_t **knowledge)
{
    return pwr_knowledge_parse(text, strlen(text), machine, why, PWR_KNOWLEDGE_WHY, knowledge);
}

static void test_round_trip(void **state)
{
    (void)state;
    char why[PWR_KNOWLEDGE_WHY];
    char *text;
    pwr_knowledge_t *again;
    pwr_knowledge_t *knowledge = knowing(entry_of(8, 3, 20000, PWR_KNOWLEDGE_CALLS_MOST));
    pwr_knowledge_entry_t edges = entry_of(8, 15, PWR_KNOWLEDGE_DAY_MOST, 0);
    edges.slowdown = -0.0000001; /* is rounded to 0 */
    edges.gain = PWR_KNOWLEDGE_RATIO_MOST - 1.0 / 3.0;
    note(knowledge, edges);
    assert_int_equal(pwr_knowledge_format(knowledge, &here, &text), PWR_OK);
    assert_int_equal(parse(text, &here, why, &again), PWR_OK);
    assert_int_equal(count_of(again), 2);
    assert_true(checksum(again) == checksum(knowledge));
    assert_int_equal(find(again, 8, 15)->day, PWR_KNOWLEDGE_DAY_MOST);
    pwr_knowledge_free(again);
    pwr_knowledge_machine_t other = here;
    other.cpus = 63;
    assert_int_equal(parse(text, &other, why, &again), PWR_OK);
    assert_int_equal(count_of(again), 0);
    pwr_knowledge_free(again);
    pwr_knowledge_free(knowledge);
    free(text);
    other.mpi[0] = (char)0xff;
    knowledge = pwr_knowledge_new();
    assert_int_equal(pwr_knowledge_format(knowledge, &other, &text), PWR_ERR_RANGE);
    pwr_knowledge_free(knowledge);
}

/* Entries with the longest texts there are. */
static pwr_knowledge_t *longest_one(void)
{
    pwr_knowledge_t *knowledge = pwr_knowledge_new();
    pwr_knowledge_entry_t entry = entry_of(1, 15, PWR_KNOWLEDGE_DAY_MOST, PWR_KNOWLEDGE_CALLS_MOST);
    memset(entry.key.operation, 'o', sizeof entry.key.operation - 1);
    memset(entry.key.transport, 't', sizeof entry.key.transport - 1);
    memset(entry.algorithm, 'a', sizeof entry.algorithm - 1);
    entry.pairs = entry.trials = entry.key.nodes = PWR_KNOWLEDGE_COUNT_MOST;
    entry.slowdown = entry.gain = 123456.123456;
    for (unsigned i = 0; i < PWR_KNOWLEDGE_MOST; i++) {
        entry.key.ranks_per_node = PWR_KNOWLEDGE_COUNT_MOST - i;
        note(knowledge, entry);
    }
    return knowledge;
}

static void test_the_longest_text_fits(void **state)
{
    (void)state;
    char why[PWR_KNOWLEDGE_WHY];
    char *text;
    pwr_knowledge_t *again;
    pwr_knowledge_t *knowledge = longest_one();
    assert_int_equal(pwr_knowledge_format(knowledge, &here, &text), PWR_OK);
    assert_true(strlen(text) <= PWR_KNOWLEDGE_BYTES_MOST);
    assert_int_equal(parse(text, &here, why, &again), PWR_OK);
    assert_int_equal(count_of(again), PWR_KNOWLEDGE_MOST);
    pwr_knowledge_free(again);
    pwr_knowledge_free(knowledge);
    free(text);
}

#define ENTRY_HEAD                                                                                 \
    "{\"operation\":\"bcast\",\"transport\":\"ob1\",\"nodes\":1,\"ranks_per_node\":4,"             \
    "\"size_class\":3,\"algorithm\":\"box\",\"depth\":\"levers\",\"pairs\":5,\"trials\":6,"        \
    "\"slowdown\":0,\"gain\":0.5,\"calls\":7,"
#define ENTRY ENTRY_HEAD "\"day\":8}"
#define MACHINE(entries)                                                                           \
    "{\"cpu\":{\"vendor\":\"\",\"name\":\"\",\"family\":0,\"model\":0},\"cpus\":4,"                \
    "\"mpi\":\"Open MPI 4.1.4\",\"entries\":[" entries "]}"
#define DOCUMENT(machines) "{\"format_version\":1,\"machines\":[" machines "]}"

static const pwr_knowledge_machine_t unknown = {.cpus = 4, .mpi = "Open MPI 4.1.4"};

static void test_strange_texts_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pwr_status_t status;
        const char *word;
    } rows[] = {
        {"", PWR_ERR_PARSE, "line 1"},
        {"[]", PWR_ERR_PARSE, "format_version"},
        {"{\"format_version\":\"1\",\"machines\":[]}", PWR_ERR_PARSE, "format_version"},
        {"{\"format_version\":0,\"machines\":[]}", PWR_ERR_PARSE, "reads version 1"},
        {"{\"format_version\":2,\"news\":[]}", PWR_ERR_UNSUPPORTED, "newer"},
        {"{\"format_version\":1}", PWR_ERR_PARSE, "machines"},
        {"{\"format_version\":1,\"machines\":{}}", PWR_ERR_PARSE, "machines"},
        {"{\"format_version\":1,\"machines\":[],\"more\":1}", PWR_ERR_PARSE, "more"},
        {DOCUMENT("1"), PWR_ERR_PARSE, "machines[0]"},
        {DOCUMENT(MACHINE("") "," MACHINE("")), PWR_ERR_PARSE, "machines[1]: machine: there twice"},
        {DOCUMENT(MACHINE("[]")), PWR_ERR_PARSE, "machines[0].entries[0]"},
        {DOCUMENT(MACHINE(ENTRY "," ENTRY)), PWR_ERR_PARSE, "entries[1]: entry: there twice"},
        {DOCUMENT(MACHINE(ENTRY_HEAD "\"night\":8}")), PWR_ERR_PARSE, "day"},
        {DOCUMENT(MACHINE(ENTRY_HEAD "\"day\":8,\"night\":8}")), PWR_ERR_PARSE, "night"},
        {DOCUMENT(MACHINE(ENTRY_HEAD "\"day\":8.5}")), PWR_ERR_PARSE, "integer"},
        {DOCUMENT(MACHINE(ENTRY_HEAD "\"day\":-1}")), PWR_ERR_RANGE, "day"},
        {DOCUMENT(MACHINE(ENTRY_HEAD "\"day\":100000}")), PWR_ERR_RANGE, "day"},
        {DOCUMENT(MACHINE(ENTRY_HEAD "\"day\":8,\"day\":8}")), PWR_ERR_PARSE, "duplicate"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[PWR_KNOWLEDGE_WHY];
        pwr_knowledge_t *knowledge;
        assert_int_equal(parse(rows[i].text, &unknown, why, &knowledge), rows[i].status);
        assert_non_null(strstr(why, rows[i].word));
    }
}

/* A whole number counts as a ratio, too. */
static void test_a_text_by_hand(void **state)
{
    (void)state;
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_t *knowledge;
    assert_int_equal(parse(DOCUMENT(MACHINE(ENTRY)), &unknown, why, &knowledge), PWR_OK);
    unsigned count;
    const pwr_knowledge_entry_t *entry = pwr_knowledge_entries(knowledge, &count);
    assert_int_equal(count, 1);
    assert_string_equal(entry->key.operation, "bcast");
    assert_string_equal(entry->key.transport, "ob1");
    assert_string_equal(entry->algorithm, "box");
    assert_int_equal(entry->key.nodes, 1);
    assert_int_equal(entry->key.ranks_per_node, 4);
    assert_int_equal(entry->key.size_class, 3);
    assert_int_equal(entry->depth, PWR_AUDIT_LEVERS);
    assert_int_equal(entry->pairs, 5);
    assert_int_equal(entry->trials, 6);
    assert_true(entry->slowdown == 0.0 && entry->gain == 0.5);
    assert_int_equal(entry->calls, 7);
    assert_int_equal(entry->day, 8);
    pwr_knowledge_free(knowledge);
}

/* ---- the file ---- */

static void test_without_a_file(void **state)
{
    fixture_t *fixture = *state;
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_t *knowledge;
    setenv("HOME", "/nowhere", 1); /* is not made */
    unsetenv("XDG_CACHE_HOME");
    assert_int_equal(count_saved(fixture, &here), 0);
    assert_int_equal(save_of(fixture, &here, entry_of(8, 3, 20000, 10), why), PWR_ERR_UNSUPPORTED);
    assert_non_null(strstr(why, "/nowhere/.cache/poweraware/knowledge.json: No such file"));
    unsetenv("HOME");
    assert_int_equal(pwr_knowledge_load(&fixture->env, NULL, &here, why, sizeof why, &knowledge),
                     PWR_ERR_UNSUPPORTED);
    assert_non_null(strstr(why, "HOME"));
    assert_int_equal(
        pwr_knowledge_load(&fixture->env, "knowledge", &here, why, sizeof why, &knowledge),
        PWR_ERR_ARG);
    assert_non_null(strstr(why, "not an absolute path"));
}

static void expect_mode(const fixture_t *fixture, const char *path, unsigned mode)
{
    char name[PATH_MAX];
    struct stat info;
    full_name(fixture, path, name);
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_mode & 07777, mode);
}

static void test_what_is_saved_is_loaded(void **state)
{
    fixture_t *fixture = *state;
    put_home(fixture);
    mode_t before = umask(0);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    umask(before);
    pwr_knowledge_t *knowledge = load(fixture);
    assert_int_equal(find(knowledge, 8, 3)->calls, 10);
    pwr_knowledge_free(knowledge);
    expect_mode(fixture, FILE_NAME, 0600);
    expect_mode(fixture, FOLDER, 0700);
    assert_int_equal(count_names(fixture, FOLDER), 2); /* with its lock */
    setenv("XDG_CACHE_HOME", "/home/user/other", 1);
    assert_int_equal(count_saved(fixture, &here), 0);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    expect_mode(fixture, "/home/user/other/poweraware/knowledge.json", 0600);
    assert_string_equal(fixture->log, "");
}

/* Later days win, of one day more calls, of the same ours. */
static void test_other_jobs_entries_stay(void **state)
{
    fixture_t *fixture = *state;
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    expect_saved(fixture, entry_of(8, 4, 19000, 10));
    expect_saved(fixture, entry_of(8, 3, 19999, 99));
    expect_saved(fixture, entry_of(8, 4, 19000, 11));
    expect_saved(fixture, entry_of(8, 4, 19000, 5));
    pwr_knowledge_entry_t same = entry_of(8, 4, 19000, 11);
    same.depth = PWR_AUDIT_REFERENCE;
    expect_saved(fixture, same);
    pwr_knowledge_t *knowledge = load(fixture);
    assert_int_equal(count_of(knowledge), 2);
    assert_int_equal(find(knowledge, 8, 3)->calls, 10);
    assert_int_equal(find(knowledge, 8, 4)->calls, 11);
    assert_int_equal(find(knowledge, 8, 4)->depth, PWR_AUDIT_REFERENCE);
    pwr_knowledge_free(knowledge);
}

/* Also those of other types; the file, once full, loses what was used longest ago. */
static void test_other_machines_stay_while_there_is_room(void **state)
{
    fixture_t *fixture = *state;
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_machine_t machine = here;
    put_home(fixture);
    for (unsigned i = 0; i <= PWR_KNOWLEDGE_MACHINES_MOST; i++) {
        machine.cpus = 1 + i;
        uint32_t day = i == 5 ? 18000 : 19000 + i;
        assert_int_equal(save_of(fixture, &machine, entry_of(8, 3, day, 10), why), PWR_OK);
    }
    for (unsigned i = 0; i <= PWR_KNOWLEDGE_MACHINES_MOST; i++) {
        machine.cpus = 1 + i;
        assert_int_equal(count_saved(fixture, &machine), i == 5 ? 0 : 1);
    }
}

static void save_full(fixture_t *fixture, unsigned cpus, const pwr_knowledge_t *knowledge)
{
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_machine_t machine = here;
    machine.cpus = cpus;
    assert_int_equal(pwr_knowledge_save(&fixture->env, NULL, &machine, knowledge, why, sizeof why),
                     PWR_OK);
}

static unsigned count_of_cpus(fixture_t *fixture, unsigned cpus)
{
    pwr_knowledge_machine_t machine = here;
    machine.cpus = cpus;
    return count_saved(fixture, &machine);
}

static void test_a_file_is_bounded(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    struct stat info;
    put_home(fixture);
    pwr_knowledge_t *old = full_one(19000);
    pwr_knowledge_t *young = full_one(20000);
    pwr_knowledge_t *longest = longest_one();
    save_full(fixture, 1, young);
    save_full(fixture, 2, old);
    assert_int_equal(count_of_cpus(fixture, 1), PWR_KNOWLEDGE_MOST);
    assert_int_equal(count_of_cpus(fixture, 2), PWR_KNOWLEDGE_MOST);
    save_full(fixture, 3, longest);
    full_name(fixture, FILE_NAME, name);
    assert_int_equal(stat(name, &info), 0);
    assert_true(info.st_size <= PWR_KNOWLEDGE_BYTES_MOST);
    assert_int_equal(count_of_cpus(fixture, 2), 0);
    assert_int_equal(count_of_cpus(fixture, 3), PWR_KNOWLEDGE_MOST);
    pwr_knowledge_free(old);
    pwr_knowledge_free(young);
    pwr_knowledge_free(longest);
}

/* What is new has to be newer than what is there. */
static void test_a_full_machine_keeps_what_was_used_last(void **state)
{
    fixture_t *fixture = *state;
    put_home(fixture);
    pwr_knowledge_t *knowledge = full_one(19000);
    save_full(fixture, here.cpus, knowledge);
    pwr_knowledge_free(knowledge);
    expect_saved(fixture, entry_of(8, 4, 18999, 1000000));
    expect_saved(fixture, entry_of(8, 5, 19001, 1));
    knowledge = load(fixture);
    assert_int_equal(count_of(knowledge), PWR_KNOWLEDGE_MOST);
    assert_null(find(knowledge, 8, 4));
    assert_non_null(find(knowledge, 8, 5));
    assert_null(find(knowledge, 1, 3));
    pwr_knowledge_free(knowledge);
}

/* A day that is yet to come would win for ever. */
static void test_the_future_is_today(void **state)
{
    fixture_t *fixture = *state;
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, PWR_KNOWLEDGE_DAY_MOST, 10));
    expect_saved(fixture, entry_of(8, 3, pwr_knowledge_today(), 11));
    pwr_knowledge_t *knowledge = load(fixture);
    assert_int_equal(find(knowledge, 8, 3)->calls, 11);
    assert_true(find(knowledge, 8, 3)->day <= pwr_knowledge_today());
    pwr_knowledge_free(knowledge);
}

/* One after the other, each as often as it takes: a machine may stand still. */
static int write_much(fixture_t *fixture, unsigned writer)
{
    char why[PWR_KNOWLEDGE_WHY];
    for (unsigned i = 0; i < ENTRIES_EACH; i++) {
        pwr_status_t status;
        do {
            status = save_of(fixture, &here, entry_of(1 + writer, i, 20000, 10), why);
        } while (status == PWR_ERR_TIMEOUT);
        if (status != PWR_OK) {
            return 1;
        }
    }
    return 0;
}

static void test_writers_lose_nothing(void **state)
{
    fixture_t *fixture = *state;
    int result;
    pid_t children[WRITERS];
    put_home(fixture);
    for (unsigned i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            _exit(write_much(fixture, i));
        }
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
    assert_int_equal(count_saved(fixture, &here), WRITERS * ENTRIES_EACH);
    assert_int_equal(count_names(fixture, FOLDER), 2);
}

static void test_torn_at_every_length(void **state)
{
    fixture_t *fixture = *state;
    char text[4096], name[PATH_MAX];
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    fixture_get(fixture, FILE_NAME, text, sizeof text);
    full_name(fixture, FILE_NAME, name);
    for (size_t length = strlen(text) - 2; length > 0; length--) { /* "}\n" is its end */
        assert_int_equal(truncate(name, (off_t)length), 0);
        expect_left_out(fixture, "line ");
    }
    assert_int_equal(truncate(name, 0), 0);
    expect_left_out(fixture, "line ");
}

static void test_a_damaged_file_is_replaced(void **state)
{
    fixture_t *fixture = *state;
    char why[PWR_KNOWLEDGE_WHY];
    put_home(fixture);
    fixture_put(fixture, FILE_NAME, DOCUMENT(MACHINE("1")));
    assert_int_equal(save_of(fixture, &here, entry_of(8, 3, 20000, 10), why), PWR_OK);
    assert_non_null(strstr(why, "machines[0].entries[0]"));
    assert_int_equal(count_saved(fixture, &here), 1);
}

static void expect_untouched(const fixture_t *fixture, const char *path, const char *text)
{
    char found[4096];
    fixture_get(fixture, path, found, sizeof found);
    assert_string_equal(found, text);
}

static void test_a_newer_version_stays(void **state)
{
    fixture_t *fixture = *state;
    static const char text[] = "{\"format_version\":2,\"news\":[]}";
    put_home(fixture);
    fixture_put(fixture, FILE_NAME, text);
    expect_left_out(fixture, "newer");
    expect_unsaved(fixture, PWR_ERR_UNSUPPORTED, "newer");
    expect_untouched(fixture, FILE_NAME, text);
}

static void test_other_things_than_files_stay(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    struct stat info;
    static const char elsewhere[] = DOCUMENT(MACHINE(ENTRY));
    put_home(fixture);
    fixture_put(fixture, "/elsewhere", elsewhere);
    fixture_link(fixture, FILE_NAME, "/elsewhere");
    expect_left_out(fixture, "link");
    expect_unsaved(fixture, PWR_ERR_PERM, "link");
    expect_untouched(fixture, "/elsewhere", elsewhere);
    fixture_remove(fixture, FILE_NAME);
    full_name(fixture, FILE_NAME, name);
    assert_int_equal(mkfifo(name, 0600), 0);
    expect_left_out(fixture, "not a regular file");
    expect_unsaved(fixture, PWR_ERR_PERM, "not a regular file");
    assert_true(stat(name, &info) == 0 && S_ISFIFO(info.st_mode));
    fixture_remove(fixture, FILE_NAME);
    fixture_make_directory(fixture, FILE_NAME);
    expect_left_out(fixture, "not a regular file");
    expect_unsaved(fixture, PWR_ERR_PERM, "not a regular file");
    fixture_remove(fixture, FILE_NAME);
    fixture_remove(fixture, FILE_NAME ".lock");
    fixture_link(fixture, FILE_NAME ".lock", "/elsewhere");
    expect_unsaved(fixture, PWR_ERR_IO, ".lock");
}

static void test_a_file_that_others_may_write_stays(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    full_name(fixture, FILE_NAME, name);
    assert_int_equal(chmod(name, 0620), 0);
    expect_left_out(fixture, "others may write");
    expect_unsaved(fixture, PWR_ERR_PERM, "others may write");
    expect_mode(fixture, FILE_NAME, 0620);
    assert_int_equal(chmod(name, 0644), 0);
    assert_int_equal(count_saved(fixture, &here), 1);
}

static void test_a_file_of_another_user_stays(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    if (geteuid() != 0) {
        print_message("only root can give a file away\n");
        skip();
    }
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    full_name(fixture, FILE_NAME, name);
    assert_int_equal(chown(name, NOBODY, NOBODY), 0);
    expect_left_out(fixture, "another user");
    expect_unsaved(fixture, PWR_ERR_PERM, "another user");
}

static int load_as_other(fixture_t *fixture)
{
    return (int)count_saved(fixture, &here);
}

static void test_roots_file_is_believed(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    if (geteuid() != 0) {
        print_message("only root can make a file of root's\n");
        skip();
    }
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    full_name(fixture, FILE_NAME, name);
    assert_int_equal(chmod(name, 0644), 0);
    full_name(fixture, FOLDER, name);
    assert_int_equal(chmod(name, 0755), 0);
    full_name(fixture, "/home/user/.cache", name);
    assert_int_equal(chmod(name, 0755), 0);
    assert_int_equal(fixture_run_unprivileged(fixture, load_as_other), 1);
}

static void test_a_large_file_stays(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    put_home(fixture);
    fixture_put(fixture, FILE_NAME, DOCUMENT(""));
    full_name(fixture, FILE_NAME, name);
    assert_int_equal(truncate(name, PWR_KNOWLEDGE_BYTES_MOST + 1), 0);
    expect_left_out(fixture, "larger");
    expect_unsaved(fixture, PWR_ERR_RANGE, "larger");
}

static void test_a_full_disk_leaves_the_old_one(void **state)
{
    fixture_t *fixture = *state;
    char before[4096];
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
    fixture_get(fixture, FILE_NAME, before, sizeof before);
    fixture_limit_writes(100);
    expect_unsaved(fixture, PWR_ERR_IO, "File too large");
    fixture_limit_writes(RLIM_INFINITY);
    expect_untouched(fixture, FILE_NAME, before);
    assert_int_equal(count_names(fixture, FOLDER), 2); /* nothing half-written */
    expect_saved(fixture, entry_of(8, 4, 20000, 10));
    assert_int_equal(count_saved(fixture, &here), 2);
}

static void test_a_lock_that_is_never_let_go(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    put_home(fixture);
    expect_saved(fixture, entry_of(8, 4, 20000, 10));
    full_name(fixture, FILE_NAME ".lock", name);
    FILE *lock = fopen(name, "r+");
    assert_non_null(lock);
    assert_int_equal(flock(fileno(lock), LOCK_EX), 0);
    expect_unsaved(fixture, PWR_ERR_TIMEOUT, ".lock: somebody holds it");
    assert_int_equal(count_saved(fixture, &here), 1); /* readers need none */
    fclose(lock);
    expect_saved(fixture, entry_of(8, 3, 20000, 10));
}

/* ---- rights of somebody else ---- */

/* This program, set-uid: 0 when it neither reads nor writes. */
static int be_secure(const char *path)
{
    char why[PWR_KNOWLEDGE_WHY];
    pwr_knowledge_t *knowledge = NULL;
    if (getauxval(AT_SECURE) == 0) {
        return NOT_SECURE;
    }
    if (pwr_knowledge_load(&pwr_env_real, path, &here, why, sizeof why, &knowledge) !=
            PWR_ERR_UNSUPPORTED ||
        !strstr(why, "set-uid")) {
        return 1;
    }
    knowledge = knowing(entry_of(8, 3, 20000, 10));
    bool refused = pwr_knowledge_save(&pwr_env_real, path, &here, knowledge, why, sizeof why) ==
                       PWR_ERR_UNSUPPORTED &&
                   strstr(why, "set-uid");
    pwr_knowledge_free(knowledge);
    return refused ? 0 : 2;
}

static int become_secure(fixture_t *fixture)
{
    char program[PATH_MAX], path[PATH_MAX];
    full_name(fixture, "/secure", program);
    full_name(fixture, "/knowledge.json", path);
    execl(program, program, path, (char *)NULL);
    return 3;
}

static void test_a_set_uid_program_keeps_no_knowledge(void **state)
{
    fixture_t *fixture = *state;
    char name[PATH_MAX];
    if (geteuid() != 0) {
        print_message("only root can make a program that is set-uid\n");
        skip();
    }
    fixture_put_program(fixture, "tests/test_knowledge", "/secure");
    full_name(fixture, "/secure", name);
    assert_int_equal(chmod(name, 04755), 0);
    int result = fixture_run_unprivileged(fixture, become_secure);
    if (result == NOT_SECURE) {
        print_message("set-uid does nothing here (nosuid)\n");
        skip();
    }
    assert_int_equal(result, 0);
    full_name(fixture, "/knowledge.json", name);
    assert_int_equal(access(name, F_OK), -1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_noted_is_found),
        cmocka_unit_test(test_wrong_values_are_not_noted),
        cmocka_unit_test(test_what_was_used_longest_ago_goes),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_the_longest_text_fits),
        cmocka_unit_test(test_strange_texts_are_refused),
        cmocka_unit_test(test_a_text_by_hand),
        FIXTURE_TEST(test_without_a_file),
        FIXTURE_TEST(test_what_is_saved_is_loaded),
        FIXTURE_TEST(test_other_jobs_entries_stay),
        FIXTURE_TEST(test_other_machines_stay_while_there_is_room),
        FIXTURE_TEST(test_a_file_is_bounded),
        FIXTURE_TEST(test_a_full_machine_keeps_what_was_used_last),
        FIXTURE_TEST(test_the_future_is_today),
        FIXTURE_TEST(test_writers_lose_nothing),
        FIXTURE_TEST(test_torn_at_every_length),
        FIXTURE_TEST(test_a_damaged_file_is_replaced),
        FIXTURE_TEST(test_a_newer_version_stays),
        FIXTURE_TEST(test_other_things_than_files_stay),
        FIXTURE_TEST(test_a_file_that_others_may_write_stays),
        FIXTURE_TEST(test_a_file_of_another_user_stays),
        FIXTURE_TEST(test_roots_file_is_believed),
        FIXTURE_TEST(test_a_large_file_stays),
        FIXTURE_TEST(test_a_full_disk_leaves_the_old_one),
        FIXTURE_TEST(test_a_lock_that_is_never_let_go),
        FIXTURE_TEST(test_a_set_uid_program_keeps_no_knowledge),
    };
    if (argc > 1) {
        return be_secure(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
