/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The client's side of the guardian: start it, hand originals over, say farewell.
 */
#include "config.h"

#include "guard/guard_wire.h"
#include "guard/journal_file.h"
#include "helper/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NO_FILE = -1, WHY_BYTES = 512 };

static const char guardian_program[] = "poweraware-guard";
/* Generous: a node that starts hundreds of ranks is slow; nobody waits this long otherwise. */
static const uint64_t answer_timeout_ns = 10u * 1000000000ull;

struct pwr_guard {
    const pwr_env_t *env;
    pwr_rundir_t *rundir;
    char job[PWR_JOB_BYTES];
    char journal[PWR_GUARD_NAME_BYTES]; /* its name in rundir */
    int journal_fd;                     /* holds the client's lock */
    int fd;                             /* our end of the pair */
    pid_t pid;
    bool broken; /* no answer once: not trusted again */
    bool said;   /* that the journal cannot be written */
};

/* ---- start ---- */

/* The names fit: the directory is open, under a name with the root in front. */
static pwr_status_t say_hello(const pwr_guard_t *guard, int fd)
{
    pwr_guard_hello_t hello;
    memset(&hello, 0, sizeof hello); /* padding too */
    hello.magic = PWR_GUARD_MAGIC;
    hello.kind = PWR_GUARD_HELLO;
    snprintf(hello.root, sizeof hello.root, "%s", guard->env->root);
    snprintf(hello.directory, sizeof hello.directory, "%s", pwr_rundir_name(guard->rundir));
    memcpy(hello.job, guard->job, sizeof hello.job);
    memcpy(hello.journal, guard->journal, sizeof hello.journal);
    return pwr_helper_send(fd, &hello, sizeof hello);
}

/* HELLO and its answer. */
static pwr_status_t greet(const pwr_guard_t *guard, const char *program, int fd,
                          pwr_guard_ready_t *ready)
{
    pwr_status_t status = say_hello(guard, fd);
    if (status == PWR_OK) {
        status = pwr_helper_receive(guard->env, fd, answer_timeout_ns, ready, sizeof *ready);
    }
    if (status == PWR_OK && (ready->magic != PWR_GUARD_MAGIC || ready->kind != PWR_GUARD_READY)) {
        status = PWR_ERR_IO;
    }
    if (status != PWR_OK) {
        pwr_env_log(guard->env, PWR_LOG_WARN,
                    "the guardian %s did not report ready (%s): is it the one of this version?",
                    program, pwr_status_text(status));
        return status;
    }
    ready->journal[sizeof ready->journal - 1] = '\0';
    ready->reason[sizeof ready->reason - 1] = '\0';
    if (ready->status != PWR_OK) {
        pwr_env_log(guard->env, PWR_LOG_WARN, "no guardian without a journal: %s", ready->reason);
    }
    return (pwr_status_t)ready->status;
}

/* Starts a guardian; with guard->journal set, one that takes over that journal. */
static pwr_status_t engage(const pwr_guard_t *guard, int *fd, pwr_guard_ready_t *ready)
{
    char program[PATH_MAX];
    int end;
    (void)pwr_env_helper(guard->env, guardian_program, program, sizeof program); /* for messages */
    pwr_status_t status = pwr_helper_start(guard->env, guardian_program, NULL, &end);
    if (status != PWR_OK) {
        pwr_env_log(guard->env, PWR_LOG_WARN, "cannot start the guardian %s: %s", program,
                    pwr_status_text(status));
        return status;
    }
    return pwr_env_opened(greet(guard, program, end, ready), end, fd);
}

static pwr_status_t start(pwr_guard_t *guard)
{
    char why[WHY_BYTES];
    pwr_guard_ready_t ready;
    pwr_status_t status = engage(guard, &guard->fd, &ready);
    if (status != PWR_OK) {
        return status;
    }
    memcpy(guard->journal, ready.journal, sizeof guard->journal);
    guard->pid = ready.pid;
    status = pwr_journal_hold(guard->rundir, guard->journal, why, sizeof why, &guard->journal_fd);
    if (status != PWR_OK) {
        pwr_env_log(guard->env, PWR_LOG_WARN, "no guardian without a journal: %s", why);
    }
    return status;
}

static void close_client(pwr_guard_t *guard)
{
    if (guard->journal_fd != NO_FILE) {
        close(guard->journal_fd);
    }
    if (guard->fd != NO_FILE) {
        close(guard->fd);
    }
    pwr_rundir_close(guard->rundir);
    free(guard);
}

pwr_status_t pwr_guard_start(const pwr_env_t *env, const pwr_guard_config_t *config,
                             pwr_guard_t **guard)
{
    pwr_guard_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    made->fd = NO_FILE;
    made->journal_fd = NO_FILE;
    pwr_identity_job(config->job, made->job);
    pwr_status_t status =
        pwr_rundir_open(env, config->run_directory, PWR_RUNDIR_CREATE, &made->rundir);
    if (status == PWR_OK) {
        status = start(made);
    }
    if (status != PWR_OK) {
        close_client(made);
        return status;
    }
    *guard = made;
    return PWR_OK;
}

/* ---- service ---- */

static uint32_t access_number(const pwr_access_t *access)
{
    uint32_t number = 0;
    while (number < pwr_num_accesses && pwr_accesses[number] != access) {
        number++;
    }
    return number;
}

/* Once: a full disk stays full for a while. */
static void say_why(pwr_guard_t *guard, int cause)
{
    if (cause != 0 && !guard->said) {
        guard->said = true;
        pwr_env_log(guard->env, PWR_LOG_WARN,
                    "the guardian cannot write its journal %s/%s: %s; levers that are not in it "
                    "yet are not used",
                    pwr_rundir_name(guard->rundir), guard->journal, strerror(cause));
    }
}

static pwr_status_t tell(pwr_guard_t *guard, pwr_guard_kind_t kind, const pwr_control_t *control,
                         uint64_t value)
{
    const pwr_guard_tell_t told = {.magic = PWR_GUARD_MAGIC,
                                   .kind = kind,
                                   .access = access_number(control->access),
                                   .control = control->kind,
                                   .cpu = control->cpu,
                                   .value = value};
    pwr_guard_confirm_t answer;
    if (guard->broken) {
        return PWR_ERR_IO;
    }
    pwr_status_t status = pwr_helper_send(guard->fd, &told, sizeof told);
    if (status == PWR_OK) {
        status =
            pwr_helper_receive(guard->env, guard->fd, answer_timeout_ns, &answer, sizeof answer);
    }
    if (status != PWR_OK || answer.magic != PWR_GUARD_MAGIC || answer.kind != PWR_GUARD_CONFIRM) {
        guard->broken = true;
        pwr_env_log(guard->env, PWR_LOG_WARN,
                    "the guardian (process %ld) is gone or does not answer", (long)guard->pid);
        return PWR_ERR_IO;
    }
    say_why(guard, answer.cause);
    return (pwr_status_t)answer.status;
}

pwr_status_t pwr_guard_remember(pwr_guard_t *guard, const pwr_control_t *control, uint64_t original)
{
    return tell(guard, PWR_GUARD_REMEMBER, control, original);
}

pwr_status_t pwr_guard_announce(pwr_guard_t *guard, const pwr_control_t *control, uint64_t value)
{
    return tell(guard, PWR_GUARD_ANNOUNCE, control, value);
}

bool pwr_guard_has_put_back(pwr_guard_t *guard, const pwr_control_t *control)
{
    return tell(guard, PWR_GUARD_ASK, control, 0) == PWR_OK;
}

bool pwr_guard_lives(const pwr_guard_t *guard)
{
    char byte;
    /* It says nothing unasked: there is either nothing to read or the end of the socket. */
    return !guard->broken && recv(guard->fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EINTR);
}

pwr_status_t pwr_guard_revive(pwr_guard_t *guard)
{
    pwr_guard_ready_t ready;
    int fd;
    if (pwr_guard_lives(guard)) {
        return PWR_OK;
    }
    pwr_status_t status = engage(guard, &fd, &ready);
    if (status != PWR_OK) {
        guard->broken = true;
        return status;
    }
    close(guard->fd);
    guard->fd = fd;
    guard->pid = ready.pid;
    guard->broken = false;
    return PWR_OK;
}

const pwr_rundir_t *pwr_guard_rundir(const pwr_guard_t *guard)
{
    return guard->rundir;
}

pid_t pwr_guard_pid(const pwr_guard_t *guard)
{
    return guard->pid;
}

/* ---- the end ---- */

/* True when it has ended. */
static bool dismiss(const pwr_guard_t *guard)
{
    char byte;
    const pwr_guard_tell_t farewell = {.magic = PWR_GUARD_MAGIC, .kind = PWR_GUARD_FAREWELL};
    if (pwr_helper_send(guard->fd, &farewell, sizeof farewell) != PWR_OK) {
        return true;
    }
    /* It closes its end by ending; what else is there to read is an answer that came too late. */
    pwr_status_t status = pwr_helper_wait(guard->env, guard->fd, answer_timeout_ns);
    while (status == PWR_OK && recv(guard->fd, &byte, sizeof byte, 0) > 0) {
        status = pwr_helper_wait(guard->env, guard->fd, answer_timeout_ns);
    }
    return status == PWR_OK;
}

void pwr_guard_stop(pwr_guard_t *guard)
{
    if (!guard) {
        return;
    }
    if (dismiss(guard)) {
        /* One that was killed has left it; our lock keeps restorers away. */
        (void)pwr_rundir_remove(guard->rundir, guard->journal, guard->journal_fd);
    }
    close_client(guard);
}

void pwr_guard_abandon(pwr_guard_t *guard)
{
    if (!guard) {
        return;
    }
    if (pwr_guard_revive(guard) != PWR_OK) {
        pwr_env_log(guard->env, PWR_LOG_WARN,
                    "nobody is left to restore what %s/%s says: run poweraware-restore",
                    pwr_rundir_name(guard->rundir), guard->journal);
    }
    /* Also when a forked child still holds our end. */
    shutdown(guard->fd, SHUT_WR);
    close_client(guard);
}
