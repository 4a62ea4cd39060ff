/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The two locks in a journal that say who lives.
 */
#include "config.h"

#include "guard/journal_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { GUARDIAN_BYTE = 0, CLIENT_BYTE = 1 };
enum { PAUSE_MS = 10, ATTEMPTS = 200 };

/* PWR_OK, or SHARED when another holds it. */
static pwr_status_t lock(int fd, int command, short type, off_t byte)
{
    struct flock request = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    if (fcntl(fd, command, &request) == 0) {
        return PWR_OK;
    }
    return errno == EAGAIN || errno == EACCES ? PWR_ERR_SHARED : pwr_status_from_errno(errno);
}

static pwr_status_t lock_patiently(int fd, int command, off_t byte, int attempts)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    pwr_status_t status = lock(fd, command, F_WRLCK, byte);
    for (int attempt = 1; status == PWR_ERR_SHARED && attempt < attempts; attempt++) {
        nanosleep(&pause, NULL);
        status = lock(fd, command, F_WRLCK, byte);
    }
    return status;
}

pwr_status_t pwr_journal_lock_guardian(int fd, pwr_journal_patience_t patience)
{
    return lock_patiently(fd, F_OFD_SETLK, GUARDIAN_BYTE,
                          patience == PWR_JOURNAL_PATIENTLY ? ATTEMPTS : 1);
}

pwr_status_t pwr_journal_lock_client(int fd)
{
    return lock_patiently(fd, F_SETLK, CLIENT_BYTE, ATTEMPTS);
}

/* The client's lock is given back between attempts: it may be a client that is just starting, or
   another restorer that waits for the same guardian. */
pwr_status_t pwr_journal_lock_both(int fd)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    for (int attempt = 1;; attempt++) {
        pwr_status_t status = lock(fd, F_OFD_SETLK, F_WRLCK, CLIENT_BYTE);
        if (status != PWR_OK) {
            return status;
        }
        status = lock(fd, F_OFD_SETLK, F_WRLCK, GUARDIAN_BYTE);
        if (status == PWR_OK) {
            return status;
        }
        (void)lock(fd, F_OFD_SETLK, F_UNLCK, CLIENT_BYTE);
        if (status != PWR_ERR_SHARED || attempt == ATTEMPTS) {
            return status;
        }
        nanosleep(&pause, NULL);
    }
}
