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
#include <sys/statvfs.h>
#include <unistd.h>

/* A box much larger than this is no faster than a slot. */
enum { LARGEST_BOX = 8192, PAGE = 4096 };

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t box_area(const pwr_segment_shape_t *shape)
{
    return round_up((size_t)shape->num_ranks * 2 * shape->box_bytes, PAGE);
}

static size_t lines_offset(void)
{
    return round_up(sizeof(pwr_segment_control_t), PAGE);
}

static size_t boxes_offset(const pwr_segment_shape_t *shape)
{
    return lines_offset() + round_up((size_t)shape->num_ranks * sizeof(pwr_rank_lines_t), PAGE);
}

static size_t slots_offset(const pwr_segment_shape_t *shape)
{
    return boxes_offset(shape) + box_area(shape);
}

static size_t total_bytes(const pwr_segment_shape_t *shape)
{
    return slots_offset(shape) + PWR_SEGMENT_SLOTS * shape->slot_bytes;
}

pwr_segment_shape_t pwr_segment_shape(size_t bytes, int num_ranks)
{
    pwr_segment_shape_t shape = {.num_ranks = num_ranks};
    size_t share = bytes / 4 / 2 / (size_t)num_ranks / PWR_CACHE_LINE * PWR_CACHE_LINE;
    shape.box_bytes = share < PWR_CACHE_LINE ? PWR_CACHE_LINE
                      : share > LARGEST_BOX  ? LARGEST_BOX
                                             : share;
    size_t taken = slots_offset(&shape);
    size_t left = bytes > taken ? bytes - taken : 0;
    shape.slot_bytes = round_up(left / PWR_SEGMENT_SLOTS, PAGE);
    shape.slot_bytes = shape.slot_bytes < PAGE ? PAGE : shape.slot_bytes;
    return shape;
}

static pwr_segment_t *describe(const pwr_segment_shape_t *shape)
{
    pwr_segment_t *s = calloc(1, sizeof *s);
    uint32_t *seen = calloc((size_t)shape->num_ranks, sizeof *seen);
    if (NULL == s || NULL == seen) {
        free(s);
        free(seen);
        return NULL;
    }
    s->seen = seen;
    s->map_bytes = total_bytes(shape);
    s->box_bytes = shape->box_bytes;
    s->slot_bytes = shape->slot_bytes;
    return s;
}

static pwr_status_t map(int fd, const pwr_segment_shape_t *shape, pwr_segment_t **segment)
{
    pwr_segment_t *s = describe(shape);
    if (NULL == s) {
        return PWR_ERR_NOMEM;
    }
    unsigned char *base = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == (void *)base) {
        pwr_status_t status = pwr_status_from_errno(errno);
        free(s->seen);
        free(s);
        return status;
    }
    s->control = (pwr_segment_control_t *)(void *)base;
    s->lines = (pwr_rank_lines_t *)(void *)(base + lines_offset());
    s->boxes = base + boxes_offset(shape);
    for (size_t i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        s->data[i] = base + slots_offset(shape) + i * shape->slot_bytes;
    }
    *segment = s;
    return PWR_OK;
}

/* Asked first: filling memory until it is full, only to give it back, could end other processes. */
static int allocate(int fd, size_t bytes)
{
    struct statvfs fs;
    if (0 == fstatvfs(fd, &fs) && bytes / fs.f_frsize >= fs.f_bavail) {
        return ENOSPC;
    }
    return posix_fallocate(fd, 0, (off_t)bytes);
}

pwr_status_t pwr_segment_create(const char *name, const pwr_segment_shape_t *shape,
                                pwr_segment_t **segment)
{
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return pwr_status_from_errno(errno);
    }
    int err = allocate(fd, total_bytes(shape));
    pwr_status_t status = 0 == err        ? map(fd, shape, segment)
                          : ENOSPC == err ? PWR_ERR_NOMEM
                                          : pwr_status_from_errno(err);
    close(fd);
    if (PWR_OK != status) {
        shm_unlink(name);
    }
    return status;
}

pwr_status_t pwr_segment_attach(const char *name, const pwr_segment_shape_t *shape,
                                pwr_segment_t **segment)
{
    int fd = shm_open(name, O_RDWR, 0);
    if (fd < 0) {
        return pwr_status_from_errno(errno);
    }
    struct stat st;
    pwr_status_t status = PWR_ERR_IO;
    /* Another /dev/shm than the leader's (a container) may have anybody's file of that name. */
    if (0 == fstat(fd, &st) && geteuid() == st.st_uid && (size_t)st.st_size == total_bytes(shape)) {
        status = map(fd, shape, segment);
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
        free(segment->seen);
        free(segment);
    }
}
