/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The real machine, and reading small files below an injected root.
 */
#include "config.h"

#include "number.h"
#include "pwr/clock.h"
#include "pwr/env.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 512, NUMBER_MAX_BYTES = 64 };

static uint64_t real_now_ns(void *arg)
{
    (void)arg;
    return pwr_now_ns();
}

static void real_log(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    if (level == PWR_LOG_WARN) {
        fprintf(stderr, "poweraware: %s\n", line);
    }
}

const pwr_env_t pwr_env_real = {.root = "", .now_ns = real_now_ns, .log = real_log};

static void say_nothing(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    (void)level;
    (void)line;
}

pwr_env_t pwr_env_quiet(const pwr_env_t *env)
{
    pwr_env_t quiet = *env;
    quiet.log = say_nothing;
    return quiet;
}

uint64_t pwr_env_now_ns(const pwr_env_t *env)
{
    return env->now_ns(env->arg);
}

void pwr_env_log(const pwr_env_t *env, pwr_log_level_t level, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    env->log(env->arg, level, line);
}

pwr_status_t pwr_env_path(const pwr_env_t *env, const char *path, char *name, unsigned size)
{
    size_t root_length = strlen(env->root);
    size_t path_length = strlen(path);
    if (path[0] != '/' || root_length + path_length >= size) {
        return PWR_ERR_ARG;
    }
    memcpy(name, env->root, root_length);
    memcpy(name + root_length, path, path_length + 1);
    return PWR_OK;
}

char *pwr_env_resolve_root(const char *directory)
{
    char *root = realpath(directory, NULL);
    if (root && strcmp(root, "/") == 0) {
        root[0] = '\0';
    }
    return root;
}

pwr_status_t pwr_env_helper(const pwr_env_t *env, const char *program, char *name, unsigned size)
{
    const char *directory = env->helper_dir ? env->helper_dir : PWR_PKGLIBEXECDIR;
    int length = snprintf(name, size, "%s/%s", directory, program);
    return length > 0 && (unsigned)length < size ? PWR_OK : PWR_ERR_ARG;
}

bool pwr_env_may_keep(const pwr_env_t *env, unsigned descriptors)
{
    enum { SHARE = 4 };
    struct rlimit limit;
    unsigned missing = SHARE * descriptors + env->later;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return false;
    }
    for (rlim_t fd = 0; fd < limit.rlim_cur && missing > 0; fd++) {
        missing -= fcntl((int)fd, F_GETFD) < 0;
    }
    return missing == 0;
}

pwr_status_t pwr_env_open(const pwr_env_t *env, const char *path, int flags, int *fd)
{
    char name[PATH_MAX];
    pwr_status_t status = pwr_env_path(env, path, name, sizeof name);
    if (status != PWR_OK) {
        return status;
    }
    int opened = open(name, flags | O_CLOEXEC);
    if (opened < 0) {
        return pwr_status_from_errno(errno);
    }
    *fd = opened;
    return PWR_OK;
}

pwr_status_t pwr_env_opened(pwr_status_t status, int opened, int *fd)
{
    if (status == PWR_OK) {
        *fd = opened;
    } else {
        close(opened);
    }
    return status;
}

pwr_status_t pwr_env_read_all(int fd, size_t most, char **content, size_t *size)
{
    struct stat info;
    size_t length = 0;
    ssize_t got = 1;
    if (fstat(fd, &info) != 0) {
        return pwr_status_from_errno(errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return PWR_ERR_ARG;
    }
    size_t room = (size_t)info.st_size < most ? (size_t)info.st_size + 1 : most + 1;
    char *bytes = malloc(room);
    if (!bytes) {
        return PWR_ERR_NOMEM;
    }
    while (got > 0 && length < room) {
        got = pread(fd, bytes + length, room - length, (off_t)length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (got < 0) {
        free(bytes);
        return pwr_status_from_errno(errno);
    }
    *content = bytes;
    *size = length;
    return PWR_OK;
}

pwr_status_t pwr_env_read_file(const pwr_env_t *env, const char *path, size_t most, char **content,
                               size_t *size)
{
    int fd;
    char *text;
    size_t length;
    /* O_NONBLOCK: a FIFO must not hold the job up. */
    pwr_status_t status = pwr_env_open(env, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_env_read_all(fd, most, &text, &length);
    close(fd);
    if (status == PWR_OK && length > most) {
        free(text);
        return PWR_ERR_RANGE;
    }
    if (status == PWR_OK) {
        *content = text;
        *size = length;
    }
    return status;
}

const char *pwr_env_why_unread(pwr_status_t status)
{
    return status == PWR_ERR_UNSUPPORTED ? "no such file"
           : status == PWR_ERR_ARG       ? "not a file with an absolute path"
           : status == PWR_ERR_RANGE     ? "larger than any table"
                                         : pwr_status_text(status);
}

pwr_status_t pwr_env_open_stream(const pwr_env_t *env, const char *path, FILE **stream)
{
    int fd;
    pwr_status_t status = pwr_env_open(env, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd);
    if (status != PWR_OK) {
        return status;
    }
    FILE *opened = fdopen(fd, "r");
    if (!opened) {
        close(fd);
        return PWR_ERR_NOMEM;
    }
    *stream = opened;
    return PWR_OK;
}

pwr_status_t pwr_env_read_text(const pwr_env_t *env, const char *path, char *text, unsigned size)
{
    FILE *stream;
    pwr_status_t status = pwr_env_open_stream(env, path, &stream);
    if (status != PWR_OK) {
        return status;
    }
    char *content = malloc((size_t)size + 1);
    if (!content) {
        fclose(stream);
        return PWR_ERR_NOMEM;
    }
    /* One byte more than fits tells "exactly full" from "too long". */
    size_t length = fread(content, 1, (size_t)size + 1, stream);
    status = ferror(stream) ? pwr_status_from_errno(errno) : PWR_OK;
    fclose(stream);
    while (length > 0 && isspace((unsigned char)content[length - 1])) {
        length--;
    }
    if (status == PWR_OK && length >= size) {
        status = PWR_ERR_RANGE;
    }
    if (status == PWR_OK) {
        memcpy(text, content, length);
        text[length] = '\0';
    }
    free(content);
    return status;
}

pwr_status_t pwr_env_read_u64(const pwr_env_t *env, const char *path, uint64_t *value)
{
    char text[NUMBER_MAX_BYTES];
    pwr_status_t status = pwr_env_read_text(env, path, text, sizeof text);
    if (status == PWR_ERR_RANGE) {
        return PWR_ERR_PARSE;
    }
    if (status != PWR_OK) {
        return status;
    }
    return pwr_number_parse(text, strlen(text), value);
}

pwr_status_t pwr_env_user_path(const char *variable, const char *home, const char *file, char *path,
                               unsigned size)
{
    const char *folder = secure_getenv(variable);
    const char *users = secure_getenv("HOME");
    int length;
    if (folder && folder[0] == '/') {
        length = snprintf(path, size, "%s/%s", folder, file);
    } else if (users && users[0] == '/') {
        length = snprintf(path, size, "%s/%s/%s", users, home, file);
    } else {
        return PWR_ERR_UNSUPPORTED;
    }
    return length > 0 && (unsigned)length < size ? PWR_OK : PWR_ERR_RANGE;
}
