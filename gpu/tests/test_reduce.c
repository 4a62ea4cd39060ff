/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Offers and reductions of two processes, with fake_cuda: when memory is offered, what may fail,
 * and more buffers than stay open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "pwr_gpu/reduce.h"

enum { BUFFERS = 1500, COUNT = 100, RESULT = 12345 };

static struct shared {
    pwr_gpu_offer_t offer[BUFFERS];
    _Atomic int offered, reduced;
} * shared;

static pwr_gpu_address_t buffer_of(double value)
{
    pwr_gpu_address_t memory = 0;
    double content[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        content[i] = value + i;
    }
    MUST(allocate(&memory, sizeof content));
    MUST(to_device(memory, content, sizeof content));
    return memory;
}

static void *pointer(pwr_gpu_address_t memory)
{
    return (void *)(uintptr_t)memory;
}

static void await(_Atomic int *word, int value)
{
    while (atomic_load(word) < value) {
        usleep(100);
    }
}

static void offers_come_with_the_second_call(void **state)
{
    pwr_gpu_offer_t offer;
    pwr_gpu_address_t in = buffer_of(1), out = buffer_of(2);
    (void)state;
    assert_int_equal(pwr_gpu_offer(&offer, pointer(in), pointer(out), false), PWR_GPU_NOT_YET);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(in + 8), pointer(out), false), PWR_GPU_OFFERED);
    assert_int_equal(offer.in.offset, 8);
    assert_int_equal(offer.forget, 0);
    /* what is known to last, at once; and what was freed meanwhile is told */
    MUST(release(in));
    pwr_gpu_address_t new = buffer_of(3);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(new), NULL, true), PWR_GPU_OFFERED);
    assert_int_not_equal(offer.forget, 0);
    assert_int_equal(offer.out.allocation, 0);
    MUST(release(new));
    MUST(release(out));
}

static void memory_that_cannot_be_opened_is_named(void **state)
{
    int (*from_pool)(pwr_gpu_address_t *, size_t, void *);
    pwr_gpu_address_t memory;
    pwr_gpu_offer_t offer;
    double host;
    (void)state;
    driver_function("cuMemAllocAsync", &from_pool);
    assert_int_equal(from_pool(&memory, 8, NULL), CUDA_SUCCESS);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(memory), NULL, false), PWR_GPU_NOT_YET);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(memory), NULL, false), PWR_GPU_NEVER);
    assert_non_null(strstr(pwr_gpu_why(), "cudaMalloc"));
    assert_int_equal(pwr_gpu_offer(&offer, &host, NULL, false), PWR_GPU_NEVER);
    assert_non_null(strstr(pwr_gpu_why(), "does not describe"));
}

static void reduce_alone(pwr_gpu_address_t memory)
{
    pwr_gpu_offer_t offer;
    const pwr_gpu_offer_t *offers[] = {&offer};
    assert_int_equal(pwr_gpu_offer(&offer, pointer(memory), pointer(memory), true),
                     PWR_GPU_OFFERED);
    assert_int_equal(pwr_gpu_reduce(offers, 1, PWR_GPU_SUM, PWR_GPU_F64, COUNT), PWR_GPU_DONE);
}

static void a_context_that_ends_is_not_used(void **state)
{
    int (*reset)(int);
    (void)state;
    driver_function("cuDevicePrimaryCtxReset_v2", &reset);
    reduce_alone(buffer_of(1));
    assert_int_equal(reset(0), CUDA_SUCCESS);
    reduce_alone(buffer_of(2));
}

static bool goes_through_host(pwr_gpu_pinned_t *pinned, const pwr_gpu_offer_t *offer)
{
    const pwr_gpu_offer_t *offers[] = {offer, offer};
    char *at = pwr_gpu_pinned_memory(pinned) + 16;
    return PWR_GPU_DONE == pwr_gpu_reduce_to_host(pinned, at, offers, 2, PWR_GPU_SUM, PWR_GPU_F64,
                                                  COUNT / 2, 10) &&
           PWR_GPU_DONE ==
               pwr_gpu_result_from_host(pinned, at, offers, 2, PWR_GPU_F64, COUNT / 2, 10);
}

static void halves_go_through_pinned_memory(void **state)
{
    enum { BYTES = 4096 };
    int (*reset)(int);
    double content[COUNT];
    pwr_gpu_offer_t offer;
    pwr_gpu_pinned_t *pinned = pwr_gpu_pinned_new(BYTES);
    (void)state;
    driver_function("cuDevicePrimaryCtxReset_v2", &reset);
    assert_non_null(pinned);
    for (int contexts = 0; contexts < 2; ++contexts) {
        pwr_gpu_address_t in = buffer_of(1), out = buffer_of(0);
        assert_int_equal(pwr_gpu_offer(&offer, pointer(in), pointer(out), true), PWR_GPU_OFFERED);
        assert_true(goes_through_host(pinned, &offer));
        const double *sums = (const void *)(pwr_gpu_pinned_memory(pinned) + 16);
        MUST(to_host(content, out, sizeof content));
        for (int i = 0; i < COUNT; ++i) {
            bool inside = i >= COUNT / 2 && i < COUNT / 2 + 10;
            assert_true(content[i] == (inside ? 2 * (1 + i) : i));
        }
        assert_true(sums[9] == 2 * (1 + COUNT / 2 + 9));
        assert_int_equal(reset(0), CUDA_SUCCESS); /* what pinned memory was for is gone */
    }
    pwr_gpu_pinned_free(pinned);
    /* the driver refuses it: that memory is not tried again */
    pwr_gpu_address_t in = buffer_of(1);
    assert_int_equal(pwr_gpu_offer(&offer, pointer(in), pointer(in), true), PWR_GPU_OFFERED);
    pinned = pwr_gpu_pinned_new(BYTES);
    setenv("FAKE_CUDA_FAILS", "cuMemHostRegister_v2", 1);
    assert_false(goes_through_host(pinned, &offer));
    assert_non_null(strstr(pwr_gpu_why(), "cuMemHostRegister"));
    unsetenv("FAKE_CUDA_FAILS");
    assert_false(goes_through_host(pinned, &offer));
    pwr_gpu_pinned_free(pinned);
    pinned = pwr_gpu_pinned_new(BYTES);
    assert_true(goes_through_host(pinned, &offer));
    pwr_gpu_pinned_free(pinned);
    pwr_gpu_pinned_free(NULL);
}

/* The other process: offers its buffers, and looks at them when all are reduced. */
static int offer_all(void)
{
    static pwr_gpu_address_t buffer[BUFFERS];
    double content[COUNT];
    open_device();
    for (int i = 0; i < BUFFERS; ++i) {
        buffer[i] = buffer_of(i);
        if (PWR_GPU_OFFERED !=
            pwr_gpu_offer(&shared->offer[i], pointer(buffer[i]), pointer(buffer[i]), true)) {
            return 1;
        }
        atomic_store(&shared->offered, i + 1);
    }
    await(&shared->reduced, BUFFERS);
    for (int i = 0; i < BUFFERS; ++i) {
        MUST(to_host(content, buffer[i], sizeof content));
        for (int k = 0; k < COUNT; ++k) {
            if (content[k] != i + k + RESULT + k) {
                return 2;
            }
        }
    }
    return 0;
}

static void more_buffers_than_stay_open(void **state)
{
    pid_t other = *(pid_t *)*state;
    pwr_gpu_address_t mine = buffer_of(RESULT), result = buffer_of(0);
    pwr_gpu_offer_t offer;
    double content[COUNT];
    int status;
    for (int i = 0; i < BUFFERS; ++i) {
        await(&shared->offered, i + 1);
        assert_int_equal(pwr_gpu_offer(&offer, pointer(mine), pointer(result), true),
                         PWR_GPU_OFFERED);
        const pwr_gpu_offer_t *offers[] = {&offer, &shared->offer[i]};
        shared->offer[i].forget = 0;
        assert_int_equal(pwr_gpu_reduce(offers, 2, PWR_GPU_SUM, PWR_GPU_F64, COUNT), PWR_GPU_DONE);
    }
    MUST(to_host(content, result, sizeof content));
    assert_true(content[1] == RESULT + 1 + BUFFERS - 1 + 1);
    const pwr_gpu_offer_t *both[] = {&offer, &shared->offer[0]};
    assert_false(pwr_gpu_are_several(both, 2));
    shared->offer[0].device.bytes[5] ^= 1;
    assert_true(pwr_gpu_are_several(both, 2));
    atomic_store(&shared->reduced, BUFFERS);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t other = fork();
    if (0 == other) {
        alarm(600);
        _exit(offer_all());
    }
    if (!open_device()) {
        fprintf(stderr, "no libcuda.so.1\n");
        return 99;
    }
    void *state = &other;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_come_with_the_second_call),
        cmocka_unit_test(memory_that_cannot_be_opened_is_named),
        cmocka_unit_test(a_context_that_ends_is_not_used),
        cmocka_unit_test(halves_go_through_pinned_memory),
        cmocka_unit_test_prestate(more_buffers_than_stay_open, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
