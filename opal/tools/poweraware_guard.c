/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The guardian process: remembers originals, and writes them back when its client is gone.
 *
 *   1. detach: no files but the socket, no signals that end a job, no parent to be waited for by;
 *   2. remember what the client sends, confirm each;
 *   3. a farewell ends it; the end of the socket or of the client makes it restore first.
 */
#include "config.h"

#include "guard/guard_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

enum { RESTORE_ATTEMPTS = 6, FIRST_PAUSE_MS = 5, LAST_FD_WITHOUT_CLOSE_RANGE = 4096 };

enum { MAX_OURS = 16 };

typedef struct record {
    const pwr_door_t *door;
    pwr_control_kind_t kind;
    unsigned cpu;
    uint64_t original;
    uint64_t ours[MAX_OURS];
    unsigned num_ours;
} record_t;

typedef struct journal {
    pwr_env_t env;
    char root[PATH_MAX];
    record_t *records;
    size_t count;
    size_t capacity;
} journal_t;

/* ---- 1. detach ---- */

static void close_inherited(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, PWR_GUARD_FD + 1, ~0u, 0) == 0) {
        return;
    }
#endif
    for (int fd = PWR_GUARD_FD + 1; fd <= LAST_FD_WITHOUT_CLOSE_RANGE; fd++) {
        close(fd);
    }
}

static void ignore_job_signals(void)
{
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        signal(ignored[i], SIG_IGN);
    }
}

/* The process at the other end, which made the pair; 0 when the kernel does not say. */
static pid_t client_pid(void)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(PWR_GUARD_FD, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

/* A descriptor that is readable once the client is dead: the socket alone stays open as long as a
   child that the client forked.  -1 (poll ignores it) on kernels without it. */
static int watch_client(void)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, client_pid(), 0);
#else
    return -1;
#endif
}

/* ---- 2. remember ---- */

static record_t *find(const journal_t *journal, const pwr_guard_message_t *message)
{
    for (size_t i = 0; i < journal->count; i++) {
        record_t *known = &journal->records[i];
        if (known->door == pwr_doors[message->door] && known->kind == message->control &&
            known->cpu == message->cpu) {
            return known;
        }
    }
    return NULL;
}

static pwr_status_t remember(journal_t *journal, const pwr_guard_message_t *message)
{
    record_t *known = find(journal, message);
    if (known) {
        known->original = message->value;
        return PWR_OK;
    }
    if (journal->count == journal->capacity) {
        size_t capacity = journal->capacity > 0 ? 2 * journal->capacity : 64;
        record_t *records = realloc(journal->records, capacity * sizeof *records);
        if (!records) {
            return PWR_ERR_NOMEM;
        }
        journal->records = records;
        journal->capacity = capacity;
    }
    journal->records[journal->count++] = (record_t){.door = pwr_doors[message->door],
                                                    .kind = (pwr_control_kind_t)message->control,
                                                    .cpu = message->cpu,
                                                    .original = message->value};
    return PWR_OK;
}

static pwr_status_t announce(const journal_t *journal, const pwr_guard_message_t *message)
{
    record_t *known = find(journal, message);
    if (!known) {
        return PWR_ERR_ARG;
    }
    if (known->num_ours == MAX_OURS) {
        return PWR_ERR_RANGE;
    }
    known->ours[known->num_ours++] = message->value;
    return PWR_OK;
}

static pwr_status_t take(journal_t *journal, const pwr_guard_message_t *message)
{
    if (message->door >= pwr_num_doors || message->control >= PWR_CONTROL_KINDS) {
        return PWR_ERR_ARG;
    }
    return message->kind == PWR_GUARD_REMEMBER ? remember(journal, message)
                                               : announce(journal, message);
}

typedef enum verdict { GO_ON, DISMISSED, ABANDONED } verdict_t;

/* Takes all messages that are there. */
static verdict_t drain(journal_t *journal)
{
    for (;;) {
        pwr_guard_message_t message;
        ssize_t got = recv(PWR_GUARD_FD, &message, sizeof message, MSG_DONTWAIT);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? GO_ON : ABANDONED;
        }
        if (got != (ssize_t)sizeof message || message.magic != PWR_GUARD_MAGIC) {
            return ABANDONED;
        }
        if (message.kind == PWR_GUARD_FAREWELL) {
            return DISMISSED;
        }
        if (message.kind != PWR_GUARD_REMEMBER && message.kind != PWR_GUARD_ANNOUNCE) {
            return ABANDONED;
        }
        pwr_guard_message_t answer = {
            .magic = PWR_GUARD_MAGIC, .kind = PWR_GUARD_CONFIRM, .status = take(journal, &message)};
        /* A client that cannot hear the answer is noticed by the next recv. */
        (void)send(PWR_GUARD_FD, &answer, sizeof answer, MSG_NOSIGNAL);
    }
}

static verdict_t serve(journal_t *journal)
{
    int client = watch_client();
    bool client_lives = client >= 0 || errno != ESRCH;
    verdict_t verdict = GO_ON;
    while (verdict == GO_ON) {
        struct pollfd fds[] = {{.fd = PWR_GUARD_FD, .events = POLLIN},
                               {.fd = client, .events = POLLIN}};
        if (client_lives && poll(fds, 2, -1) > 0 && fds[1].revents != 0) {
            client_lives = false;
        }
        verdict = drain(journal); /* a farewell may still wait in a dead client's socket */
        if (verdict == GO_ON && !client_lives) {
            verdict = ABANDONED;
        }
    }
    return verdict;
}

/* ---- 3. restore ---- */

static int compare_kind(const void *left, const void *right)
{
    return (int)((const record_t *)left)->kind - (int)((const record_t *)right)->kind;
}

static bool is_ours(const record_t *record, uint64_t now)
{
    uint64_t mask = pwr_control_mask(record->kind);
    for (unsigned i = 0; i < record->num_ours; i++) {
        if (((record->ours[i] ^ now) & mask) == 0) {
            return true;
        }
    }
    return false;
}

/* What is neither the original nor ours was set by somebody else, and stays. */
static pwr_status_t write_back(const journal_t *journal, const record_t *record)
{
    char reason[1];
    const pwr_why_t why = pwr_why_init(reason, sizeof reason);
    pwr_control_t control;
    uint64_t now;
    pwr_status_t status =
        record->door->open(record->door, &journal->env, record->kind, record->cpu, &why, &control);
    if (status != PWR_OK) {
        return status;
    }
    status = record->door->read(&control, &now);
    if (status == PWR_OK && is_ours(record, now)) {
        uint64_t mask = pwr_control_mask(record->kind);
        status = record->door->write(&control, (now & ~mask) | (record->original & mask));
    }
    record->door->close(&control);
    return status;
}

static void pause_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void restore(const journal_t *journal, const record_t *record)
{
    pwr_status_t status = write_back(journal, record);
    long wait_ms = FIRST_PAUSE_MS;
    for (int attempt = 1; status != PWR_OK && attempt < RESTORE_ATTEMPTS; attempt++) {
        pause_ms(wait_ms);
        wait_ms *= 2;
        status = write_back(journal, record);
    }
    if (status != PWR_OK) {
        syslog(LOG_ERR, "cannot restore the %s of CPU %u through %s: %s",
               pwr_control_kind_name(record->kind), record->cpu, record->door->name,
               pwr_status_text(status));
    }
}

static void restore_all(journal_t *journal)
{
    if (journal->count > 0) {
        qsort(journal->records, journal->count, sizeof journal->records[0], compare_kind);
    }
    for (size_t i = 0; i < journal->count; i++) {
        restore(journal, &journal->records[i]);
    }
}

static bool hear_hello(journal_t *journal)
{
    pwr_guard_message_t hello;
    ssize_t got;
    do {
        got = recv(PWR_GUARD_FD, &hello, sizeof hello, 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof hello || hello.magic != PWR_GUARD_MAGIC ||
        hello.kind != PWR_GUARD_HELLO || !memchr(hello.root, '\0', sizeof hello.root)) {
        return false;
    }
    memcpy(journal->root, hello.root, sizeof journal->root);
    journal->env = pwr_env_real;
    journal->env.root = journal->root;
    return true;
}

static int guard(void)
{
    static journal_t journal;
    pwr_guard_message_t ready = {
        .magic = PWR_GUARD_MAGIC, .kind = PWR_GUARD_READY, .pid = (int32_t)getpid()};
    if (!hear_hello(&journal) ||
        send(PWR_GUARD_FD, &ready, sizeof ready, MSG_NOSIGNAL) != (ssize_t)sizeof ready) {
        return EXIT_FAILURE;
    }
    if (serve(&journal) == ABANDONED) {
        restore_all(&journal);
    }
    free(journal.records);
    return EXIT_SUCCESS;
}

static int usage(int argc, char **argv)
{
    bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
    fprintf(asked ? stdout : stderr,
            "poweraware-guard restores P-states and T-states when the process that changed them\n"
            "ends without doing so.  Programs that use the power library start it by themselves;\n"
            "it has no options and does nothing when started by hand.\n");
    return asked ? EXIT_SUCCESS : 2;
}

int main(int argc, char **argv)
{
    if (argc > 1 || client_pid() == 0) {
        return usage(argc, argv);
    }
    close_inherited();
    ignore_job_signals();
    openlog("poweraware-guard", LOG_PID, LOG_USER);
    if (chdir("/") != 0) {
        return EXIT_FAILURE;
    }
    /* The client reaps this process at once; the guardian itself is nobody's child. */
    pid_t child = fork();
    if (child != 0) {
        _exit(child > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return guard();
}
