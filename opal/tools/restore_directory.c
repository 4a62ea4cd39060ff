/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore: all journals and pages of one run-time directory, and names of shared memory,
 * as the user who owns them.
 */
#include "config.h"

#include "tools/poweraware_restore.h"

#include "guard/restore.h"
#include "pwr/shm.h"
#include "record/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WHY_BYTES = 2 * PATH_MAX, MAX_JOURNALS = 65536 };

/* Names, jobs and the root (which is in reasons) come from files that their owner may have forged:
   nothing in them may reach a terminal as anything but text. */
static const char *printable(char *text)
{
    for (char *byte = text; *byte != '\0'; byte++) {
        *byte = *byte >= ' ' && *byte <= '~' ? *byte : '?';
    }
    return text;
}

/* ---- one control ---- */

static const char *unit_of(const pwr_journal_record_t *record)
{
    return pwr_journal_is_khz(record->kind) ? " kHz" : "";
}

static const char *show(const pwr_journal_record_t *record, uint64_t value, char text[32])
{
    snprintf(text, 32, pwr_journal_is_khz(record->kind) ? "%" PRIu64 : "0x%" PRIx64, value);
    return text;
}

typedef struct told {
    const restore_request_t *request;
    bool is_left; /* something, which is a dry run's or a guardian's */
} told_t;

static const char *verb_of(const restore_request_t *request)
{
    return request->guardian_has_it ? "not restored"
           : request->dry_run       ? "would restore"
                                    : "restored";
}

static void report(void *arg, const pwr_restore_outcome_t *outcome)
{
    told_t *told = arg;
    const restore_request_t *request = told->request;
    const pwr_journal_record_t *record = outcome->record;
    const char *name = pwr_control_kind_name(record->kind);
    const char *unit = unit_of(record);
    char found[32], original[32], reason[WHY_BYTES];
    show(record, outcome->found, found);
    show(record, record->original, original);
    switch (outcome->result) {
    case PWR_RESTORE_RESTORED:
        printf("  %s CPU %u %s %s -> %s%s\n", verb_of(request), record->cpu, name, found, original,
               unit);
        told->is_left = request->dry_run;
        break;
    case PWR_RESTORE_ALREADY:
        if (request->verbose) {
            printf("  CPU %u %s is %s%s already\n", record->cpu, name, original, unit);
        }
        break;
    case PWR_RESTORE_FOREIGN:
        printf("  left CPU %u %s at %s%s, which somebody else has set (it was %s)\n", record->cpu,
               name, found, unit, original);
        break;
    default:
        snprintf(reason, sizeof reason, "%s", outcome->reason);
        fprintf(stderr, "poweraware-restore: CPU %u %s is not restored to %s%s: %s%s\n",
                record->cpu, name, original, unit,
                outcome->result == PWR_RESTORE_OFFLINE ? "offline or gone: " : "",
                printable(reason));
    }
}

/* ---- one journal ---- */

static const char *full_name(const pwr_rundir_t *rundir, const char *name, char text[WHY_BYTES])
{
    snprintf(text, WHY_BYTES, "%s/%s", pwr_rundir_name(rundir), name);
    return printable(text);
}

/* All levers start anew with the machine; where the journal says nothing of a boot or of a job, it
   is taken to be of this one: only values that were ours are replaced anyway. */
typedef enum origin { HERE_AND_NOW, EARLIER_BOOT, OTHER_HOST } origin_t;

static origin_t origin_of(const pwr_journal_header_t *header)
{
    pwr_journal_header_t here;
    pwr_identity_describe(getpid(), &here);
    if (header->boot[0] == '\0' || here.boot[0] == '\0' || strcmp(header->boot, here.boot) == 0) {
        return HERE_AND_NOW;
    }
    return strcmp(header->host, here.host) == 0 ? EARLIER_BOOT : OTHER_HOST;
}

static bool remove_journal(const restore_request_t *request, const pwr_journal_file_t *file,
                           const char *name)
{
    if (request->dry_run) {
        return true;
    }
    pwr_status_t status = pwr_journal_remove(file);
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-restore: cannot remove %s: %s\n", name,
                pwr_status_text(status));
    }
    return status == PWR_OK;
}

static bool restore_controls(const restore_request_t *request, const pwr_journal_file_t *file,
                             const char *name)
{
    const pwr_journal_t *journal = &file->journal;
    told_t told = {.request = request};
    const pwr_restore_options_t options = {.dry_run = request->dry_run,
                                           .helper_dir = request->env.helper_dir,
                                           .report = report,
                                           .arg = &told};
    char job[PWR_JOURNAL_WORD_BYTES];
    snprintf(job, sizeof job, "%s", journal->header.job);
    printf("%s: job %s, process %ld\n", name, printable(job), (long)journal->header.pid);
    if (request->guardian_has_it) {
        printf("  left to its poweraware-guard, which lives and does not restore (is it "
               "stopped?): continue or kill it, and run this again\n");
    }
    pwr_status_t status = pwr_restore(journal, &options);
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-restore: %s is kept for another attempt\n", name);
        return false;
    }
    return remove_journal(request, file, name) && !told.is_left;
}

static bool restore_opened(const restore_request_t *request, const pwr_journal_file_t *file,
                           const char *name)
{
    const pwr_journal_t *journal = &file->journal;
    if (journal->torn && request->verbose) {
        printf("%s: its last line was interrupted and does not count\n", name);
    }
    if (!journal->has_header) {
        printf("%s: nothing was changed yet; %s\n", name,
               request->dry_run ? "would be removed" : "removed");
        return remove_journal(request, file, name);
    }
    if (request->job && strcmp(journal->header.job, request->job) != 0) {
        return true;
    }
    switch (origin_of(&journal->header)) {
    case EARLIER_BOOT:
        printf("%s: of an earlier boot, so nothing is left to restore; %s\n", name,
               request->dry_run ? "would be removed" : "removed");
        return remove_journal(request, file, name);
    case OTHER_HOST:
        printf("%s: of another host; left alone\n", name);
        return true;
    default:
        return restore_controls(request, file, name);
    }
}

/* A journal that a stopped guardian has is looked at only: once it goes on, it restores. */
static bool restore_journal(const restore_request_t *request, const pwr_rundir_t *rundir,
                            const char *file_name)
{
    char why[WHY_BYTES] = "", name[WHY_BYTES];
    pwr_journal_file_t *file;
    restore_request_t way = *request;
    full_name(rundir, file_name, name);
    pwr_status_t status = pwr_journal_open(rundir, file_name, NULL, why, sizeof why, &file);
    if (status == PWR_ERR_TIMEOUT) {
        way.dry_run = way.guardian_has_it = true;
        status = pwr_journal_look(rundir, file_name, why, sizeof why, &file);
    }
    if (status == PWR_ERR_UNSUPPORTED) {
        return true; /* somebody else was faster */
    }
    if (status == PWR_ERR_SHARED) {
        if (request->verbose) {
            printf("%s: in use; left alone\n", name);
        }
        return true;
    }
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-restore: %s; kept\n", printable(why));
        return false;
    }
    bool done = restore_opened(&way, file, name);
    pwr_journal_close(file);
    return done;
}

/* ---- all journals ---- */

typedef struct found {
    char name[NAME_MAX + 1];
    struct timespec changed;
} found_t;

typedef struct list {
    found_t *found;
    size_t count;
    size_t capacity;
} list_t;

static int newest_first(const void *left, const void *right)
{
    const struct timespec *a = &((const found_t *)left)->changed;
    const struct timespec *b = &((const found_t *)right)->changed;
    if (a->tv_sec != b->tv_sec) {
        return a->tv_sec > b->tv_sec ? -1 : 1;
    }
    return a->tv_nsec > b->tv_nsec ? -1 : a->tv_nsec < b->tv_nsec;
}

static bool is_wanted(const restore_request_t *request, const char *name)
{
    size_t prefix = strlen(PWR_JOURNAL_PREFIX);
    if (strncmp(name, PWR_JOURNAL_PREFIX, prefix) != 0) {
        return false;
    }
    return !request->job || strncmp(name + prefix, request->job, strlen(request->job)) == 0;
}

static bool add(list_t *list, const pwr_rundir_t *rundir, const char *name)
{
    struct stat info;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        found_t *found = realloc(list->found, capacity * sizeof *found);
        if (!found || capacity > MAX_JOURNALS) {
            list->found = found ? found : list->found;
            return false;
        }
        list->found = found;
        list->capacity = capacity;
    }
    found_t *next = &list->found[list->count];
    if (fstatat(pwr_rundir_fd(rundir), name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        snprintf(next->name, sizeof next->name, "%s", name);
        next->changed = info.st_mtim;
        list->count++;
    }
    return true;
}

static bool find_journals(const restore_request_t *request, const pwr_rundir_t *rundir,
                          list_t *list)
{
    int fd = openat(pwr_rundir_fd(rundir), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    bool complete = directory != NULL;
    if (!directory) {
        fprintf(stderr, "poweraware-restore: %s: %s\n", pwr_rundir_name(rundir), strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    while (complete && (entry = readdir(directory))) {
        complete = !is_wanted(request, entry->d_name) || add(list, rundir, entry->d_name);
    }
    if (!complete) {
        fprintf(stderr, "poweraware-restore: %s: more journals than can be handled at once\n",
                pwr_rundir_name(rundir));
    }
    closedir(directory);
    return complete;
}

/* A dry run is started by people, who want to be told. */
static void say_there_are_none(const restore_request_t *request, const char *directory)
{
    if (request->dry_run) {
        printf("%s: no journals%s%s: nothing to restore\n", directory,
               request->job ? " of job " : "", request->job ? request->job : "");
    }
}

bool restore_directory(const restore_request_t *request)
{
    pwr_rundir_t *rundir;
    list_t list = {0};
    if (!request->dry_run && !request->job) {
        pwr_shm_sweep(&request->env);
    }
    pwr_status_t status =
        pwr_rundir_open(&request->env, request->run_directory, PWR_RUNDIR_EXISTING, &rundir);
    if (status == PWR_ERR_UNSUPPORTED) {
        say_there_are_none(request, "no run-time directory");
        return true;
    }
    if (status != PWR_OK) {
        return false; /* it was said */
    }
    bool done = find_journals(request, rundir, &list);
    if (list.count == 0) {
        say_there_are_none(request, pwr_rundir_name(rundir));
    } else {
        qsort(list.found, list.count, sizeof list.found[0], newest_first);
    }
    for (size_t i = 0; i < list.count; i++) {
        done = restore_journal(request, rundir, list.found[i].name) && done;
    }
    free(list.found);
    if (!request->dry_run && !request->job) {
        pwr_page_sweep(rundir, NULL); /* recorders may have been killed, too */
    }
    pwr_rundir_close(rundir);
    return done;
}
