/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reads /proc/<pid>/status line by line; most lines are not looked at.
 *
 * Source of the format: Linux, Documentation/filesystems/proc.rst and fs/proc/array.c.
 */
#include "config.h"

#include "number.h"
#include "topo/proc_status.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copy_name(const char *value, char *name, size_t size)
{
    snprintf(name, size, "%s", value);
    /* Any user may choose the name: nothing in it may act on a terminal or a log. */
    for (; *name != '\0'; name++) {
        *name = isprint((unsigned char)*name) ? *name : '?';
    }
}

enum { NEEDED = 4 }; /* lines that every process has: Tgid, PPid, Uid, Cpus_allowed_list */

static pwr_status_t take_number(const char *value, unsigned *number, unsigned *seen)
{
    (*seen)++;
    return pwr_number_parse_decimal(value, strcspn(value, "\t"), number);
}

static pwr_status_t take(const char *key, const char *value, pwr_proc_status_t *status,
                         unsigned *seen)
{
    if (strcmp(key, "Name") == 0) {
        copy_name(value, status->name, sizeof status->name);
    } else if (strcmp(key, "Tgid") == 0) {
        return take_number(value, &status->pid, seen);
    } else if (strcmp(key, "PPid") == 0) {
        return take_number(value, &status->parent, seen);
    } else if (strcmp(key, "Uid") == 0) {
        return take_number(value, &status->uid, seen);
    } else if (strcmp(key, "VmSize") == 0) {
        status->has_memory = true;
    } else if (strcmp(key, "Cpus_allowed_list") == 0) {
        (*seen)++;
        return pwr_cpulist_parse(value, strlen(value), &status->allowed);
    }
    return PWR_OK;
}

/* Until everything is known.  A process that ends while it is read loses its lines: it is gone, not
   malformed. */
pwr_status_t pwr_proc_status_parse(FILE *text, pwr_proc_status_t *status)
{
    pwr_proc_status_t made = {.has_memory = false};
    pwr_status_t result = PWR_OK;
    unsigned seen = 0;
    char *line = NULL;
    size_t size = 0;
    while (result == PWR_OK && seen < NEEDED && getline(&line, &size, text) > 0) {
        char *key, *value;
        if (pwr_line_split(line, &key, &value)) {
            result = take(key, value, &made, &seen);
        }
    }
    if (result == PWR_OK && seen < NEEDED) {
        bool failed = ferror(text) && errno != ESRCH;
        result = failed ? pwr_status_from_errno(errno) : PWR_ERR_UNSUPPORTED;
    }
    free(line);
    if (result == PWR_OK) {
        *status = made;
    }
    return result;
}

pwr_status_t pwr_proc_status_read(int directory, const char *name, pwr_proc_status_t *status)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ESRCH ? PWR_ERR_UNSUPPORTED : pwr_status_from_errno(errno);
    }
    FILE *text = fdopen(fd, "r");
    if (!text) {
        close(fd);
        return PWR_ERR_NOMEM;
    }
    pwr_status_t result = pwr_proc_status_parse(text, status);
    fclose(text);
    return result;
}
