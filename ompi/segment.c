/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * POSIX shared memory for one node and communicator.
 */
#include "pwr_ompi/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t control_bytes(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (sizeof(pwr_segment_control_t) + page - 1) / page * page;
}

static size_t total_bytes(size_t slot_bytes)
{
    return control_bytes() + PWR_SEGMENT_SLOTS * slot_bytes;
}

static pwr_status_t map(int fd, size_t slot_bytes, pwr_segment_t **segment)
{
    pwr_segment_t *s = calloc(1, sizeof *s);
    if (NULL == s) {
        return PWR_ERR_NOMEM;
    }
    s->map_bytes = total_bytes(slot_bytes);
    s->slot_bytes = slot_bytes;
    void *base = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == base) {
        pwr_status_t status = pwr_status_from_errno(errno);
        free(s);
        return status;
    }
    s->control = base;
    for (int i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        s->data[i] = (unsigned char *)base + control_bytes() + (size_t)i * slot_bytes;
    }
    *segment = s;
    return PWR_OK;
}

pwr_status_t pwr_segment_create(const char *name, size_t slot_bytes, pwr_segment_t **segment)
{
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return pwr_status_from_errno(errno);
    }
    int err = posix_fallocate(fd, 0, (off_t)total_bytes(slot_bytes));
    pwr_status_t status = 0 == err        ? map(fd, slot_bytes, segment)
                          : ENOSPC == err ? PWR_ERR_NOMEM
                                          : pwr_status_from_errno(err);
    close(fd);
    if (PWR_OK != status) {
        shm_unlink(name);
    }
    return status;
}

pwr_status_t pwr_segment_attach(const char *name, size_t slot_bytes, pwr_segment_t **segment)
{
    int fd = shm_open(name, O_RDWR, 0);
    if (fd < 0) {
        return pwr_status_from_errno(errno);
    }
    struct stat st;
    pwr_status_t status = PWR_ERR_IO;
    /* Another /dev/shm than the leader's (a container) may have anybody's file of that name. */
    if (0 == fstat(fd, &st) && geteuid() == st.st_uid &&
        (size_t)st.st_size == total_bytes(slot_bytes)) {
        status = map(fd, slot_bytes, segment);
    }
    close(fd);
    return status;
}

void pwr_segment_unlink(const char *name)
{
    shm_unlink(name);
}

void pwr_segment_detach(pwr_segment_t *segment)
{
    if (NULL != segment) {
        munmap(segment->control, segment->map_bytes);
        free(segment);
    }
}
