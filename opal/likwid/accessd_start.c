/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Starting likwid's access daemon and connecting to it.
 *
 *   1. poweraware-start starts the daemon and names its process, from which the socket has its
 * name.
 *   2. The socket is tried until it is there; the daemon may end before (locked, unknown CPU).
 *   3. The socket lies in a folder where everybody may put files: who listens is asked.
 */
#include "config.h"

#include "likwid/accessd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/start_wire.h"

/* As long as likwid itself waits. */
static const uint64_t start_timeout_ns = 10u * 1000000000ull;
static const uint64_t retry_ns = 1000000;
/* Counted, not timed: where a machine stands still for seconds and its clock does not, the daemon
   has had no time either. */
enum { START_ATTEMPTS = 10000 };

/* One message, or the end of all that the daemon was. */
static pwr_status_t hear(const pwr_env_t *env, int life, uint64_t timeout_ns,
                         pwr_start_message_t *message)
{
    pwr_status_t status = pwr_helper_receive(env, life, timeout_ns, message, sizeof *message);
    return status == PWR_OK && message->magic != PWR_START_MAGIC ? PWR_ERR_IO : status;
}

static pwr_status_t refuse_exec(const char *program, int error, const pwr_why_t *why)
{
    pwr_why_add(why, "%s: cannot be started: %s", program, strerror(error));
    pwr_status_t status = pwr_status_from_errno(error);
    return status != PWR_OK ? status : PWR_ERR_IO;
}

/* 1. */
static pwr_status_t start_daemon(const pwr_env_t *env, const char *program, const pwr_why_t *why,
                                 int *life, pid_t *pid)
{
    pwr_start_message_t message;
    pwr_status_t status = pwr_helper_start(env, "poweraware-start", program, life);
    if (status != PWR_OK) {
        pwr_why_add(why, "poweraware-start: %s", pwr_status_text(status));
        return status;
    }
    status = hear(env, *life, start_timeout_ns, &message);
    if (status == PWR_OK && message.kind == PWR_START_STARTED) {
        *pid = message.value;
        return PWR_OK;
    }
    close(*life);
    if (status == PWR_OK) {
        return refuse_exec(program, message.value, why);
    }
    pwr_why_add(why, "poweraware-start: %s", pwr_status_text(status));
    return status;
}

static bool set_address(const pwr_env_t *env, pid_t pid, struct sockaddr_un *address)
{
    char path[sizeof PWR_ACCESSD_SOCKET + 16];
    snprintf(path, sizeof path, PWR_ACCESSD_SOCKET, (int)pid);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return pwr_env_path(env, path, address->sun_path, sizeof address->sun_path) == PWR_OK;
}

/* 2.  Between two attempts: whether it is worth another one. */
static pwr_status_t wait_a_little(const pwr_env_t *env, int life, const char *program,
                                  const pwr_why_t *why)
{
    pwr_start_message_t message;
    pwr_status_t status = hear(env, life, retry_ns, &message);
    if (status == PWR_ERR_TIMEOUT) {
        return PWR_OK;
    }
    if (status == PWR_OK) {
        return refuse_exec(program, message.value, why);
    }
    bool locked = access(PWR_ACCESSD_LOCK, F_OK) == 0;
    pwr_why_add(why, "%s: ended at once (%s)", program,
                locked ? "somebody holds " PWR_ACCESSD_LOCK
                       : "it says why in the system log: an unknown CPU model");
    return locked ? PWR_ERR_PERM : PWR_ERR_UNSUPPORTED;
}

static pwr_status_t connect_socket(const pwr_env_t *env, int fd, int life, pid_t pid,
                                   const char *program, const pwr_why_t *why)
{
    struct sockaddr_un address;
    if (!set_address(env, pid, &address)) {
        return PWR_ERR_ARG;
    }
    for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
            return PWR_OK;
        }
        if (errno != ENOENT && errno != ECONNREFUSED && errno != EINTR) {
            int error = errno;
            pwr_why_add(why, "%s: %s", address.sun_path, strerror(error));
            return pwr_status_from_errno(error);
        }
        pwr_status_t status = wait_a_little(env, life, program, why);
        if (status != PWR_OK) {
            return status;
        }
    }
    pwr_why_add(why, "%s: no socket %s", program, address.sun_path);
    return PWR_ERR_TIMEOUT;
}

/* 3. */
static pwr_status_t check_peer(int fd, const char *program, const pwr_why_t *why)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return pwr_status_from_errno(errno);
    }
    if (peer.uid == 0 || peer.uid == geteuid()) {
        return PWR_OK;
    }
    pwr_why_add(why, "%s: its socket belongs to user %u: somebody else made it", program,
                (unsigned)peer.uid);
    return PWR_ERR_PERM;
}

static pwr_status_t connect_to(const pwr_env_t *env, int life, pid_t pid, const char *program,
                               const pwr_why_t *why, int *fd)
{
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) {
        return pwr_status_from_errno(errno);
    }
    pwr_status_t status = connect_socket(env, made, life, pid, program, why);
    if (status == PWR_OK) {
        status = check_peer(made, program, why);
    }
    return pwr_env_opened(status, made, fd);
}

pwr_status_t pwr_accessd_start(const pwr_env_t *env, const pwr_why_t *why, int *fd)
{
    char program[PATH_MAX];
    int life;
    pid_t pid = 0;
    if (!pwr_accessd_find(env, program, sizeof program)) {
        pwr_why_add(why, "likwid-accessD: not installed");
        return PWR_ERR_UNSUPPORTED;
    }
    if (!pwr_accessd_has_rights(env, program)) {
        pwr_why_add(why, "%s: no rights (needs 'chown root: %s && chmod u+s %s')", program, program,
                    program);
        return PWR_ERR_PERM;
    }
    pwr_status_t status = start_daemon(env, program, why, &life, &pid);
    if (status == PWR_OK) {
        status = connect_to(env, life, pid, program, why, fd);
        close(life);
    }
    return status;
}
