/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The outside world of the library, injected: file system root, clock and log.
 */
#ifndef PWR_ENV_H
#define PWR_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pwr/status.h"

typedef enum pwr_log_level { PWR_LOG_WARN, PWR_LOG_INFO, PWR_LOG_DEBUG } pwr_log_level_t;

/* Passed by const pointer to every open call; must outlive what was opened with it.
   Callbacks may be called from any thread that calls the library. */
typedef struct pwr_env {
    /* Prefix of every absolute path the library opens ("" for the real machine, a fixture tree or
       an emulator's mount point otherwise).  No trailing slash. */
    const char *root;
    /* Monotonic time in nanoseconds. */
    uint64_t (*now_ns)(void *arg);
    /* One line without newline, lower case, exact cause and what to do. */
    void (*log)(void *arg, pwr_log_level_t level, const char *line);
    void *arg;
    /* Where the library's helper programs are (poweraware-guard); NULL: where they are installed.
       Not below root. */
    const char *helper_dir;
    /* File descriptors that the process is expected to open later (pwr_env_may_keep). */
    unsigned later;
} pwr_env_t;

/* The real machine: root "", CLOCK_MONOTONIC, warnings to stderr. */
extern const pwr_env_t pwr_env_real;

/* The same without a log: what goes wrong is said by the caller. */
pwr_env_t pwr_env_quiet(const pwr_env_t *env);

uint64_t pwr_env_now_ns(const pwr_env_t *env);

void pwr_env_log(const pwr_env_t *env, pwr_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The full name, env->root + path, into name[size] (PATH_MAX is enough).  PWR_ERR_ARG when path is
   not absolute or the name does not fit. */
pwr_status_t pwr_env_path(const pwr_env_t *env, const char *path, char *name, unsigned size);

/* What env.root is for this directory: absolute, no trailing slash, "" for "/".  To be freed; NULL
   and errno when there is no such directory or no memory. */
char *pwr_env_resolve_root(const char *directory);

/* The full name of a helper program into name[size].  PWR_ERR_ARG when it does not fit. */
pwr_status_t pwr_env_helper(const pwr_env_t *env, const char *program, char *name, unsigned size);

/* Whether the library may keep so many file descriptors open.  The program and its MPI library open
   most of theirs later, and must not fail because of ours: so four times as many have to be free,
   and env->later besides. */
bool pwr_env_may_keep(const pwr_env_t *env, unsigned descriptors);

/* open(2) of env->root + path with O_CLOEXEC added.  On success *fd is owned by the caller.
   Does not log: probing for files that may be absent is normal.  Does not create files. */
pwr_status_t pwr_env_open(const pwr_env_t *env, const char *path, int flags, int *fd);
/* How a function ends that has opened a descriptor and looked at it: gives it out if status is OK,
   else closes it.  Returns status. */
pwr_status_t pwr_env_opened(pwr_status_t status, int opened, int *fd);
/* All of an open regular file, to be freed; of one that is larger than most one byte more than
   that.  ARG: it is of another kind. */
pwr_status_t pwr_env_read_all(int fd, size_t most, char **content, size_t *size);

/* The same of a file that a user has named.  RANGE: it is larger than most. */
pwr_status_t pwr_env_read_file(const pwr_env_t *env, const char *path, size_t most, char **content,
                               size_t *size);
/* What that status says of the file. */
const char *pwr_env_why_unread(pwr_status_t status);
/* Where a file of the user is: below the folder that an absolute variable names, else below home
   in his home.  A program with more rights than its user is not led by his environment.  Errors:
   UNSUPPORTED without either variable, RANGE when it does not fit. */
pwr_status_t pwr_env_user_path(const char *variable, const char *home, const char *file, char *path,
                               unsigned size);

/* As pwr_env_open, for reading a file line by line; to be closed with fclose. */
pwr_status_t pwr_env_open_stream(const pwr_env_t *env, const char *path, FILE **stream);

/* Reads one decimal or 0x number from a small text file (sysfs style).
   PWR_ERR_PARSE when the content is not exactly one number and optional white space. */
pwr_status_t pwr_env_read_u64(const pwr_env_t *env, const char *path, uint64_t *value);

/* Reads a small text file into text[size], trailing white space removed, NUL terminated.
   PWR_ERR_RANGE when it does not fit. */
pwr_status_t pwr_env_read_text(const pwr_env_t *env, const char *path, char *text, unsigned size);

#endif
