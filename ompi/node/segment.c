/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * POSIX shared memory for one node and communicator.
 */
#include "pwr_ompi/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pwr/file.h"
#include "pwr/shm.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, BLOCK = 512 /* of st_blocks */ };

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t set_bytes(const pwr_segment_shape_t *shape)
{
    return (size_t)shape->num_ranks * pwr_box_stride(shape->box_bytes);
}

/* Where the parts of the first mapping begin, and where it ends. */
typedef struct layout {
    size_t lines, costs, positions, sets, end;
} layout_t;

static layout_t layout_of(const pwr_segment_shape_t *shape)
{
    size_t ranks = (size_t)shape->num_ranks;
    layout_t at = {.lines = round_up(sizeof(pwr_segment_control_t), PAGE)};
    at.costs = at.lines + ranks * sizeof(pwr_rank_lines_t);
    at.positions =
        round_up(at.costs + ranks * sizeof(pwr_copy_costs_t), _Alignof(pwr_position_line_t));
    at.sets = round_up(at.positions + ranks * sizeof(pwr_position_line_t), PAGE);
    at.end = at.sets + round_up(PWR_BOX_SETS * set_bytes(shape), PAGE);
    return at;
}

pwr_segment_shape_t pwr_segment_shape(size_t bytes, int num_ranks)
{
    pwr_segment_shape_t shape = {.num_ranks = num_ranks};
    size_t share = bytes / 4 / PWR_BOX_SETS / (size_t)num_ranks;
    size_t least = pwr_box_stride(PWR_CACHE_LINE);
    shape.box_bytes = share < least
                          ? PWR_CACHE_LINE
                          : PWR_CACHE_LINE + (share - least) / PWR_CACHE_LINE * PWR_CACHE_LINE;
    shape.box_bytes = shape.box_bytes > PWR_BOX_LARGEST ? PWR_BOX_LARGEST : shape.box_bytes;
    size_t taken = layout_of(&shape).end;
    size_t left = bytes > taken ? bytes - taken : 0;
    shape.slot_bytes = left / PWR_SEGMENT_SLOTS / PWR_CACHE_LINE * PWR_CACHE_LINE;
    shape.slot_bytes = shape.slot_bytes < PAGE ? PAGE : shape.slot_bytes;
    return shape;
}

size_t pwr_segment_part_bytes(const pwr_segment_shape_t *shape, pwr_segment_part_t part)
{
    return PWR_SEGMENT_BOXES == part ? layout_of(shape).end : PWR_SEGMENT_SLOTS * shape->slot_bytes;
}

pwr_segment_t *pwr_segment_new(const pwr_segment_shape_t *shape)
{
    pwr_segment_t *s = calloc(1, sizeof *s);
    if (NULL == s) {
        return NULL;
    }
    s->shape = *shape;
    s->name_fd = -1;
    s->box_bytes = shape->box_bytes;
    s->slot_bytes = shape->slot_bytes;
    s->boxes.set_bytes = set_bytes(shape); /* known before anything is mapped */
    return s;
}

static void point_into_boxes(pwr_segment_t *s, unsigned char *base)
{
    const layout_t at = layout_of(&s->shape);
    s->control = (pwr_segment_control_t *)(void *)base;
    s->boxes = (pwr_boxes_t){
        .control = &s->control->boxes,
        .lines = (pwr_rank_lines_t *)(void *)(base + at.lines),
        .sets = base + at.sets,
        .set_bytes = set_bytes(&s->shape),
        .box_stride = pwr_box_stride(s->shape.box_bytes),
    };
    s->copier.costs = (pwr_copy_costs_t *)(void *)(base + at.costs);
    s->positions.lines = (pwr_position_line_t *)(void *)(base + at.positions);
}

static void point_into_chunks(pwr_segment_t *s, unsigned char *base)
{
    for (size_t i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        s->data[i] = base + i * s->slot_bytes;
    }
}

static pwr_status_t map(int fd, pwr_segment_t *s, pwr_segment_part_t part)
{
    size_t bytes = pwr_segment_part_bytes(&s->shape, part);
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (MAP_FAILED == base) {
        return pwr_status_from_errno(errno);
    }
    s->part[part] = base;
    if (PWR_SEGMENT_BOXES == part) {
        point_into_boxes(s, base);
    } else {
        point_into_chunks(s, base);
    }
    return PWR_OK;
}

void pwr_segment_enter(pwr_segment_t *s, pwr_segment_part_t part, int num_local, int my_local,
                       bool crowded)
{
    if (PWR_SEGMENT_BOXES == part) {
        pwr_boxes_enter(&s->boxes, num_local, my_local, crowded);
        pwr_copier_enter(&s->copier, s->copier.costs, num_local, my_local);
        pwr_position_enter(&s->positions, s->positions.lines, num_local, my_local);
    }
}

/* Free space is asked for first: filling memory until it is full, only to give it back, could end
   other processes.  A tmpfs without a limit has no size. */
static int make_room(int fd, size_t bytes, bool backed)
{
    struct statvfs fs;
    if (0 == fstatvfs(fd, &fs) && 0 != fs.f_blocks && bytes / fs.f_frsize >= fs.f_bavail) {
        return ENOSPC;
    }
    return backed ? pwr_file_allocate(fd, bytes) : pwr_file_extend(fd, bytes);
}

/* Since Linux 5.14: brings pages, and says so if it cannot. */
static bool populates(void)
{
    return 0 == madvise(NULL, 0, MADV_POPULATE_WRITE);
}

/* What killed jobs have left of others goes with the first segment of a process. */
static pwr_status_t create(const char *name, int *fd)
{
    static atomic_flag swept = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&swept)) {
        pwr_shm_sweep(&pwr_env_real);
    }
    return pwr_shm_create(name, fd);
}

pwr_status_t pwr_segment_create(pwr_segment_t *segment, pwr_segment_part_t part, const char *name,
                                bool backed)
{
    int fd;
    pwr_status_t status = create(name, &fd);
    if (PWR_OK != status) {
        return status;
    }
    backed = backed || !populates();
    int err = make_room(fd, pwr_segment_part_bytes(&segment->shape, part), backed);
    bool full = ENOSPC == err || EFBIG == err;
    status = 0 == err ? map(fd, segment, part) : full ? PWR_ERR_NOMEM : pwr_status_from_errno(err);
    segment->slots_backed = backed && PWR_SEGMENT_CHUNKS == part;
    segment->name_fd = fd;
    snprintf(segment->name, sizeof segment->name, "%s", name);
    if (PWR_OK != status) {
        pwr_segment_remove_name(segment);
    }
    return status;
}

void pwr_segment_remove_name(pwr_segment_t *segment)
{
    if (segment->name_fd >= 0) {
        pwr_shm_remove(segment->name, segment->name_fd);
        segment->name_fd = -1;
    }
}

pwr_status_t pwr_segment_attach(pwr_segment_t *segment, pwr_segment_part_t part, const char *name)
{
    int fd = shm_open(name, O_RDWR, 0);
    if (fd < 0) {
        return pwr_status_from_errno(errno);
    }
    struct stat st;
    pwr_status_t status = PWR_ERR_IO;
    /* Another /dev/shm than the leader's (a container) may have anybody's file of that name. */
    if (0 == fstat(fd, &st) && geteuid() == st.st_uid &&
        (size_t)st.st_size == pwr_segment_part_bytes(&segment->shape, part)) {
        status = map(fd, segment, part);
        segment->slots_backed =
            PWR_SEGMENT_CHUNKS == part && (size_t)st.st_blocks >= (size_t)st.st_size / BLOCK;
    }
    close(fd);
    return status;
}

/* What is backed cannot be missing.  Others may be at work. */
static void touch_by_hand(unsigned char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PAGE) {
        __atomic_fetch_or(&from[at], 0, __ATOMIC_RELAXED);
    }
}

/* An older kernel may have each page of what is backed touched by hand. */
static pwr_status_t touch(unsigned char *from, size_t bytes, bool backed)
{
    int rc;
    do {
        rc = madvise(from, bytes, MADV_POPULATE_WRITE);
    } while (0 != rc && EINTR == errno);
    if (0 == rc || !backed) {
        return 0 == rc ? PWR_OK : PWR_ERR_NOMEM;
    }
    touch_by_hand(from, bytes);
    return PWR_OK;
}

static size_t all_slots(const pwr_segment_t *s)
{
    return pwr_segment_part_bytes(&s->shape, PWR_SEGMENT_CHUNKS);
}

/* Each rank begins with a share of its own: who brings a page pays for it, and two who bring the
   same one both do. */
static size_t my_share(const pwr_segment_t *s, size_t bytes, size_t page)
{
    return bytes / (size_t)s->copier.num_local * (size_t)s->copier.my_local / page * page;
}

static pwr_status_t touch_all(const pwr_segment_t *s, unsigned char *from, size_t bytes,
                              size_t page)
{
    size_t share = my_share(s, bytes, page);
    pwr_status_t status = touch(from + share, bytes - share, s->slots_backed);
    return PWR_OK == status && share > 0 ? touch(from, share, s->slots_backed) : status;
}

pwr_status_t pwr_segment_touch_slots(pwr_segment_t *s, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t left = all_slots(s) - s->touched;
    size_t some = bytes < left ? round_up(bytes, page) : left;
    some = some < left ? some : left;
    unsigned char *slots = s->part[PWR_SEGMENT_CHUNKS];
    if (PWR_OK == s->touch && NULL != slots && some > 0) {
        s->touch = touch_all(s, slots + s->touched, some, page);
    }
    s->touched += some;
    return s->touch;
}

void pwr_segment_touch_used(pwr_segment_t *s)
{
    size_t used = PWR_SEGMENT_SLOTS * s->slot_bytes;
    if (s->touched < used) {
        pwr_segment_touch_slots(s, used - s->touched);
    }
}

void pwr_segment_touch_boxes(pwr_segment_t *s)
{
    enum { MOST = 256 * 1024 };
    unsigned char *boxes = s->part[PWR_SEGMENT_BOXES];
    size_t bytes = pwr_segment_part_bytes(&s->shape, PWR_SEGMENT_BOXES);
    if (bytes <= MOST) {
        size_t share = my_share(s, bytes, PAGE);
        touch_by_hand(boxes + share, bytes - share);
        touch_by_hand(boxes, share);
    }
}

size_t pwr_segment_bytes_of_slots(const pwr_segment_t *s, size_t slot_bytes)
{
    size_t bytes = PWR_SEGMENT_SLOTS * round_up(slot_bytes, PWR_CACHE_LINE);
    return slot_bytes < s->shape.slot_bytes ? bytes : all_slots(s);
}

void pwr_segment_use_touched(pwr_segment_t *s)
{
    s->slot_bytes = s->touched / PWR_SEGMENT_SLOTS / PWR_CACHE_LINE * PWR_CACHE_LINE;
    point_into_chunks(s, s->part[PWR_SEGMENT_CHUNKS]);
    for (int i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        s->expect[i].next = s->expect[i].in_use = 0;
    }
}

void pwr_segment_unmap(pwr_segment_t *segment, pwr_segment_part_t part)
{
    if (NULL != segment->part[part]) {
        munmap(segment->part[part], pwr_segment_part_bytes(&segment->shape, part));
        segment->part[part] = NULL;
    }
}

void pwr_segment_free(pwr_segment_t *segment)
{
    if (NULL == segment) {
        return;
    }
    for (int part = 0; part < PWR_SEGMENT_PARTS; ++part) {
        pwr_segment_unmap(segment, (pwr_segment_part_t)part);
    }
    pwr_segment_remove_name(segment);
    free(segment);
}
