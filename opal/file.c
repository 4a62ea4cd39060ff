/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Writing files; the numbers are those of file.h.
 */
#include "config.h"

#include "pwr/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- 2. ---- */

static sigset_t too_large(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

pwr_growth_t pwr_growth_begin(void)
{
    pwr_growth_t growth;
    sigset_t pending;
    const sigset_t set = too_large();
    growth.pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &growth.before);
    return growth;
}

void pwr_growth_end(const pwr_growth_t *growth)
{
    static const struct timespec at_once = {0};
    const sigset_t set = too_large();
    int cause = errno;
    while (!growth->pending && sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &growth->before, NULL);
    errno = cause;
}

/* In pieces: a signal undoes the piece it interrupts, and a program that is profiled gets many. */
int pwr_file_allocate(int fd, size_t bytes)
{
    const size_t piece = 1024 * 1024;
    const pwr_growth_t growth = pwr_growth_begin();
    int error = 0;
    for (size_t done = 0; error == 0 && done < bytes; done += piece) {
        size_t left = bytes - done;
        do {
            error = posix_fallocate(fd, (off_t)done, (off_t)(left < piece ? left : piece));
        } while (error == EINTR);
    }
    pwr_growth_end(&growth);
    return error;
}

int pwr_file_extend(int fd, size_t bytes)
{
    const pwr_growth_t growth = pwr_growth_begin();
    int error = ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
    pwr_growth_end(&growth);
    return error;
}

/* ---- 1. ---- */

/* ENXIO is what the kernel, too, says of FIFOs that nobody reads, and of sockets. */
static FILE *open_regular(const char *path)
{
    struct stat info;
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0) {
        return NULL;
    }
    bool known = fstat(fd, &info) == 0;
    if (known && !S_ISREG(info.st_mode)) {
        errno = ENXIO;
        known = false;
    }
    FILE *file = known && ftruncate(fd, 0) == 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        int cause = errno;
        close(fd);
        errno = cause;
    }
    return file;
}

static int fill_and_close(FILE *file, bool (*fill)(FILE *file, const void *arg), const void *arg)
{
    errno = 0;
    bool good = fill(file, arg) && fflush(file) == 0 && ferror(file) == 0;
    int error = good ? 0 : errno != 0 ? errno : EIO;
    if (fclose(file) != 0 && error == 0) {
        error = errno;
    }
    return error;
}

int pwr_file_write(const char *path, bool (*fill)(FILE *file, const void *arg), const void *arg)
{
    FILE *file = open_regular(path);
    if (!file) {
        return errno;
    }
    const pwr_growth_t growth = pwr_growth_begin();
    int error = fill_and_close(file, fill, arg);
    pwr_growth_end(&growth);
    if (error != 0) {
        (void)unlink(path); /* nobody is to read half of it */
    }
    return error;
}

const char *pwr_file_why(int error)
{
    return error == ENXIO ? "not a regular file" : strerror(error);
}
