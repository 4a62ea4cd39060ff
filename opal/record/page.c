/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Pages: made, mapped, removed (record/page.h).
 */
#include "config.h"

#include "record/page.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/file.h"

static const char prefix[] = "calls.";

/* "calls.<job>.", with what a file name cannot or should not have replaced. */
static void name_of_job(const char *job, char name[PWR_PAGE_NAME])
{
    enum { ROOM_FOR_PROCESS = 16 };
    int length =
        snprintf(name, PWR_PAGE_NAME - ROOM_FOR_PROCESS, "%s%s", prefix, job[0] ? job : "job");
    length =
        length < PWR_PAGE_NAME - ROOM_FOR_PROCESS ? length : PWR_PAGE_NAME - ROOM_FOR_PROCESS - 1;
    for (char *c = name + sizeof prefix - 1; *c != '\0'; c++) {
        *c = isalnum((unsigned char)*c) || strchr("@-_", *c) ? *c : '_';
    }
    strcpy(name + length, ".");
}

bool pwr_page_is_name(const char *name, const char *job)
{
    char wanted[PWR_PAGE_NAME];
    if (!job) {
        return strncmp(name, prefix, sizeof prefix - 1) == 0;
    }
    name_of_job(job, wanted);
    return strncmp(name, wanted, strlen(wanted)) == 0;
}

static pwr_page_t *map(int fd, bool writes)
{
    int access = writes ? PROT_READ | PROT_WRITE : PROT_READ;
    void *memory = mmap(NULL, sizeof(pwr_page_t), access, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The lock is held while the file is removed, so that its name cannot come to mean another's. */
static void remove_if_dead(const pwr_rundir_t *rundir, const char *name)
{
    char why[512];
    int fd;
    if (pwr_rundir_open_file(rundir, name, O_RDWR, why, sizeof why, &fd) != PWR_OK) {
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        (void)pwr_rundir_remove(rundir, name, fd);
    }
    close(fd);
}

/* A page of this name that a dead process has left is removed; that of a living one, of another job
   that has the same name, is not touched.  Whoever sweeps between the opening and the lock has
   removed ours: once more then. */
static pwr_status_t create_and_lock(const pwr_rundir_t *rundir, char *why, unsigned why_size,
                                    pwr_mapped_page_t *mapped)
{
    enum { ATTEMPTS = 20 };
    pwr_status_t status = PWR_ERR_SHARED;
    for (int i = 0; i < ATTEMPTS && status == PWR_ERR_SHARED; i++) {
        remove_if_dead(rundir, mapped->name);
        status = pwr_rundir_open_file(rundir, mapped->name, O_RDWR | O_CREAT | O_EXCL, why,
                                      why_size, &mapped->fd);
        if (status != PWR_OK) {
            continue;
        }
        if (flock(mapped->fd, LOCK_SH | LOCK_NB) == 0 &&
            pwr_rundir_has(rundir, mapped->name, mapped->fd)) {
            return PWR_OK;
        }
        close(mapped->fd);
        status = PWR_ERR_SHARED;
    }
    return status;
}

static pwr_status_t fill(pwr_mapped_page_t *mapped, unsigned process)
{
    int err = pwr_file_allocate(mapped->fd, sizeof(pwr_page_t));
    if (err != 0) {
        errno = err;
        return PWR_ERR_NOMEM;
    }
    mapped->page = map(mapped->fd, true);
    if (!mapped->page) {
        return PWR_ERR_NOMEM;
    }
    pwr_page_t *page = mapped->page;
    page->bytes = sizeof *page;
    page->process = process;
    page->pid = (int32_t)getpid();
    page->magic = PWR_PAGE_MAGIC;
    return PWR_OK;
}

pwr_status_t pwr_page_create(const pwr_rundir_t *rundir, const char *job, unsigned process,
                             char *why, unsigned why_size, pwr_mapped_page_t *mapped)
{
    *mapped = (pwr_mapped_page_t){.fd = -1};
    name_of_job(job, mapped->name);
    size_t length = strlen(mapped->name);
    snprintf(mapped->name + length, sizeof mapped->name - length, "%u", process);
    pwr_status_t status = create_and_lock(rundir, why, why_size, mapped);
    if (status != PWR_OK) {
        return status;
    }
    status = fill(mapped, process);
    if (status != PWR_OK) {
        snprintf(why, why_size, "%s/%s: %s", pwr_rundir_name(rundir), mapped->name,
                 strerror(errno));
        pwr_page_remove(rundir, mapped);
        close(mapped->fd);
    }
    return status;
}

pwr_status_t pwr_page_open(const pwr_rundir_t *rundir, const char *name, bool writes,
                           pwr_mapped_page_t *mapped)
{
    char why[512];
    struct stat info;
    *mapped = (pwr_mapped_page_t){.fd = -1};
    if (strlen(name) >= sizeof mapped->name) {
        return PWR_ERR_PARSE;
    }
    strcpy(mapped->name, name);
    pwr_status_t status = pwr_rundir_open_file(rundir, name, writes ? O_RDWR : O_RDONLY, why,
                                               sizeof why, &mapped->fd);
    if (status != PWR_OK) {
        return status;
    }
    if (fstat(mapped->fd, &info) == 0 && info.st_size == (off_t)sizeof(pwr_page_t)) {
        const pwr_page_t *page = mapped->page = map(mapped->fd, writes);
        if (page && page->magic == PWR_PAGE_MAGIC && page->bytes == sizeof *page) {
            return PWR_OK;
        }
    }
    pwr_page_close(mapped);
    return PWR_ERR_PARSE;
}

void pwr_page_close(pwr_mapped_page_t *mapped)
{
    if (mapped->page) {
        munmap(mapped->page, sizeof *mapped->page);
    }
    close(mapped->fd);
}

void pwr_page_remove(const pwr_rundir_t *rundir, const pwr_mapped_page_t *mapped)
{
    (void)pwr_rundir_remove(rundir, mapped->name, mapped->fd);
}

bool pwr_page_is_alive(const pwr_mapped_page_t *mapped)
{
    if (flock(mapped->fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK;
    }
    flock(mapped->fd, LOCK_UN);
    return false;
}

void pwr_page_sweep(const pwr_rundir_t *rundir, const char *job)
{
    DIR *directory = opendir(pwr_rundir_name(rundir));
    if (!directory) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (pwr_page_is_name(entry->d_name, job)) {
            remove_if_dead(rundir, entry->d_name);
        }
    }
    closedir(directory);
}
