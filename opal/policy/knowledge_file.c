/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Where knowledge is between jobs.
 *
 *   1. A file is believed only if nobody but its user and root may have written it.
 *   2. Writers take turns by a lock on another file, because the file itself is replaced.
 *   3. Under the lock a writer reads what there is now, adds its own, and replaces the file as a
 *      whole: readers need no lock.
 */
#include "config.h"

#include "pwr/knowledge.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ownership.h"
#include "policy/knowledge_private.h"
#include "pwr/clock.h"
#include "pwr/file.h"
#include "why.h"

enum { WRITABLE_BY_OTHERS = 022, PAUSE_NS = 10000000, LOCK_ATTEMPTS = 200, REASON_BYTES = 256 };

/* A file, and where to say what is wrong with it. */
typedef struct place {
    char name[PATH_MAX];
    pwr_why_t why;
} place_t;

static pwr_status_t explain(const place_t *place, pwr_status_t status, const char *reason)
{
    pwr_why_add(&place->why, "%s: %s", place->name, reason);
    return status;
}

static pwr_status_t explain_errno(const place_t *place, int cause)
{
    return explain(place, pwr_status_from_errno(cause), strerror(cause));
}

/* ---- names ---- */

pwr_status_t pwr_knowledge_user_path(char *path, unsigned size)
{
    return pwr_env_user_path("XDG_CACHE_HOME", ".cache", "poweraware/knowledge.json", path, size);
}

static pwr_status_t find_place(const pwr_env_t *env, const char *path, char *why, unsigned why_size,
                               place_t *place)
{
    char own[PATH_MAX];
    place->why = pwr_why_init(why, why_size);
    if (pwr_ownership_is_privileged()) {
        pwr_why_add(&place->why, "a set-uid or set-gid program keeps no knowledge");
        return PWR_ERR_UNSUPPORTED;
    }
    if (!path) {
        pwr_status_t status = pwr_knowledge_user_path(own, sizeof own);
        if (status != PWR_OK) {
            pwr_why_add(&place->why, "neither XDG_CACHE_HOME nor HOME is an absolute path that can "
                                     "be used");
            return status;
        }
        path = own;
    }
    pwr_status_t status = pwr_env_path(env, path, place->name, sizeof place->name);
    if (status != PWR_OK) {
        pwr_why_add(&place->why, "%s: not an absolute path, or too long", path);
    }
    return status;
}

/* ---- reading ---- */

/* 1. */
static const char *what_is_wrong(const struct stat *info)
{
    if (!S_ISREG(info->st_mode)) {
        return "not a regular file";
    }
    if (info->st_uid != geteuid() && info->st_uid != 0) {
        return "belongs to another user";
    }
    return (info->st_mode & WRITABLE_BY_OTHERS) != 0 ? "others may write to it" : NULL;
}

static pwr_status_t read_checked(const place_t *place, int fd, char **text, size_t *size)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return explain_errno(place, errno);
    }
    const char *wrong = what_is_wrong(&info);
    if (wrong) {
        return explain(place, PWR_ERR_PERM, wrong);
    }
    pwr_status_t status = pwr_env_read_all(fd, PWR_KNOWLEDGE_BYTES_MOST, text, size);
    if (status == PWR_OK && *size > PWR_KNOWLEDGE_BYTES_MOST) {
        free(*text);
        return explain(place, PWR_ERR_RANGE, "larger than 1 MiB");
    }
    return status == PWR_OK ? status : explain(place, status, pwr_status_text(status));
}

/* text NULL: there is no file.  Not OK: it is left alone. */
static pwr_status_t read_text(const place_t *place, char **text, size_t *size)
{
    *text = NULL;
    int fd = open(place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return PWR_OK;
    }
    if (fd < 0) {
        return errno == ELOOP
                   ? explain(place, PWR_ERR_PERM, "a symbolic link, or in a loop of them")
                   : explain_errno(place, errno);
    }
    pwr_status_t status = read_checked(place, fd, text, size);
    close(fd);
    return status;
}

/* A clock that went wrong must not make an entry the last one for ever. */
static void not_after_today(pwr_knowledge_file_t *file)
{
    uint32_t today = pwr_knowledge_today();
    for (unsigned i = 0; i < file->count; i++) {
        pwr_knowledge_t *knowledge = file->of[i].knowledge;
        for (unsigned j = 0; j < knowledge->count; j++) {
            if (knowledge->entries[j].day > today) {
                knowledge->entries[j].day = today;
            }
        }
    }
}

/* PARSE, RANGE: it is damaged; file is empty then. */
static pwr_status_t parse(const place_t *place, const char *text, size_t size,
                          pwr_knowledge_file_t *file)
{
    char reason[REASON_BYTES];
    pwr_status_t status = pwr_knowledge_file_parse(text, size, reason, sizeof reason, file);
    if (status != PWR_OK) {
        return explain(place, status, reason[0] != '\0' ? reason : pwr_status_text(status));
    }
    not_after_today(file);
    return status;
}

static pwr_status_t read_file(const place_t *place, pwr_knowledge_file_t *file, bool *damaged)
{
    char *text;
    size_t size;
    pwr_status_t status = read_text(place, &text, &size);
    if (status == PWR_OK && text) {
        status = parse(place, text, size, file);
        *damaged = status == PWR_ERR_PARSE || status == PWR_ERR_RANGE;
        free(text);
    }
    return status;
}

pwr_status_t pwr_knowledge_load(const pwr_env_t *env, const char *path,
                                const pwr_knowledge_machine_t *machine, char *why,
                                unsigned why_size, pwr_knowledge_t **knowledge)
{
    place_t place;
    pwr_knowledge_file_t file = {0};
    bool damaged = false;
    pwr_status_t status = find_place(env, path, why, why_size, &place);
    if (status != PWR_OK) {
        return status;
    }
    if (read_file(&place, &file, &damaged) == PWR_ERR_NOMEM) {
        return PWR_ERR_NOMEM;
    }
    status = pwr_knowledge_file_first(&file, machine);
    if (status == PWR_OK) {
        *knowledge = file.of[0].knowledge;
        file.of[0].knowledge = NULL;
    }
    pwr_knowledge_file_free(&file);
    return status;
}

/* ---- writing ---- */

/* Its folder, and the one above: a cache may be there or not, a home must be. */
static pwr_status_t make_folders(const place_t *place)
{
    char folder[PATH_MAX], above[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", place->name);
    const char *inner = dirname(folder);
    snprintf(above, sizeof above, "%s", inner);
    if (mkdir(inner, 0700) == 0 || errno == EEXIST) {
        return PWR_OK;
    }
    if (errno == ENOENT && (mkdir(dirname(above), 0700) == 0 || errno == EEXIST) &&
        mkdir(inner, 0700) == 0) {
        return PWR_OK;
    }
    return errno == EEXIST ? PWR_OK : explain_errno(place, errno);
}

/* As long as it is asked for, and no longer: a job must end. */
static int lock_patiently(int fd)
{
    int cause = EWOULDBLOCK;
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return 0;
        }
        cause = errno;
        if (cause != EWOULDBLOCK && cause != EINTR) {
            return cause;
        }
        pwr_sleep_ns(PAUSE_NS);
    }
    return cause;
}

/* 2.  It has no content, so it may be anybody's. */
static pwr_status_t take_lock(const place_t *place, int *fd)
{
    place_t lock = {.why = place->why};
    int length = snprintf(lock.name, sizeof lock.name, "%s.lock", place->name);
    if (length < 0 || (size_t)length >= sizeof lock.name) {
        return explain(place, PWR_ERR_ARG, "too long");
    }
    int opened =
        open(lock.name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (opened < 0) {
        return explain_errno(&lock, errno);
    }
    int cause = lock_patiently(opened);
    if (cause == 0) {
        *fd = opened;
        return PWR_OK;
    }
    close(opened);
    return cause == EWOULDBLOCK || cause == EINTR
               ? explain(&lock, PWR_ERR_TIMEOUT, "somebody holds it and does not let go")
               : explain_errno(&lock, cause);
}

/* Unlocked by hand: a child that the program forked meanwhile holds the descriptor, too. */
static void release_lock(int fd)
{
    (void)flock(fd, LOCK_UN);
    close(fd);
}

/* Without fsync, which may take seconds: after a power cut the file may be torn, and is left out.
   0, or errno. */
static int write_and_rename(int fd, const char *temporary, const char *name, const char *text)
{
    errno = 0;
    int cause = dprintf(fd, "%s", text) >= 0 ? 0 : errno != 0 ? errno : EIO;
    if (close(fd) != 0 && cause == 0) {
        cause = errno; /* of quotas, NFS tells here */
    }
    if (cause == 0 && rename(temporary, name) != 0) {
        cause = errno;
    }
    return cause;
}

static pwr_status_t replace(const place_t *place, const char *text)
{
    char temporary[PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", place->name);
    int fd = mkostemp(temporary, O_CLOEXEC); /* mode 600 */
    if (fd < 0) {
        return explain_errno(place, errno);
    }
    const pwr_growth_t growth = pwr_growth_begin();
    int cause = write_and_rename(fd, temporary, place->name, text);
    pwr_growth_end(&growth);
    if (cause != 0) {
        unlink(temporary);
        return explain_errno(place, cause);
    }
    return PWR_OK;
}

static pwr_status_t merge_and_replace(const place_t *place, const pwr_knowledge_machine_t *machine,
                                      const pwr_knowledge_t *knowledge, pwr_knowledge_file_t *file)
{
    char *text;
    pwr_status_t status = pwr_knowledge_file_first(file, machine);
    if (status == PWR_OK) {
        status = pwr_knowledge_merge(file->of[0].knowledge, knowledge);
    }
    if (status == PWR_OK) {
        status = pwr_knowledge_file_format(file, &text);
    }
    if (status != PWR_OK) {
        return explain(place, status, pwr_status_text(status));
    }
    status = replace(place, text);
    free(text);
    return status;
}

/* 3. */
static pwr_status_t save_locked(const place_t *place, const pwr_knowledge_machine_t *machine,
                                const pwr_knowledge_t *knowledge)
{
    pwr_knowledge_file_t file = {0};
    bool damaged = false;
    pwr_status_t status = read_file(place, &file, &damaged);
    if (status == PWR_OK || damaged) {
        status = merge_and_replace(place, machine, knowledge, &file);
    }
    pwr_knowledge_file_free(&file);
    return status;
}

pwr_status_t pwr_knowledge_save(const pwr_env_t *env, const char *path,
                                const pwr_knowledge_machine_t *machine,
                                const pwr_knowledge_t *knowledge, char *why, unsigned why_size)
{
    place_t place;
    int lock = -1;
    pwr_status_t status = find_place(env, path, why, why_size, &place);
    if (status == PWR_OK) {
        status = make_folders(&place);
    }
    if (status == PWR_OK) {
        status = take_lock(&place, &lock);
    }
    if (status == PWR_OK) {
        status = save_locked(&place, machine, knowledge);
        release_lock(lock);
    }
    return status;
}
