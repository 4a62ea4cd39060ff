/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The client's side of the guardian: start it, hand originals over, say farewell.
 */
#include "config.h"

#include "guard/guard_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Generous: a node that starts hundreds of ranks is slow; nobody waits this long otherwise. */
static const uint64_t answer_timeout_ns = 10u * 1000000000ull;

struct pwr_guard {
    const pwr_env_t *env;
    int fd;
    pid_t pid;
    bool broken; /* no answer once: never trusted again */
};

/* Waits for input or end of file. */
static pwr_status_t wait_readable(const pwr_env_t *env, int fd)
{
    uint64_t deadline = pwr_env_now_ns(env) + answer_timeout_ns;
    for (;;) {
        uint64_t now = pwr_env_now_ns(env);
        if (now >= deadline) {
            return PWR_ERR_TIMEOUT;
        }
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        int rc = poll(&poll_fd, 1, (int)((deadline - now) / 1000000u) + 1);
        if (rc > 0) {
            return PWR_OK;
        }
        if (rc < 0 && errno != EINTR) {
            return pwr_status_from_errno(errno);
        }
    }
}

static pwr_status_t receive(const pwr_env_t *env, int fd, pwr_guard_kind_t kind,
                            pwr_guard_message_t *message)
{
    pwr_status_t status = wait_readable(env, fd);
    if (status != PWR_OK) {
        return status;
    }
    if (recv(fd, message, sizeof *message, 0) != (ssize_t)sizeof *message ||
        message->magic != PWR_GUARD_MAGIC || message->kind != (uint32_t)kind) {
        return PWR_ERR_IO;
    }
    return PWR_OK;
}

static pwr_status_t send_message(int fd, const pwr_guard_message_t *message)
{
    ssize_t sent;
    do {
        sent = send(fd, message, sizeof *message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *message ? PWR_OK : PWR_ERR_IO;
}

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

static pwr_status_t start_pair(const pwr_env_t *env, const char *program, int *fd)
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

/* HELLO and its answer. */
static pwr_status_t greet(const pwr_env_t *env, int fd, pid_t *pid)
{
    pwr_guard_message_t message = {.magic = PWR_GUARD_MAGIC, .kind = PWR_GUARD_HELLO};
    size_t length = strlen(env->root);
    if (length >= sizeof message.root) {
        return PWR_ERR_ARG;
    }
    memcpy(message.root, env->root, length + 1);
    pwr_status_t status = send_message(fd, &message);
    if (status == PWR_OK) {
        status = receive(env, fd, PWR_GUARD_READY, &message);
    }
    if (status == PWR_OK) {
        *pid = message.pid;
    }
    return status;
}

pwr_status_t pwr_guard_start(const pwr_env_t *env, const pwr_guard_config_t *config,
                             pwr_guard_t **guard)
{
    char program[PATH_MAX];
    pwr_status_t status = pwr_env_helper(env, "poweraware-guard", program, sizeof program);
    if (status != PWR_OK) {
        return status;
    }
    pwr_guard_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    (void)config;
    made->env = env;
    status = start_pair(env, program, &made->fd);
    if (status != PWR_OK) {
        goto free_guard;
    }
    status = greet(env, made->fd, &made->pid);
    if (status != PWR_OK) {
        pwr_env_log(env, PWR_LOG_WARN,
                    "the guardian %s did not report ready (%s): is it the one of this version?",
                    program, pwr_status_text(status));
        goto close_socket;
    }
    *guard = made;
    return PWR_OK;

close_socket:
    close(made->fd);
free_guard:
    free(made);
    return status;
}

static uint32_t door_number(const pwr_door_t *door)
{
    uint32_t number = 0;
    while (number < pwr_num_doors && pwr_doors[number] != door) {
        number++;
    }
    return number;
}

static pwr_status_t tell(pwr_guard_t *guard, pwr_guard_kind_t kind, const pwr_control_t *control,
                         uint64_t value)
{
    pwr_guard_message_t message = {.magic = PWR_GUARD_MAGIC,
                                   .kind = kind,
                                   .door = door_number(control->door),
                                   .control = control->kind,
                                   .cpu = control->cpu,
                                   .value = value};
    if (guard->broken) {
        return PWR_ERR_IO;
    }
    pwr_status_t status = send_message(guard->fd, &message);
    if (status == PWR_OK) {
        status = receive(guard->env, guard->fd, PWR_GUARD_CONFIRM, &message);
    }
    if (status != PWR_OK) {
        guard->broken = true;
        pwr_env_log(guard->env, PWR_LOG_WARN,
                    "the guardian (process %ld) is gone or does not answer", (long)guard->pid);
        return PWR_ERR_IO;
    }
    return (pwr_status_t)message.status;
}

pwr_status_t pwr_guard_remember(pwr_guard_t *guard, const pwr_control_t *control, uint64_t original)
{
    return tell(guard, PWR_GUARD_REMEMBER, control, original);
}

pwr_status_t pwr_guard_announce(pwr_guard_t *guard, const pwr_control_t *control, uint64_t value)
{
    return tell(guard, PWR_GUARD_ANNOUNCE, control, value);
}

pid_t pwr_guard_pid(const pwr_guard_t *guard)
{
    return guard->pid;
}

bool pwr_guard_lives(const pwr_guard_t *guard)
{
    char byte;
    return recv(guard->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void close_client(pwr_guard_t *guard)
{
    close(guard->fd);
    free(guard);
}

void pwr_guard_stop(pwr_guard_t *guard)
{
    if (!guard) {
        return;
    }
    pwr_guard_message_t farewell = {.magic = PWR_GUARD_MAGIC, .kind = PWR_GUARD_FAREWELL};
    /* Until it has closed its end, which it does by ending.  One that is gone needs no farewell. */
    if (send_message(guard->fd, &farewell) == PWR_OK) {
        (void)wait_readable(guard->env, guard->fd);
    }
    close_client(guard);
}

void pwr_guard_abandon(pwr_guard_t *guard)
{
    if (guard) {
        /* Also when a forked child still holds our end. */
        shutdown(guard->fd, SHUT_WR);
        close_client(guard);
    }
}
