/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Journals on disk; the numbers are those of journal_file.h.
 */
#include "config.h"

#include "guard/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "pwr/clock.h"

enum { CREATE_ATTEMPTS = 100 };
enum { GUARDIAN_BYTE = 0, CLIENT_BYTE = 1, PAUSE_NS = 10000000, LOCK_ATTEMPTS = 200 };

/* ---- the two locks ---- */

/* PWR_OK, or SHARED when another holds it. */
static pwr_status_t lock(int fd, int command, short type, off_t byte)
{
    struct flock request = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    if (fcntl(fd, command, &request) == 0) {
        return PWR_OK;
    }
    return errno == EAGAIN || errno == EACCES ? PWR_ERR_SHARED : pwr_status_from_errno(errno);
}

/* Waits for a guardian that is being killed, and may close its socket before its journal; or, as a
   client, for a restorer that holds the lock for a moment, to find out that the journal is in use.
 */
static pwr_status_t lock_patiently(int fd, int command, off_t byte)
{
    pwr_status_t status = lock(fd, command, F_WRLCK, byte);
    for (int attempt = 1; status == PWR_ERR_SHARED && attempt < LOCK_ATTEMPTS; attempt++) {
        pwr_sleep_ns(PAUSE_NS);
        status = lock(fd, command, F_WRLCK, byte);
    }
    return status;
}

static pwr_status_t lock_as_successor(int fd)
{
    return lock_patiently(fd, F_OFD_SETLK, GUARDIAN_BYTE);
}

/* 2.  Waits for a guardian that lives (TIMEOUT: it does not let go), but not for a client.  The
   client's lock is given back between attempts: it may be a client that is just starting, or
   another restorer that waits for the same guardian. */
static pwr_status_t lock_as_restorer(int fd)
{
    for (int attempt = 1;; attempt++) {
        pwr_status_t status = lock(fd, F_OFD_SETLK, F_WRLCK, CLIENT_BYTE);
        if (status != PWR_OK) {
            return status;
        }
        status = lock(fd, F_OFD_SETLK, F_WRLCK, GUARDIAN_BYTE);
        if (status == PWR_OK) {
            return status;
        }
        (void)lock(fd, F_OFD_SETLK, F_UNLCK, CLIENT_BYTE);
        if (status != PWR_ERR_SHARED) {
            return status;
        }
        if (attempt == LOCK_ATTEMPTS) {
            return PWR_ERR_TIMEOUT;
        }
        pwr_sleep_ns(PAUSE_NS);
    }
}

/* ---- writing ---- */

/* PWR_OK: all of line is at the end of the file.  Else nothing of it is, as far as possible. */
static pwr_status_t append(pwr_journal_file_t *file, const pwr_journal_line_t *line, int *cause)
{
    ssize_t put;
    off_t end = (off_t)file->journal.size;
    if (file->broken) {
        *cause = EIO;
        return PWR_ERR_IO;
    }
    do {
        put = pwrite(file->fd, line->text, line->length, end);
    } while (put < 0 && errno == EINTR);
    if (put == (ssize_t)line->length) {
        return PWR_OK;
    }
    *cause = put < 0 ? errno : ENOSPC; /* the kernel gives a reason only if not a byte fits */
    file->broken = ftruncate(file->fd, end) != 0;
    return PWR_ERR_IO;
}

static pwr_status_t add_header(pwr_journal_file_t *file, const pwr_journal_header_t *header,
                               int *cause)
{
    pwr_journal_line_t line;
    pwr_status_t status = pwr_journal_format_header(header, &line);
    if (status == PWR_OK) {
        status = append(file, &line, cause);
    }
    if (status == PWR_OK) {
        pwr_journal_commit_header(&file->journal, header, &line);
    }
    return status;
}

pwr_status_t pwr_journal_add(pwr_journal_file_t *file, const pwr_journal_entry_t *entry, int *cause)
{
    pwr_journal_line_t line;
    bool known;
    *cause = 0;
    pwr_status_t status = pwr_journal_admit(&file->journal, entry, &known);
    if (status != PWR_OK || known) {
        return status;
    }
    status = pwr_journal_format(&file->journal, entry, &line);
    if (status == PWR_OK) {
        status = append(file, &line, cause);
    }
    if (status == PWR_OK) {
        pwr_journal_commit(&file->journal, entry, &line);
    }
    return status;
}

/* ---- opening ---- */

static pwr_status_t open_file(const pwr_rundir_t *rundir, const char *name, int flags, char *why,
                              unsigned why_size, pwr_journal_file_t **file)
{
    pwr_journal_file_t *made = calloc(1, sizeof *made);
    if (!made) {
        snprintf(why, why_size, "out of memory");
        return PWR_ERR_NOMEM;
    }
    made->rundir = rundir;
    int length = snprintf(made->name, sizeof made->name, "%s", name);
    if (length < 0 || (size_t)length >= sizeof made->name) {
        snprintf(why, why_size, "%s: name too long", name);
        free(made);
        return PWR_ERR_ARG;
    }
    pwr_status_t status =
        pwr_rundir_open_file(rundir, name, O_RDWR | flags, why, why_size, &made->fd);
    if (status != PWR_OK) {
        free(made);
        return status;
    }
    *file = made;
    return PWR_OK;
}

void pwr_journal_close(pwr_journal_file_t *file)
{
    if (file) {
        close(file->fd);
        pwr_journal_free(&file->journal);
        free(file);
    }
}

static pwr_status_t explain(const pwr_journal_file_t *file, pwr_status_t status, const char *reason,
                            char *why, unsigned why_size)
{
    snprintf(why, why_size, "%s/%s: %s", pwr_rundir_name(file->rundir), file->name, reason);
    return status;
}

static void make_name(const pwr_journal_header_t *header, char name[NAME_MAX + 1])
{
    uint32_t random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) {
        random = (uint32_t)pwr_now_ns(); /* only has to differ from other names */
    }
    snprintf(name, NAME_MAX + 1, PWR_JOURNAL_PREFIX "%.64s-%ld-%08lx", header->job,
             (long)header->pid, (unsigned long)random);
}

/* 1.  SHARED, and closed: a restorer was faster, finds it empty and removes it (3.). */
static pwr_status_t lock_new(pwr_journal_file_t *file, char *why, unsigned why_size)
{
    pwr_status_t status = lock(file->fd, F_OFD_SETLK, F_WRLCK, GUARDIAN_BYTE);
    if (status == PWR_OK && !pwr_rundir_has(file->rundir, file->name, file->fd)) {
        status = PWR_ERR_SHARED;
    }
    if (status != PWR_OK) {
        explain(file, status, "cannot lock it", why, why_size);
        pwr_journal_close(file);
    }
    return status;
}

pwr_status_t pwr_journal_create(const pwr_rundir_t *rundir, const pwr_journal_header_t *header,
                                char *why, unsigned why_size, pwr_journal_file_t **file)
{
    char name[NAME_MAX + 1];
    pwr_journal_file_t *made;
    pwr_status_t status = PWR_ERR_SHARED;
    int cause = 0;
    for (int attempt = 1; status == PWR_ERR_SHARED && attempt <= CREATE_ATTEMPTS; attempt++) {
        make_name(header, name);
        status = open_file(rundir, name, O_CREAT | O_EXCL, why, why_size, &made);
        if (status == PWR_OK) {
            status = lock_new(made, why, why_size);
        }
    }
    if (status != PWR_OK) {
        return status;
    }
    status = add_header(made, header, &cause);
    if (status != PWR_OK) {
        explain(made, status, cause != 0 ? strerror(cause) : pwr_status_text(status), why,
                why_size);
        pwr_journal_remove(made);
        pwr_journal_close(made);
        return status;
    }
    *file = made;
    return PWR_OK;
}

/* ---- reading ---- */

static pwr_status_t check_owner(const pwr_journal_t *journal, pwr_journal_flaw_t *flaw)
{
    if (!journal->has_header || journal->header.uid == geteuid()) {
        return PWR_OK;
    }
    flaw->line = 1;
    snprintf(flaw->reason, sizeof flaw->reason, "it is user %lu's",
             (unsigned long)journal->header.uid);
    return PWR_ERR_PARSE;
}

static pwr_status_t read_journal(pwr_journal_file_t *file, char *why, unsigned why_size)
{
    pwr_journal_flaw_t flaw = {0};
    char *text = NULL;
    size_t size = 0;
    pwr_status_t status = pwr_env_read_all(file->fd, PWR_JOURNAL_MAX_BYTES, &text, &size);
    if (status == PWR_OK) {
        status = pwr_journal_parse(text, size, &file->journal, &flaw);
        free(text);
    }
    if (status == PWR_OK) {
        status = check_owner(&file->journal, &flaw);
    }
    if (status == PWR_ERR_PARSE) {
        char reason[sizeof flaw.reason + 32];
        snprintf(reason, sizeof reason, "line %zu: %s", flaw.line, flaw.reason);
        return explain(file, status, reason, why, why_size);
    }
    return status == PWR_OK ? status
                            : explain(file, status, pwr_status_text(status), why, why_size);
}

static pwr_status_t read_locked(pwr_journal_file_t *file, pwr_status_t locked, char *why,
                                unsigned why_size)
{
    if (locked != PWR_OK) {
        return explain(file, locked, locked == PWR_ERR_SHARED ? "in use" : pwr_status_text(locked),
                       why, why_size);
    }
    if (!pwr_rundir_has(file->rundir, file->name, file->fd)) {
        return explain(file, PWR_ERR_UNSUPPORTED, "was removed meanwhile", why, why_size); /* 3. */
    }
    return read_journal(file, why, why_size);
}

static pwr_status_t check_client(const pwr_journal_file_t *file, const pwr_journal_header_t *header,
                                 char *why, unsigned why_size)
{
    const pwr_journal_header_t *found = &file->journal.header;
    if (file->journal.has_header && found->pid == header->pid && found->start == header->start &&
        strcmp(found->boot, header->boot) == 0 && strcmp(found->root, header->root) == 0) {
        return PWR_OK;
    }
    return explain(file, PWR_ERR_PARSE, "it is not this process's journal", why, why_size);
}

pwr_status_t pwr_journal_open(const pwr_rundir_t *rundir, const char *name,
                              const pwr_journal_header_t *header, char *why, unsigned why_size,
                              pwr_journal_file_t **file)
{
    pwr_journal_file_t *made;
    pwr_status_t status = open_file(rundir, name, 0, why, why_size, &made);
    if (status != PWR_OK) {
        return status;
    }
    status = header ? lock_as_successor(made->fd) : lock_as_restorer(made->fd);
    status = read_locked(made, status, why, why_size);
    if (status == PWR_OK && header) {
        status = check_client(made, header, why, why_size);
    }
    if (status == PWR_OK && header && made->journal.torn &&
        ftruncate(made->fd, (off_t)made->journal.size) != 0) {
        status = explain(made, PWR_ERR_IO, strerror(errno), why, why_size);
    }
    if (status != PWR_OK) {
        pwr_journal_close(made);
        return status;
    }
    *file = made;
    return PWR_OK;
}

pwr_status_t pwr_journal_look(const pwr_rundir_t *rundir, const char *name, char *why,
                              unsigned why_size, pwr_journal_file_t **file)
{
    pwr_journal_file_t *made;
    pwr_status_t status = open_file(rundir, name, 0, why, why_size, &made);
    if (status != PWR_OK) {
        return status;
    }
    status = read_journal(made, why, why_size);
    if (status != PWR_OK) {
        pwr_journal_close(made);
        return status;
    }
    *file = made;
    return PWR_OK;
}

/* ---- the rest ---- */

pwr_status_t pwr_journal_hold(const pwr_rundir_t *rundir, const char *name, char *why,
                              unsigned why_size, int *fd)
{
    int opened;
    pwr_status_t status = pwr_rundir_open_file(rundir, name, O_RDWR, why, why_size, &opened);
    if (status != PWR_OK) {
        return status;
    }
    status = lock_patiently(opened, F_SETLK, CLIENT_BYTE);
    if (status != PWR_OK) {
        snprintf(why, why_size, "%s/%s: cannot lock it: %s", pwr_rundir_name(rundir), name,
                 pwr_status_text(status));
    }
    return pwr_env_opened(status, opened, fd);
}

pwr_status_t pwr_journal_remove(const pwr_journal_file_t *file)
{
    return pwr_rundir_remove(file->rundir, file->name, file->fd);
}
