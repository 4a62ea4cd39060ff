/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Starting a guardian so that nothing of its client's is left in it.
 */
#include "config.h"

#include "guard/guard_spawn.h"
#include "guard/guard_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The guardian gets its end of the pair and /dev/null: launchers wait for end of file on a rank's
   output, so nothing of ours may stay open in it. */
static int add_files(posix_spawn_file_actions_t *files, int guardian_end)
{
    int rc = posix_spawn_file_actions_adddup2(files, guardian_end, PWR_GUARD_FD);
    for (int fd = 0; rc == 0 && fd <= 2; fd++) {
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

static int spawn(const char *program, int guardian_end, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char *argv[] = {(char *)program, NULL};
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawnattr_init(&attributes);
    if (rc != 0) {
        goto destroy_files;
    }
    rc = add_files(&files, guardian_end);
    if (rc == 0) {
        rc = set_attributes(&attributes);
    }
    if (rc == 0) {
        rc = posix_spawn(pid, program, &files, &attributes, argv, environ);
    }
    posix_spawnattr_destroy(&attributes);
destroy_files:
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* The spawned process forks the guardian and ends at once; ECHILD means that the application
   ignores SIGCHLD or was faster. */
static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

pwr_status_t pwr_guard_spawn(const pwr_env_t *env, const char *program, int *fd)
{
    int pair[2];
    pid_t starter;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        pwr_env_log(env, PWR_LOG_WARN, "cannot make a socket pair for the guardian: %s",
                    strerror(errno));
        return pwr_status_from_errno(errno);
    }
    int rc = spawn(program, pair[1], &starter);
    close(pair[1]);
    if (rc != 0) {
        pwr_env_log(env, PWR_LOG_WARN, "cannot start the guardian %s: %s", program, strerror(rc));
        close(pair[0]);
        return pwr_status_from_errno(rc);
    }
    reap(starter);
    *fd = pair[0];
    return PWR_OK;
}
