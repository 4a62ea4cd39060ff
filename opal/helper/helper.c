/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Starting helper programs and speaking to them.
 */
#include "config.h"

#include "helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { NS_PER_MS = 1000000, LONGEST_LOOK_MS = 100 };

/* Launchers wait for end of file on a rank's output: nothing of ours may stay open in it. */
static int add_files(posix_spawn_file_actions_t *files, int helper_end)
{
    int rc = posix_spawn_file_actions_adddup2(files, helper_end, PWR_HELPER_FD);
    for (int fd = 0; rc == 0 && fd < PWR_HELPER_FD; fd++) {
        rc = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
    }
    return rc;
}

/* A session of its own: launchers kill whole process groups.  Signals as in a fresh process. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0) {
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    }
    if (rc == 0) {
        rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETSIGDEF);
    }
    return rc;
}

static int spawn(char *const argv[], int helper_end, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawnattr_init(&attributes);
    if (rc != 0) {
        goto destroy_files;
    }
    rc = add_files(&files, helper_end);
    if (rc == 0) {
        rc = set_attributes(&attributes);
    }
    if (rc == 0) {
        rc = posix_spawn(pid, argv[0], &files, &attributes, argv, environ);
    }
    posix_spawnattr_destroy(&attributes);
destroy_files:
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* ECHILD means that the application ignores SIGCHLD or was faster. */
static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

pwr_status_t pwr_helper_start(const pwr_env_t *env, const char *program, const char *argument,
                              int *fd)
{
    char path[PATH_MAX];
    int pair[2];
    pid_t starter;
    pwr_status_t status = pwr_env_helper(env, program, path, sizeof path);
    if (status != PWR_OK) {
        return status;
    }
    if (access(path, X_OK) != 0) { /* not every posix_spawn says why its exec failed */
        return pwr_status_from_errno(errno);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return pwr_status_from_errno(errno);
    }
    char *argv[] = {path, (char *)argument, NULL};
    int rc = spawn(argv, pair[1], &starter);
    close(pair[1]);
    if (rc != 0) {
        close(pair[0]);
        return pwr_status_from_errno(rc);
    }
    reap(starter);
    *fd = pair[0];
    return PWR_OK;
}

pwr_status_t pwr_helper_send(int fd, const void *message, size_t size)
{
    ssize_t sent;
    do {
        sent = send(fd, message, size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size ? PWR_OK : PWR_ERR_IO;
}

void pwr_helper_watch(const pwr_env_t *env, pwr_helper_watch_t *watch)
{
    watch->looked_ns = pwr_env_now_ns(env);
    watch->still_ns = 0;
}

bool pwr_helper_has_stalled(const pwr_env_t *env, pwr_helper_watch_t *watch, uint64_t timeout_ns)
{
    const uint64_t longest_ns = (uint64_t)LONGEST_LOOK_MS * NS_PER_MS;
    uint64_t now = pwr_env_now_ns(env);
    uint64_t passed = now - watch->looked_ns;
    watch->looked_ns = now;
    watch->still_ns += passed < longest_ns ? passed : longest_ns;
    return watch->still_ns > timeout_ns;
}

pwr_status_t pwr_helper_wait(const pwr_env_t *env, int fd, uint64_t timeout_ns)
{
    const uint64_t timeout_ms = timeout_ns / NS_PER_MS + 1;
    const int look_ms = timeout_ms < LONGEST_LOOK_MS ? (int)timeout_ms : LONGEST_LOOK_MS;
    pwr_helper_watch_t watch;
    pwr_helper_watch(env, &watch);
    do {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        int rc = poll(&poll_fd, 1, look_ms);
        if (rc > 0) {
            return PWR_OK;
        }
        if (rc < 0 && errno != EINTR) {
            return pwr_status_from_errno(errno);
        }
    } while (!pwr_helper_has_stalled(env, &watch, timeout_ns));
    return PWR_ERR_TIMEOUT;
}

pwr_status_t pwr_helper_receive(const pwr_env_t *env, int fd, uint64_t timeout_ns, void *message,
                                size_t size)
{
    ssize_t got;
    do {
        pwr_status_t status = pwr_helper_wait(env, fd, timeout_ns);
        if (status != PWR_OK) {
            return status;
        }
        got = recv(fd, message, size, MSG_TRUNC);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    return got == (ssize_t)size ? PWR_OK : PWR_ERR_IO;
}
