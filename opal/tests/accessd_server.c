/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A server of our own that speaks the protocol of likwid's access daemon (accessd_wire.h), for what
 * the real one cannot be made to do: refuse, die, hang and lie when a test asks for it.  The real
 * one is tested on emulated machines (tests/test_likwid_machines.py).
 *
 * It is installed as <root>/usr/sbin/likwid-accessD and finds its root by that.  Registers are the
 * files <root>/registers/<cpu>, 8 bytes at the offset that is the number.  <root>/accessd.words
 * says how it behaves, in words:
 *
 *     stay        serve in the first process, as the real one does under systemd
 *     quit        end before there is a socket
 *     silent      never make a socket (it ends after a second)
 *     user=N      become that user first
 *     closed=N    CPU N has no device file
 *     deny=N      let register N not through
 *     die=N       end instead of the Nth answer (counted from 1; an answer to CHECK counts)
 *     hang=N      never answer the Nth request
 *     drop=N      write values without these bits
 *     lie=N       give the Nth answer about another register
 *     split       give answers in two halves
 *
 * Every start adds a line with the serving process to <root>/accessd.started.
 */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "likwid/accessd_wire.h"

enum { WORDS_BYTES = 512, NEVER = -1, HALF = sizeof(pwr_accessd_record_t) / 2 };

static char root[PATH_MAX];
static char words[WORDS_BYTES];

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void full_name(const char *path, char name[PATH_MAX])
{
    if (snprintf(name, PATH_MAX, "%s%s", root, path) >= PATH_MAX) {
        die("path");
    }
}

static void find_root(void)
{
    ssize_t length = readlink("/proc/self/exe", root, sizeof root - 1);
    char *end = length > 0 ? strstr(root, "/usr/sbin/likwid-accessD") : NULL;
    if (!end) {
        die("where am I");
    }
    *end = '\0';
}

static void read_words(void)
{
    char name[PATH_MAX];
    full_name("/accessd.words", name);
    int fd = open(name, O_RDONLY);
    words[0] = ' ';
    if (fd >= 0 && read(fd, words + 1, sizeof words - 2) < 0) {
        die(name);
    }
}

static bool has(const char *word)
{
    return strstr(words, word) != NULL;
}

/* Of "word=N". */
static long value_of(const char *word)
{
    const char *found = strstr(words, word);
    return found ? strtol(found + strlen(word), NULL, 0) : NEVER;
}

static void note_start(void)
{
    char name[PATH_MAX];
    char line[24];
    full_name("/accessd.started", name);
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0666);
    int size = snprintf(line, sizeof line, "%ld\n", (long)getpid());
    if (fd < 0 || write(fd, line, (size_t)size) != size) {
        die(name);
    }
    close(fd);
}

static int serve_socket(pid_t name_pid)
{
    char path[64];
    char name[PATH_MAX];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(path, sizeof path, PWR_ACCESSD_SOCKET, (int)name_pid);
    full_name(path, name);
    if (strlen(name) >= sizeof address.sun_path) {
        die("socket name too long");
    }
    memcpy(address.sun_path, name, strlen(name) + 1);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    umask(0); /* the client decides by asking who it is, not by the mode */
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 1) != 0) {
        die(name);
    }
    alarm(120);
    int client = accept(listener, NULL, NULL);
    alarm(0);
    unlink(name);
    return client;
}

static void access_register(pwr_accessd_record_t *record)
{
    char path[64];
    char name[PATH_MAX];
    bool writing = record->type == PWR_ACCESSD_WRITE;
    uint64_t data = record->data;
    snprintf(path, sizeof path, "/registers/%u", record->cpu);
    full_name(path, name);
    int fd = open(name, O_RDWR);
    if (writing && value_of("drop=") != NEVER) {
        data &= ~(uint64_t)value_of("drop=");
    }
    ssize_t done = writing ? pwrite(fd, &data, sizeof data, (off_t)record->number)
                           : pread(fd, &data, sizeof data, (off_t)record->number);
    if (done != (ssize_t)sizeof data) {
        record->error = PWR_ACCESSD_FAILED;
    }
    record->data = writing ? 0 : data;
    close(fd);
}

static void answer(pwr_accessd_record_t *record)
{
    record->error = PWR_ACCESSD_OK;
    if ((long)record->cpu == value_of("closed=")) {
        record->error = PWR_ACCESSD_NO_DEVICE;
    } else if (record->type == PWR_ACCESSD_CHECK) {
        return;
    } else if ((long)record->number == value_of("deny=")) {
        record->error = PWR_ACCESSD_RESTRICTED;
    } else {
        access_register(record);
    }
}

static bool send_answer(int client, const pwr_accessd_record_t *record)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    const char *bytes = (const char *)record;
    if (!has(" split")) {
        return write(client, record, sizeof *record) == (ssize_t)sizeof *record;
    }
    bool first = write(client, bytes, HALF) == HALF;
    nanosleep(&moment, NULL);
    return first && write(client, bytes + HALF, HALF) == HALF;
}

static void serve(int client)
{
    pwr_accessd_record_t record;
    for (long nth = 1; read(client, &record, sizeof record) == (ssize_t)sizeof record; nth++) {
        if (record.type == PWR_ACCESSD_EXIT || nth == value_of("die=")) {
            return;
        }
        answer(&record);
        if (nth == value_of("hang=")) {
            pause();
        }
        if (nth == value_of("lie=")) {
            record.number++;
        }
        if (!send_answer(client, &record)) {
            return;
        }
    }
}

int main(void)
{
    pid_t name_pid = getpid();
    find_root();
    read_words();
    if (value_of("user=") != NEVER && setuid((uid_t)value_of("user=")) != 0) {
        die("setuid");
    }
    if (has(" quit")) {
        return EXIT_SUCCESS;
    }
    if (has(" silent")) {
        sleep(1);
        return EXIT_SUCCESS;
    }
    if (!has(" stay") && fork() != 0) {
        return EXIT_SUCCESS;
    }
    note_start();
    serve(serve_socket(name_pid));
    return EXIT_SUCCESS;
}
