/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Where likwid's access daemon is, and whether it can have the rights it needs.
 */
#include "config.h"

#include "likwid/accessd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CONFIGURATION_BYTES = 8192 };

static bool is_program(const pwr_env_t *env, const char *path, char *name, unsigned size)
{
    return pwr_env_path(env, path, name, size) == PWR_OK && access(name, X_OK) == 0;
}

/* "daemon_path = /some/where", as likwid reads it: the first two words around "=". */
static bool find_configured(const pwr_env_t *env, const char *file, char *name, unsigned size)
{
    char text[CONFIGURATION_BYTES];
    char path[PATH_MAX];
    char *rest = NULL;
    if (pwr_env_read_text(env, file, text, sizeof text) != PWR_OK) {
        return false;
    }
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, " daemon_path = %4095s", path) == 1) {
            return is_program(env, path, name, size);
        }
    }
    return false;
}

static bool find_in_folders(const pwr_env_t *env, const char *folders, char *name, unsigned size)
{
    char path[PATH_MAX];
    for (const char *end; *folders != '\0'; folders = *end == ':' ? end + 1 : end) {
        end = folders + strcspn(folders, ":");
        int length =
            snprintf(path, sizeof path, "%.*s/likwid-accessD", (int)(end - folders), folders);
        if (length > 0 && (size_t)length < sizeof path && path[0] == '/' &&
            is_program(env, path, name, size)) {
            return true;
        }
    }
    return false;
}

bool pwr_accessd_find(const pwr_env_t *env, char *name, unsigned size)
{
    const char *path = secure_getenv("PATH");
    return find_configured(env, "/etc/likwid.cfg", name, size) ||
           find_configured(env, "/usr/local/etc/likwid.cfg", name, size) ||
           (path && find_in_folders(env, path, name, size)) ||
           find_in_folders(env, "/usr/local/sbin:/usr/sbin", name, size);
}

static bool gains_rights(const char *program)
{
    struct stat info;
    return (stat(program, &info) == 0 && info.st_uid == 0 && (info.st_mode & S_ISUID)) ||
           getxattr(program, "security.capability", NULL, 0) > 0;
}

bool pwr_setfreq_is_powerless(const pwr_env_t *env)
{
    static const char program[] = "likwid-setFreq";
    char path[PATH_MAX];
    if (geteuid() == 0 || !pwr_accessd_find(env, path, sizeof path)) {
        return false;
    }
    char *name = strrchr(path, '/') + 1;
    if ((size_t)(path + sizeof path - name) < sizeof program) {
        return false;
    }
    memcpy(name, program, sizeof program);
    return access(path, F_OK) == 0 && !gains_rights(path);
}

bool pwr_accessd_has_rights(const pwr_env_t *env, const char *program)
{
    char device[PATH_MAX];
    if (pwr_env_path(env, "/dev/cpu/0/msr", device, sizeof device) == PWR_OK &&
        access(device, R_OK | W_OK) == 0) {
        return true;
    }
    return gains_rights(program);
}
