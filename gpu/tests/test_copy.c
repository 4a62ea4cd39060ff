/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies of blocks between the buffers of as many ranks as one kernel takes, or more blocks than it
 * takes, with fake_cuda: every pattern, lengths and addresses of every width, in place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"
#include "pwr_gpu/copy.h"

enum { RANKS = 11, BYTES = 4096, MOST_BLOCK = BYTES / RANKS - 16, ROOT = 3 };

typedef struct rank {
    pwr_gpu_address_t in, out;
    unsigned char input[BYTES], expected[BYTES];
} rank_t;
static rank_t ranks[RANKS];

static void *pointer(pwr_gpu_address_t memory)
{
    return (void *)(uintptr_t)memory;
}

static void fill_all(void)
{
    for (int r = 0; r < RANKS; ++r) {
        for (int i = 0; i < BYTES; ++i) {
            ranks[r].input[i] = (unsigned char)rand();
        }
        memset(ranks[r].expected, 0x5A, BYTES);
        MUST(to_device(ranks[r].in, ranks[r].input, BYTES));
        MUST(to_device(ranks[r].out, ranks[r].expected, BYTES));
    }
}

/* What MPI says of it; blocks begin at offset. */
static void expect(pwr_gpu_pattern_t pattern, size_t offset, size_t bytes, bool to_all)
{
    for (int o = 0; o < RANKS; ++o) {
        for (int i = 0; i < RANKS; ++i) {
            bool rooted_in = PWR_GPU_BCAST == pattern || PWR_GPU_SCATTER == pattern;
            if ((rooted_in && ROOT != i) || (PWR_GPU_BCAST == pattern && ROOT == o) ||
                (PWR_GPU_GATHER == pattern && !to_all && ROOT != o)) {
                continue;
            }
            size_t from =
                PWR_GPU_SCATTER == pattern || PWR_GPU_ALLTOALL == pattern ? (size_t)o * bytes : 0;
            size_t to =
                PWR_GPU_GATHER == pattern || PWR_GPU_ALLTOALL == pattern ? (size_t)i * bytes : 0;
            memcpy(ranks[o].expected + offset + to, ranks[i].input + offset + from, bytes);
        }
    }
}

/* each: as with several GPUs, where each rank's call does its part. */
static void check_one(pwr_gpu_pattern_t pattern, size_t offset, size_t bytes, bool to_all,
                      bool each)
{
    static pwr_gpu_offer_t offers[RANKS];
    const pwr_gpu_offer_t *all[RANKS];
    fill_all();
    expect(pattern, offset, bytes, to_all);
    for (int r = 0; r < RANKS; ++r) {
        bool rooted_in = PWR_GPU_BCAST == pattern || PWR_GPU_SCATTER == pattern;
        bool has_in = !rooted_in || ROOT == r;
        bool has_out = PWR_GPU_GATHER == pattern  ? to_all || ROOT == r
                       : PWR_GPU_BCAST == pattern ? ROOT != r
                                                  : true;
        void *in = has_in ? pointer(ranks[r].in + offset) : NULL;
        void *out = has_out ? pointer(ranks[r].out + offset) : NULL;
        assert_int_equal(pwr_gpu_offer(&offers[r], in, out, true), PWR_GPU_OFFERED);
        all[r] = &offers[r];
    }
    if (!each) {
        assert_int_equal(pwr_gpu_copy(all, RANKS, pattern, bytes), PWR_GPU_DONE);
    }
    for (int r = 0; each && r < RANKS; ++r) {
        assert_int_equal(pwr_gpu_copy_own(all, RANKS, r, pattern, bytes), PWR_GPU_DONE);
    }
    for (int r = 0; r < RANKS; ++r) {
        unsigned char content[BYTES];
        MUST(to_host(content, ranks[r].out, BYTES));
        assert_memory_equal(content, ranks[r].expected, BYTES);
    }
}

static void each_pattern(void **state)
{
    static const size_t lengths[] = {1, 4, 8, 16, 15, 12, 24, 48, 97, MOST_BLOCK};
    static const size_t offsets[] = {0, 1, 4, 8};
    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; ++l) {
        for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; ++o) {
            for (int each = 0; each < 2; ++each) {
                check_one(PWR_GPU_BCAST, offsets[o], lengths[l], false, each);
                check_one(PWR_GPU_GATHER, offsets[o], lengths[l], false, each);
                check_one(PWR_GPU_GATHER, offsets[o], lengths[l], true, each);
                check_one(PWR_GPU_SCATTER, offsets[o], lengths[l], false, each);
                check_one(PWR_GPU_ALLTOALL, offsets[o], lengths[l], false, each);
            }
        }
    }
}

/* A block that is where it has to go: nothing is to be done, and nothing is launched for it. */
static void in_place(void **state)
{
    pwr_gpu_offer_t offer;
    const pwr_gpu_offer_t *all[] = {&offer};
    (void)state;
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(ranks[0].out), pointer(ranks[0].out), true),
                     PWR_GPU_OFFERED);
    assert_int_equal(pwr_gpu_copy(all, 1, PWR_GPU_GATHER, 8), PWR_GPU_DONE);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(ranks[0].in), pointer(ranks[0].out), true),
                     PWR_GPU_OFFERED);
    assert_int_equal(pwr_gpu_copy(all, 1, PWR_GPU_GATHER, 8), PWR_GPU_CANNOT);
    unsetenv("FAKE_CUDA_FAILS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_pattern), cmocka_unit_test(in_place)};
    open_device();
    for (int r = 0; r < RANKS; ++r) {
        MUST(allocate(&ranks[r].in, BYTES));
        MUST(allocate(&ranks[r].out, BYTES));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
