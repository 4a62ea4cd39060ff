/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bells: pages and pipes, and the way to those of others.
 */
#define _GNU_SOURCE /* memfd_create, pipe2 */
#include "pwr_ompi/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/file.h"

/* What /proc says of the file descriptors of a bell. */
#define PAGE_NAME "poweraware.bell"
#define PAGE_LINK "/memfd:" PAGE_NAME " (deleted)"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static pwr_bell_page_t *map(int fd)
{
    void *page = mmap(NULL, sizeof(pwr_bell_page_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return MAP_FAILED == page ? NULL : page;
}

/* ---- one's own ---- */

/* Sealed, so that nobody who maps it can be hit by SIGBUS. */
static int open_page(pwr_bell_t *bell)
{
    int fd = bell->address.page = memfd_create(PAGE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error = fd < 0 ? errno : pwr_file_allocate(fd, sizeof *bell->page);
    if (0 != error) {
        return error;
    }
    if (0 != fcntl(fd, F_ADD_SEALS, SEALS)) {
        return errno;
    }
    bell->page = map(fd);
    return NULL == bell->page ? errno : 0;
}

/* Both ends stay open: a pipe without writers is readable for ever. */
static int open_pipe(pwr_bell_t *bell)
{
    struct stat status;
    if (0 != pipe2(bell->pipe, O_CLOEXEC | O_NONBLOCK) || 0 != fstat(bell->pipe[0], &status)) {
        return errno;
    }
    bell->address.pipe_inode = (uint64_t)status.st_ino;
    return 0;
}

static int draw_word(pwr_bell_t *bell)
{
    uint64_t word;
    if ((ssize_t)sizeof word != getrandom(&word, sizeof word, 0)) {
        return EIO;
    }
    bell->address.word = word;
    bell->page->word = word;
    return 0;
}

int pwr_bell_open(pwr_bell_t *bell, uint32_t number)
{
    int error = ERANGE;
    *bell = (pwr_bell_t){
        .pipe = {-1, -1},
        .address = {.version = PWR_BELL_VERSION, .page = -1, .number = number},
    };
    if (number < PWR_BELL_MAX_RINGERS) {
        error = open_page(bell);
        error = 0 == error ? open_pipe(bell) : error;
        error = 0 == error ? draw_word(bell) : error;
    }
    bell->address.pid = (int32_t)getpid();
    bell->address.pipe = (int32_t)bell->pipe[0];
    if (0 != error) {
        pwr_bell_close(bell);
    }
    return error;
}

void pwr_bell_close(pwr_bell_t *bell)
{
    const int fds[] = {bell->address.page, bell->pipe[0], bell->pipe[1]};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; ++i) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    if (NULL != bell->page) {
        munmap(bell->page, sizeof *bell->page);
    }
    bell->page = NULL;
    bell->address.page = bell->pipe[0] = bell->pipe[1] = -1;
}

void pwr_bell_hush(const pwr_bell_t *bell)
{
    char bytes[64];
    while (read(bell->pipe[0], bytes, sizeof bytes) > 0) {
    }
}

/* ---- another's ---- */

/* Opens what another process has open as fd, but only if it is what is expected: opening the wrong
   thing may do harm.  A pipe for both directions, so that nobody is killed by SIGPIPE for ringing
   at a process that has ended. */
static int open_others(int32_t pid, int32_t fd, const char *expected, int *ours)
{
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", (long)pid, (long)fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
        return errno;
    }
    target[length] = '\0';
    if (0 != strcmp(expected, target)) {
        return EXDEV;
    }
    *ours = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    return *ours < 0 ? errno : 0;
}

static int open_others_page(pwr_ringer_t *ringer, const pwr_bell_address_t *address)
{
    struct stat status;
    int fd;
    int error = open_others(address->pid, address->page, PAGE_LINK, &fd);
    if (0 != error) {
        return error;
    }
    if (0 == fstat(fd, &status) && geteuid() == status.st_uid &&
        (off_t)sizeof *ringer->page == status.st_size && SEALS == fcntl(fd, F_GET_SEALS)) {
        ringer->page = map(fd);
    }
    close(fd);
    return NULL != ringer->page && address->word == ringer->page->word ? 0 : EXDEV;
}

static int open_others_pipe(pwr_ringer_t *ringer, const pwr_bell_address_t *address)
{
    char expected[64];
    snprintf(expected, sizeof expected, "pipe:[%llu]", (unsigned long long)address->pipe_inode);
    return open_others(address->pid, address->pipe, expected, &ringer->pipe);
}

int pwr_ringer_open(pwr_ringer_t *ringer, const pwr_bell_address_t *address, uint32_t number)
{
    *ringer = (pwr_ringer_t){.pipe = -1, .number = number};
    if (PWR_BELL_VERSION != address->version || number >= PWR_BELL_MAX_RINGERS) {
        return EXDEV;
    }
    pwr_ringer_t opened = *ringer;
    int error = open_others_page(&opened, address);
    error = 0 == error ? open_others_pipe(&opened, address) : error;
    if (0 != error) {
        if (NULL != opened.page) {
            munmap(opened.page, sizeof *opened.page);
        }
        return error;
    }
    *ringer = opened;
    /* Pairs with pwr_bell_is_rung_by. */
    atomic_store_explicit(&ringer->page->ringers[number], 1, memory_order_release);
    return 0;
}

void pwr_ringer_close(pwr_ringer_t *ringer)
{
    if (NULL != ringer->page) {
        atomic_store_explicit(&ringer->page->ringers[ringer->number], 0, memory_order_release);
        munmap(ringer->page, sizeof *ringer->page);
        close(ringer->pipe);
    }
    *ringer = (pwr_ringer_t){.pipe = -1};
}

/* A full pipe is readable already. */
bool pwr_ringer_wake(const pwr_ringer_t *ringer)
{
    if (0 == atomic_exchange_explicit(&ringer->page->asleep, 0, memory_order_seq_cst)) {
        return false;
    }
    ssize_t written = write(ringer->pipe, "", 1);
    (void)written;
    return true;
}
