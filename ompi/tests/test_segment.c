/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Segments in one process: names that are taken, memory that is not there, pages that come bit by
 * bit.
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "pwr_ompi/segment.h"

enum { RANKS = 3, BYTES = 1024 * 1024, POPULATE = 23 /* MADV_POPULATE_WRITE */ };

/* ---- the kernel's part ---- */

static bool is_old;     /* before Linux 5.14 */
static int interrupted; /* so many times, then not any more */
static bool has_no_memory;
static size_t populated;

int madvise(void *from, size_t bytes, int advice)
{
    if (POPULATE == advice && (is_old || interrupted > 0 || (has_no_memory && bytes > 0))) {
        errno = is_old ? EINVAL : interrupted > 0 ? EINTR : ENOMEM;
        interrupted -= interrupted > 0;
        return -1;
    }
    populated += bytes;
    return POPULATE == advice ? 0 : (int)syscall(SYS_madvise, from, bytes, advice);
}

/* ---- a segment and its name ---- */

static char name[64];
static pwr_segment_shape_t shape;
static pwr_segment_t *first; /* creates */
static pwr_segment_t *other; /* attaches */

static int begin(void **state)
{
    (void)state;
    is_old = has_no_memory = false;
    interrupted = 0;
    snprintf(name, sizeof name, "/poweraware.test_segment.%ld", (long)getpid());
    shape = pwr_segment_shape(BYTES, RANKS);
    first = pwr_segment_new(&shape);
    other = pwr_segment_new(&shape);
    assert_non_null(first);
    assert_non_null(other);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pwr_segment_free(first);
    pwr_segment_free(other);
    shm_unlink(name);
    return 0;
}

static bool is_named(void)
{
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static pwr_status_t create(pwr_segment_part_t part)
{
    return pwr_segment_create(first, part, name, PWR_SEGMENT_BOXES == part);
}

/* Both have the boxes, and the slots without memory. */
static void share_slots(void)
{
    assert_int_equal(create(PWR_SEGMENT_BOXES), PWR_OK);
    assert_int_equal(pwr_segment_attach(other, PWR_SEGMENT_BOXES, name), PWR_OK);
    pwr_segment_remove_name(first);
    assert_false(is_named());
    pwr_segment_enter(first, PWR_SEGMENT_BOXES, 2, 0, false);
    pwr_segment_enter(other, PWR_SEGMENT_BOXES, 2, 1, false);
    assert_int_equal(create(PWR_SEGMENT_CHUNKS), PWR_OK);
    assert_int_equal(pwr_segment_attach(other, PWR_SEGMENT_CHUNKS, name), PWR_OK);
}

static void what_one_writes_the_other_reads(void **state)
{
    (void)state;
    share_slots();
    for (size_t i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        memset(first->data[i], (int)i + 1, shape.slot_bytes);
    }
    for (size_t i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        assert_int_equal(other->data[i][0], i + 1);
        assert_int_equal(other->data[i][shape.slot_bytes - 1], i + 1);
    }
    first->control->turn.value = 7;
    assert_int_equal(other->control->turn.value, 7);
    assert_ptr_equal(first->boxes.control, &first->control->boxes);
}

static long minor_faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* First uses of all pages of the boxes that have to wait for the page. */
static long missing_pages(int ranks, bool touched)
{
    pwr_segment_shape_t some = pwr_segment_shape(4 * BYTES, ranks);
    pwr_segment_t *s = pwr_segment_new(&some);
    size_t bytes = pwr_segment_part_bytes(&some, PWR_SEGMENT_BOXES);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_non_null(s);
    assert_int_equal(pwr_segment_create(s, PWR_SEGMENT_BOXES, name, true), PWR_OK);
    pwr_segment_enter(s, PWR_SEGMENT_BOXES, ranks, 1, false);
    if (touched) {
        pwr_segment_touch_boxes(s);
    }
    long before = minor_faults();
    for (size_t at = 0; at < bytes; at += page) {
        ((volatile unsigned char *)s->part[PWR_SEGMENT_BOXES])[at] = 1;
    }
    long faults = minor_faults() - before;
    pwr_segment_free(s);
    return faults;
}

/* Boxes of few ranks: first calls need not wait for pages. */
static void boxes_of_few_ranks_are_touched_at_once(void **state)
{
    enum { FEW = 2, MANY = 64, LEAST_PAGES = 16 };
    (void)state;
    long all = missing_pages(FEW, false);
    if (all < LEAST_PAGES) {
        print_message("pages are large here\n");
        skip();
    }
    assert_true(missing_pages(FEW, true) < all / 4);
    assert_true(missing_pages(MANY, true) >= missing_pages(MANY, false) / 2);
}

/* All of them are in what is mapped, one behind the other, and asked for bytes are about kept. */
static void parts_do_not_overlap(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 300; ranks += 13) {
        pwr_segment_shape_t wide = pwr_segment_shape(BYTES, ranks);
        pwr_segment_t *s = pwr_segment_new(&wide);
        assert_non_null(s);
        assert_int_equal(pwr_segment_create(s, PWR_SEGMENT_BOXES, name, true), PWR_OK);
        pwr_segment_remove_name(s);
        unsigned char *base = s->part[PWR_SEGMENT_BOXES];
        unsigned char *lines = (unsigned char *)s->boxes.lines;
        unsigned char *costs = (unsigned char *)s->copier.costs;
        unsigned char *positions = (unsigned char *)s->positions.lines;
        size_t num = (size_t)ranks;
        assert_true(lines >= base + sizeof *s->control);
        assert_true(costs >= lines + num * sizeof *s->boxes.lines);
        assert_true(positions >= costs + num * sizeof *s->copier.costs);
        assert_true(s->boxes.sets >= positions + num * sizeof *s->positions.lines);
        assert_true(s->boxes.box_stride >= wide.box_bytes);
        assert_true(s->boxes.set_bytes >= num * s->boxes.box_stride);
        assert_true(s->boxes.sets + PWR_BOX_SETS * s->boxes.set_bytes <=
                    base + pwr_segment_part_bytes(&wide, PWR_SEGMENT_BOXES));
        pwr_segment_free(s);
    }
}

static void a_name_that_is_taken_stays_its_owners(void **state)
{
    (void)state;
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    assert_int_equal(create(PWR_SEGMENT_BOXES), pwr_status_from_errno(EEXIST));
    assert_true(is_named());
    assert_null(first->part[PWR_SEGMENT_BOXES]);
    assert_int_equal(pwr_segment_attach(other, PWR_SEGMENT_BOXES, name), PWR_ERR_IO); /* its size */
    close(fd);
    shm_unlink(name);
    assert_int_equal(pwr_segment_attach(other, PWR_SEGMENT_BOXES, name),
                     pwr_status_from_errno(ENOENT));
    assert_null(other->part[PWR_SEGMENT_BOXES]);
}

/* The descriptor of a segment that was never made is nobody's. */
static void a_name_that_was_not_made_closes_nothing(void **state)
{
    (void)state;
    if (fcntl(STDIN_FILENO, F_GETFD) < 0) {
        assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
    }
    pwr_segment_remove_name(first);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

/* Its communicator goes before anybody is attached. */
static void a_name_goes_with_its_segment(void **state)
{
    (void)state;
    pwr_segment_t *s = pwr_segment_new(&shape);
    assert_non_null(s);
    assert_int_equal(pwr_segment_create(s, PWR_SEGMENT_BOXES, name, true), PWR_OK);
    assert_true(is_named());
    pwr_segment_free(s);
    assert_false(is_named());
}

/* By a little: a file with holes would have room for it. */
static void more_than_is_free_is_refused(void **state)
{
    struct statvfs fs;
    (void)state;
    if (0 != statvfs("/dev/shm", &fs) || 0 == fs.f_blocks) {
        print_message("/dev/shm has no limit\n");
        skip();
    }
    first->shape.slot_bytes = (size_t)fs.f_blocks * fs.f_frsize / PWR_SEGMENT_SLOTS + BYTES;
    assert_int_equal(create(PWR_SEGMENT_CHUNKS), PWR_ERR_NOMEM);
    assert_false(is_named());
    assert_null(first->part[PWR_SEGMENT_CHUNKS]);
}

/* ---- pages ---- */

/* Calls that touch some bytes until nothing is left. */
static unsigned touches(pwr_segment_t *s, size_t bytes)
{
    unsigned calls = 0;
    while (s->touched < pwr_segment_part_bytes(&s->shape, PWR_SEGMENT_CHUNKS)) {
        assert_int_equal(pwr_segment_touch_slots(s, bytes), PWR_OK);
        ++calls;
    }
    return calls;
}

static void pages_come_bit_by_bit(void **state)
{
    (void)state;
    share_slots();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t all = pwr_segment_part_bytes(&shape, PWR_SEGMENT_CHUNKS);
    populated = 0;
    interrupted = 3;
    assert_int_equal(pwr_segment_touch_slots(first, 1), PWR_OK); /* a page */
    assert_int_equal(interrupted, 0);
    assert_int_equal(first->touched, page);
    assert_int_equal(populated, page);
    unsigned calls = touches(first, 5 * page - 1);
    assert_int_equal(calls, (all - page + 5 * page - 1) / (5 * page));
    assert_int_equal(populated, all);
    assert_int_equal(pwr_segment_touch_slots(first, page), PWR_OK);
    assert_int_equal(populated, all); /* nothing is left */
    assert_int_equal(touches(other, SIZE_MAX), 1);
    assert_int_equal(populated, 2 * all);
}

static void no_memory_is_no_memory_for_ever(void **state)
{
    (void)state;
    share_slots();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    has_no_memory = true;
    assert_int_equal(pwr_segment_touch_slots(first, page), PWR_ERR_NOMEM);
    has_no_memory = false;
    populated = 0;
    assert_int_equal(pwr_segment_touch_slots(first, SIZE_MAX), PWR_ERR_NOMEM);
    assert_int_equal(populated, 0);
    size_t all = pwr_segment_part_bytes(&shape, PWR_SEGMENT_CHUNKS);
    assert_int_equal(first->touched, all); /* as on all others */
}

static void use(pwr_segment_t *s, size_t slot_bytes)
{
    size_t wanted = pwr_segment_bytes_of_slots(s, slot_bytes);
    assert_int_equal(pwr_segment_touch_slots(s, wanted - s->touched), PWR_OK);
    s->expect[1].next = s->expect[1].in_use = 1;
    pwr_segment_use_touched(s);
    assert_int_equal(s->expect[1].next, 0);
    assert_int_equal(s->expect[1].in_use, 0);
}

static void both_use(size_t slot_bytes)
{
    use(first, slot_bytes);
    use(other, slot_bytes);
    assert_int_equal(first->slot_bytes, other->slot_bytes);
    assert_true(first->slot_bytes >= slot_bytes);
    for (size_t i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        memset(first->data[i], (int)i + 1, first->slot_bytes);
    }
    for (size_t i = 0; i < PWR_SEGMENT_SLOTS; ++i) {
        assert_int_equal(other->data[i][0], i + 1);
        assert_int_equal(other->data[i][first->slot_bytes - 1], i + 1);
    }
}

static void slots_are_short_at_first(void **state)
{
    (void)state;
    share_slots();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t all = pwr_segment_part_bytes(&shape, PWR_SEGMENT_CHUNKS);
    assert_int_equal(first->slot_bytes, shape.slot_bytes); /* until somebody uses them */
    assert_int_equal(pwr_segment_bytes_of_slots(first, 1), PWR_SEGMENT_SLOTS * PWR_CACHE_LINE);
    assert_int_equal(pwr_segment_bytes_of_slots(first, shape.slot_bytes), all);
    populated = 0;
    both_use(page);
    assert_int_equal(populated, 2 * PWR_SEGMENT_SLOTS * page);
    pwr_segment_touch_used(first);
    assert_int_equal(populated, 2 * PWR_SEGMENT_SLOTS * page); /* it was */
    both_use(page + 1);
    both_use(shape.slot_bytes);
    assert_int_equal(first->slot_bytes, shape.slot_bytes);
    assert_int_equal(populated, 2 * all);
}

/* All memory is there from the beginning then, for both. */
static void an_old_kernel_touches_by_hand(void **state)
{
    struct stat status;
    (void)state;
    is_old = true;
    share_slots();
    int fd = shm_open(name, O_RDONLY, 0);
    assert_int_equal(fstat(fd, &status), 0);
    close(fd);
    assert_true(status.st_blocks * 512 >= status.st_size);
    assert_true(first->slots_backed);
    assert_true(other->slots_backed);
    first->data[1][3] = 9;
    pwr_segment_touch_used(first);
    assert_int_equal(first->touched, pwr_segment_part_bytes(&shape, PWR_SEGMENT_CHUNKS));
    assert_int_equal(touches(other, SIZE_MAX), 1);
    assert_int_equal(other->data[1][3], 9);
}

/* ---- the end ---- */

static void what_is_unmapped_is_not_unmapped_again(void **state)
{
    (void)state;
    share_slots();
    void *was = first->part[PWR_SEGMENT_CHUNKS];
    size_t bytes = pwr_segment_part_bytes(&shape, PWR_SEGMENT_CHUNKS);
    pwr_segment_unmap(first, PWR_SEGMENT_CHUNKS);
    unsigned char *others = mmap(was, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(others, was); /* it was free */
    pwr_segment_unmap(first, PWR_SEGMENT_CHUNKS);
    pwr_segment_free(first);
    first = NULL;
    assert_int_equal(msync(others, bytes, MS_ASYNC), 0);
    munmap(others, bytes);
}

#define SEGMENT_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEGMENT_TEST(what_one_writes_the_other_reads),
        SEGMENT_TEST(boxes_of_few_ranks_are_touched_at_once),
        SEGMENT_TEST(parts_do_not_overlap),
        SEGMENT_TEST(a_name_that_is_taken_stays_its_owners),
        SEGMENT_TEST(a_name_that_was_not_made_closes_nothing),
        SEGMENT_TEST(a_name_goes_with_its_segment),
        SEGMENT_TEST(more_than_is_free_is_refused),
        SEGMENT_TEST(pages_come_bit_by_bit),
        SEGMENT_TEST(no_memory_is_no_memory_for_ever),
        SEGMENT_TEST(slots_are_short_at_first),
        SEGMENT_TEST(an_old_kernel_touches_by_hand),
        SEGMENT_TEST(what_is_unmapped_is_not_unmapped_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
