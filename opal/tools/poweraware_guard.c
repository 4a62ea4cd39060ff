/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian process: writes down originals, and writes them back when its client is gone.
 *
 *   1. detach: no files but the socket, no signals that end a job, no parent to be waited for by;
 *   2. begin a journal, or take over that of a guardian that was killed;
 *   3. put what the client sends into it and confirm each, until a farewell, or the end of the
 *      socket or of the client; when the client is stopped, restore once, and remember that for
 *      when it asks;
 *   4. unless it was a farewell, restore; then remove the journal.
 */
#include "config.h"

#include "guard/guard_wire.h"
#include "guard/restore.h"
#include "helper/detach.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

typedef struct guardian {
    pwr_env_t env;
    char reason[PWR_GUARD_REASON_BYTES]; /* the last line that the library had to say */
    char helper_dir[PATH_MAX];           /* where this program is */
    pwr_rundir_t *rundir;
    pwr_journal_file_t *journal;
    bool stopped; /* the client, when it was last looked at */
} guardian_t;

/* ---- 2. the journal ---- */

static void keep_line(void *arg, pwr_log_level_t level, const char *line)
{
    guardian_t *self = arg;
    if (level == PWR_LOG_WARN) {
        snprintf(self->reason, sizeof self->reason, "%s", line);
    }
}

/* Other helpers are beside this one, also where nothing is installed. */
static void find_helpers(guardian_t *self)
{
    ssize_t length = readlink("/proc/self/exe", self->helper_dir, sizeof self->helper_dir - 1);
    char *slash = NULL;
    if (length > 0) {
        self->helper_dir[length] = '\0';
        slash = strrchr(self->helper_dir, '/');
    }
    if (slash) {
        *slash = '\0';
    }
    self->env.helper_dir = slash ? self->helper_dir : NULL;
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static bool hear_hello(pwr_guard_hello_t *hello)
{
    ssize_t got;
    do {
        got = recv(PWR_HELPER_FD, hello, sizeof *hello, 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *hello && hello->magic == PWR_GUARD_MAGIC &&
           hello->kind == PWR_GUARD_HELLO && is_text(hello->root, sizeof hello->root) &&
           is_text(hello->directory, sizeof hello->directory) &&
           is_text(hello->job, sizeof hello->job) && is_text(hello->journal, sizeof hello->journal);
}

static pwr_status_t open_journal(guardian_t *self, const pwr_guard_hello_t *hello)
{
    pwr_journal_header_t header;
    pwr_status_t status =
        pwr_rundir_open(&self->env, hello->directory, PWR_RUNDIR_EXISTING, &self->rundir);
    if (status != PWR_OK) {
        return status;
    }
    pwr_identity_describe(pwr_detach_client(), &header);
    memcpy(header.root, hello->root, sizeof header.root);
    memcpy(header.job, hello->job, sizeof hello->job);
    bool fresh = hello->journal[0] == '\0';
    return fresh ? pwr_journal_create(self->rundir, &header, self->reason, sizeof self->reason,
                                      &self->journal)
                 : pwr_journal_open(self->rundir, hello->journal, &header, self->reason,
                                    sizeof self->reason, &self->journal);
}

static bool report_ready(const guardian_t *self, pwr_status_t status)
{
    pwr_guard_ready_t ready = {.magic = PWR_GUARD_MAGIC,
                               .kind = PWR_GUARD_READY,
                               .status = status,
                               .pid = (int32_t)getpid()};
    if (status == PWR_OK) {
        snprintf(ready.journal, sizeof ready.journal, "%s", self->journal->name);
    } else {
        snprintf(ready.reason, sizeof ready.reason, "%s",
                 self->reason[0] != '\0' ? self->reason : pwr_status_text(status));
    }
    return send(PWR_HELPER_FD, &ready, sizeof ready, MSG_NOSIGNAL) == (ssize_t)sizeof ready;
}

/* ---- 3. serve ---- */

static pwr_status_t answer(const guardian_t *self, const pwr_journal_entry_t *entry)
{
    pwr_journal_record_t *record = pwr_journal_find(&self->journal->journal, entry);
    bool put_back = record && record->put_back;
    if (put_back) {
        record->put_back = false;
    }
    return put_back ? PWR_OK : PWR_ERR_FOREIGN;
}

static pwr_guard_confirm_t note(guardian_t *self, const pwr_guard_tell_t *told)
{
    int cause = 0;
    pwr_status_t status = PWR_ERR_ARG;
    if (told->access < pwr_num_accesses && told->control < PWR_CONTROL_KINDS) {
        const pwr_journal_entry_t entry = {.access = pwr_accesses[told->access],
                                           .kind = (pwr_control_kind_t)told->control,
                                           .cpu = told->cpu,
                                           .ours = told->kind == PWR_GUARD_ANNOUNCE,
                                           .value = told->value};
        status = told->kind == PWR_GUARD_ASK ? answer(self, &entry)
                                             : pwr_journal_add(self->journal, &entry, &cause);
    }
    return (pwr_guard_confirm_t){
        .magic = PWR_GUARD_MAGIC, .kind = PWR_GUARD_CONFIRM, .status = status, .cause = cause};
}

typedef enum verdict { GO_ON, DISMISSED, ABANDONED } verdict_t;

/* Takes all messages that are there. */
static verdict_t drain(guardian_t *self)
{
    for (;;) {
        pwr_guard_tell_t told;
        ssize_t got = recv(PWR_HELPER_FD, &told, sizeof told, MSG_DONTWAIT);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? GO_ON : ABANDONED;
        }
        if (got != (ssize_t)sizeof told || told.magic != PWR_GUARD_MAGIC) {
            return ABANDONED;
        }
        if (told.kind == PWR_GUARD_FAREWELL) {
            return DISMISSED;
        }
        if (told.kind != PWR_GUARD_REMEMBER && told.kind != PWR_GUARD_ANNOUNCE &&
            told.kind != PWR_GUARD_ASK) {
            return ABANDONED;
        }
        const pwr_guard_confirm_t confirm = note(self, &told);
        /* A client that cannot hear the answer is noticed by the next recv. */
        (void)send(PWR_HELPER_FD, &confirm, sizeof confirm, MSG_NOSIGNAL);
    }
}

/* ---- 3. a client that is stopped ---- */

static void report(void *arg, const pwr_restore_outcome_t *outcome)
{
    const pwr_journal_record_t *record = outcome->record;
    const char *name = pwr_control_kind_name(record->kind);
    (void)arg;
    if (outcome->result == PWR_RESTORE_FAILED || outcome->result == PWR_RESTORE_OFFLINE) {
        syslog(LOG_ERR, "cannot restore the %s of CPU %u through %s: %s", name, record->cpu,
               record->access->name, outcome->reason);
    } else if (outcome->result == PWR_RESTORE_FOREIGN) {
        syslog(LOG_NOTICE, "left the %s of CPU %u as somebody else has set it", name, record->cpu);
    }
}

static void report_put_back(void *arg, const pwr_restore_outcome_t *outcome)
{
    const guardian_t *self = arg;
    pwr_journal_record_t *records = self->journal->journal.records;
    report(arg, outcome);
    if (outcome->result == PWR_RESTORE_RESTORED) {
        records[outcome->record - records].put_back = true;
    }
}

static bool may_have_lowered(const guardian_t *self)
{
    const pwr_journal_t *journal = &self->journal->journal;
    bool may = false;
    for (size_t i = 0; i < journal->count; i++) {
        may = may || journal->records[i].num_ours > 0;
    }
    return may;
}

/* It may be continued at any moment: then it finds the original where it believes a value of its
   own, asks, and goes on from there (control/held.c). */
static void look_after(guardian_t *self)
{
    const pwr_restore_options_t options = {.only_exclusive = true,
                                           .helper_dir = self->env.helper_dir,
                                           .report = report_put_back,
                                           .arg = self};
    bool stopped = may_have_lowered(self) && pwr_identity_is_stopped(pwr_detach_client());
    if (stopped && !self->stopped) {
        (void)pwr_restore(&self->journal->journal, &options);
    }
    self->stopped = stopped;
}

static verdict_t serve(guardian_t *self)
{
    enum { LOOK_MS = 1000 };
    bool dead;
    int client = pwr_detach_watch(&dead); /* poll ignores -1 */
    bool client_lives = !dead;
    verdict_t verdict = GO_ON;
    while (verdict == GO_ON) {
        struct pollfd fds[] = {{.fd = PWR_HELPER_FD, .events = POLLIN},
                               {.fd = client, .events = POLLIN}};
        int longest_ms = may_have_lowered(self) ? LOOK_MS : -1;
        if (client_lives && poll(fds, 2, longest_ms) > 0 && fds[1].revents != 0) {
            client_lives = false;
        }
        verdict = drain(self); /* a farewell may still wait in a dead client's socket */
        if (verdict == GO_ON && !client_lives) {
            verdict = ABANDONED;
        }
        if (verdict == GO_ON) {
            look_after(self);
        }
    }
    return verdict;
}

/* ---- 4. restore ---- */

static void restore(const guardian_t *self)
{
    const pwr_restore_options_t options = {.helper_dir = self->env.helper_dir, .report = report};
    if (pwr_restore(&self->journal->journal, &options) == PWR_OK) {
        (void)pwr_journal_remove(self->journal);
        return;
    }
    syslog(LOG_ERR, "%s/%s is kept for poweraware-restore", pwr_rundir_name(self->rundir),
           self->journal->name);
}

static int guard(void)
{
    static guardian_t self;
    static pwr_guard_hello_t hello;
    self.env = pwr_env_real;
    self.env.log = keep_line;
    self.env.arg = &self;
    find_helpers(&self);
    if (!hear_hello(&hello)) {
        return EXIT_FAILURE;
    }
    pwr_status_t status = open_journal(&self, &hello);
    bool told = report_ready(&self, status);
    if (status == PWR_OK) {
        if (told && serve(&self) == DISMISSED) {
            (void)pwr_journal_remove(self.journal);
        } else {
            restore(&self);
        }
        pwr_journal_close(self.journal);
    }
    pwr_rundir_close(self.rundir);
    return status == PWR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const char purpose[] =
    "poweraware-guard restores power levers when the process that changed them\n"
    "ends without doing so.  Programs that use the power library start it by themselves;\n"
    "it has no options and does nothing when started by hand.\n";

int main(int argc, char **argv)
{
    pwr_detach(argc, argv, argc == 1, purpose, NULL);
    openlog("poweraware-guard", LOG_PID, LOG_USER);
    return guard();
}
