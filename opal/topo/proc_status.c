/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads /proc/<pid>/status line by line; most lines are not looked at.
 *
 * Source of the format: Linux, Documentation/filesystems/proc.rst and fs/proc/array.c.
 */
#include "config.h"

#include "topo/proc_status.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Holds the longest list of CPUs there can be (every second of 8192).  The line of
       supplementary groups can be longer still: it is passed over. */
    BUFFER_BYTES = 32768,
};

typedef enum progress { SEEN_PID = 1, SEEN_PARENT = 2, SEEN_UID = 4, SEEN_ALLOWED = 8 } progress_t;

enum { SEEN_ALL = SEEN_PID | SEEN_PARENT | SEEN_UID | SEEN_ALLOWED };

/* What has been gathered so far. */
typedef struct gathering {
    pwr_proc_status_t status;
    unsigned seen;
    pwr_status_t failure; /* of the first line that is not what it should be */
} gathering_t;

static void copy_name(const char *value, size_t length, char *name, size_t size)
{
    size_t kept = length < size ? length : size - 1;
    for (size_t i = 0; i < kept; i++) {
        /* Any user may choose the name: nothing in it may act on a terminal or a log. */
        name[i] = value[i];
        if (!isprint((unsigned char)value[i])) {
            name[i] = '?';
        }
    }
    name[kept] = '\0';
}

/* The number at the start of value. */
static bool read_number(const char *value, size_t length, unsigned *number)
{
    unsigned result = 0;
    size_t i = 0;
    for (; i < length && value[i] >= '0' && value[i] <= '9'; i++) {
        unsigned digit = (unsigned)(value[i] - '0');
        if (result > (UINT_MAX - digit) / 10) {
            return false;
        }
        result = result * 10 + digit;
    }
    if (i == 0 || (i < length && value[i] != '\t')) {
        return false;
    }
    *number = result;
    return true;
}

static void take_number(gathering_t *so_far, const char *value, size_t length, unsigned *number,
                        progress_t which)
{
    if (read_number(value, length, number)) {
        so_far->seen |= which;
    } else if (so_far->failure == PWR_OK) {
        so_far->failure = PWR_ERR_PARSE;
    }
}

static void take_allowed(gathering_t *so_far, const char *value, size_t length)
{
    pwr_status_t status = pwr_cpulist_parse(value, length, &so_far->status.allowed);
    if (status == PWR_OK) {
        so_far->seen |= SEEN_ALLOWED;
    } else if (so_far->failure == PWR_OK) {
        so_far->failure = status;
    }
}

/* The value of "key:\tvalue", or NULL when the line has another key. */
static const char *value_of(const char *line, size_t length, const char *key)
{
    size_t key_length = strlen(key);
    if (length < key_length + 2 || memcmp(line, key, key_length) != 0 || line[key_length] != ':' ||
        line[key_length + 1] != '\t') {
        return NULL;
    }
    return line + key_length + 2;
}

static void take_line(gathering_t *so_far, const char *line, size_t length)
{
    pwr_proc_status_t *status = &so_far->status;
    const char *end = line + length;
    const char *value;
    if ((value = value_of(line, length, "Name"))) {
        copy_name(value, (size_t)(end - value), status->name, sizeof status->name);
    } else if ((value = value_of(line, length, "Tgid"))) {
        take_number(so_far, value, (size_t)(end - value), &status->pid, SEEN_PID);
    } else if ((value = value_of(line, length, "PPid"))) {
        take_number(so_far, value, (size_t)(end - value), &status->parent, SEEN_PARENT);
    } else if ((value = value_of(line, length, "Uid"))) {
        take_number(so_far, value, (size_t)(end - value), &status->uid, SEEN_UID);
    } else if (value_of(line, length, "VmSize")) {
        status->has_memory = true;
    } else if ((value = value_of(line, length, "Cpus_allowed_list"))) {
        take_allowed(so_far, value, (size_t)(end - value));
    }
}

/* Takes all complete lines; returns how many bytes they are. */
static size_t take_lines(gathering_t *so_far, const char *text, size_t size)
{
    size_t used = 0;
    const char *newline;
    while (used < size && (newline = memchr(text + used, '\n', size - used)) != NULL) {
        size_t length = (size_t)(newline - text) - used;
        take_line(so_far, text + used, length);
        used += length + 1;
    }
    return used;
}

/* A process that ends while it is read loses its lines: it is gone, not malformed. */
static pwr_status_t finish(const gathering_t *so_far, pwr_proc_status_t *status)
{
    if (so_far->failure != PWR_OK) {
        return so_far->failure;
    }
    if (so_far->seen != SEEN_ALL) {
        return PWR_ERR_UNSUPPORTED;
    }
    *status = so_far->status;
    return PWR_OK;
}

pwr_status_t pwr_proc_status_parse(const char *text, size_t size, pwr_proc_status_t *status)
{
    gathering_t so_far = {.failure = PWR_OK};
    size_t used = take_lines(&so_far, text, size);
    take_line(&so_far, text + used, size - used);
    return finish(&so_far, status);
}

/* Reads until everything is known.  A line that fills the buffer is dropped, and what follows of it
   is taken for a line of its own: groups are numbers, so no key is found in it. */
static pwr_status_t gather(int fd, gathering_t *so_far)
{
    char buffer[BUFFER_BYTES];
    size_t kept = 0; /* the beginning of a line whose end has not been read yet */
    ssize_t got = 0;
    while (so_far->seen != SEEN_ALL && (got = read(fd, buffer + kept, sizeof buffer - kept)) > 0) {
        size_t length = kept + (size_t)got;
        size_t used = take_lines(so_far, buffer, length);
        kept = length - used < sizeof buffer ? length - used : 0;
        memmove(buffer, buffer + used, kept);
    }
    return got < 0 && errno != ESRCH ? pwr_status_from_errno(errno) : PWR_OK;
}

pwr_status_t pwr_proc_status_read(int directory, const char *name, pwr_proc_status_t *status)
{
    gathering_t so_far = {.failure = PWR_OK};
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ESRCH ? PWR_ERR_UNSUPPORTED : pwr_status_from_errno(errno);
    }
    pwr_status_t result = gather(fd, &so_far);
    close(fd);
    return result == PWR_OK ? finish(&so_far, status) : result;
}
