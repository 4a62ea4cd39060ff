/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernels as functions of the host: against what this file works out for itself, from one to
 * many threads, with vectors and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

_Thread_local struct pwr_host_place pwr_host_place;

/* No kernel here has anything to sync. */
void pwr_host_sync(void)
{
}

enum { RANKS = 5, COUNT = 203 };

typedef void kernel_t(const pwr_gpu_table_t table, int num_in, int num_out,
                      unsigned long long vectors, unsigned long long count);

static void run(kernel_t *kernel, pwr_gpu_table_t *table, int num_in, int num_out, size_t vectors,
                size_t count, unsigned threads)
{
    for (unsigned t = 0; t < threads; ++t) {
        pwr_host_place = (struct pwr_host_place){.thread = t, .threads = threads, .blocks = 1};
        kernel(*table, num_in, num_out, vectors, count);
    }
}

/* One type: inputs small, so that products hold; every operator, 1 to RANKS inputs, the first
   output in place of the last input. */
#define TEST_TYPE(T, name, combine)                                                                \
    static void check_##name(kernel_t *kernel, int op)                                             \
    {                                                                                              \
        static _Alignas(16) T in[RANKS][COUNT], out[2][COUNT + 2], expected[COUNT];                \
        for (int ranks = 1; ranks <= RANKS; ++ranks) {                                             \
            for (int variant = 0; variant < 4; ++variant) {                                        \
                pwr_gpu_table_t table = {.in = {0}};                                               \
                size_t lanes = 16 / sizeof(T), count = COUNT - (size_t)variant;                    \
                size_t vectors = 0 == variant % 2 ? count / lanes : 0;                             \
                for (int r = 0; r < ranks; ++r) {                                                  \
                    for (size_t i = 0; i < COUNT; ++i) {                                           \
                        in[r][i] = (T)(rand() % 7 + 1);                                            \
                        expected[i] = 0 == r ? in[r][i] : combine(expected[i], in[r][i], op);      \
                    }                                                                              \
                    table.in[r] = (unsigned long long)(uintptr_t)in[r];                            \
                }                                                                                  \
                memset(out, 0x5A, sizeof out);                                                     \
                table.out[0] = table.in[ranks - 1];                                                \
                table.out[1] = (unsigned long long)(uintptr_t)out[1];                              \
                run(kernel, &table, ranks, 2, vectors, count, 1 + 13 * (unsigned)variant);         \
                assert_memory_equal(in[ranks - 1], expected, count * sizeof(T));                   \
                assert_memory_equal(out[1], expected, count * sizeof(T));                          \
                assert_memory_equal(out[1] + count, out[0] + count, 2 * sizeof(T));                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check_##name(pwr_sum_##name, 0);                                                           \
        check_##name(pwr_prod_##name, 1);                                                          \
        check_##name(pwr_min_##name, 2);                                                           \
        check_##name(pwr_max_##name, 3);                                                           \
    }
#define COMBINE(a, b, op)                                                                          \
    (0 == (op)   ? (a) + (b)                                                                       \
     : 1 == (op) ? (a) * (b)                                                                       \
     : 2 == (op) ? ((a) < (b) ? (a) : (b))                                                         \
                 : ((a) > (b) ? (a) : (b)))
TEST_TYPE(int32_t, i32, COMBINE)
TEST_TYPE(uint32_t, u32, COMBINE)
TEST_TYPE(int64_t, i64, COMBINE)
TEST_TYPE(uint64_t, u64, COMBINE)
TEST_TYPE(float, f32, COMBINE)
TEST_TYPE(double, f64, COMBINE)

/* ---- f16 and bf16, by their definition ---- */

typedef struct format {
    int fraction_bits, bias;
    kernel_t *sum;
} format_t;
static const format_t f16 = {10, 15, pwr_sum_f16}, bf16 = {7, 127, pwr_sum_bf16};

static double decode(uint16_t bits, const format_t *f)
{
    int exponent_bits = 15 - f->fraction_bits, most = (1 << exponent_bits) - 1;
    int exponent = bits >> f->fraction_bits & most, fraction = bits & ((1 << f->fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (most == exponent) {
        return 0 == fraction ? sign * INFINITY : NAN;
    }
    if (0 == exponent) {
        return sign * ldexp(fraction, 1 - f->bias - f->fraction_bits);
    }
    return sign * ldexp(fraction + (1 << f->fraction_bits), exponent - f->bias - f->fraction_bits);
}

/* The nearest, of two as near the even one; beyond the largest by half a step: infinite. */
static uint16_t encode(double value, const format_t *f)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint16_t infinite = (uint16_t)(0x7FFF & ~((1 << f->fraction_bits) - 1));
    double size = fabs(value), largest = decode((uint16_t)(infinite - 1), f);
    double step = largest - decode((uint16_t)(infinite - 2), f);
    if (size >= largest + step / 2) {
        return (uint16_t)(sign | infinite);
    }
    uint16_t low = 0, high = (uint16_t)(infinite - 1);
    while (low < high) { /* the largest that is not above */
        uint16_t middle = (uint16_t)((low + high + 1) / 2);
        if (decode(middle, f) <= size) {
            low = middle;
        } else {
            high = (uint16_t)(middle - 1);
        }
    }
    double below = size - decode(low, f);
    double above =
        low + 1 == infinite ? largest + step - size : decode((uint16_t)(low + 1), f) - size;
    bool up = above < below || (above == below && (low & 1));
    return (uint16_t)(sign | (low + up));
}

static uint16_t sum_of(uint16_t a, uint16_t b, int num, const format_t *f)
{
    uint16_t in[] = {a, b}, out = 0;
    pwr_gpu_table_t table = {
        .in = {(unsigned long long)(uintptr_t)&in[0], (unsigned long long)(uintptr_t)&in[1]},
        .out = {(unsigned long long)(uintptr_t)&out}};
    run(f->sum, &table, num, 1, 0, 1, 1);
    return out;
}

static void check_16_bits(const format_t *f)
{
    for (unsigned bits = 0; bits < 0x10000; ++bits) { /* each is itself */
        uint16_t same = sum_of((uint16_t)bits, 0, 1, f);
        if (isnan(decode((uint16_t)bits, f))) {
            assert_true(isnan(decode(same, f)));
        } else {
            assert_int_equal(same, bits);
        }
    }
    for (int i = 0; i < 200000; ++i) {
        uint16_t a = (uint16_t)rand(),
                 b = 0 == i % 2 ? (uint16_t)(a ^ rand() % 4096) : (uint16_t)rand();
        float exact = (float)decode(a, f) + (float)decode(b, f);
        uint16_t sum = sum_of(a, b, 2, f);
        if (isnan(exact)) {
            assert_true(isnan(decode(sum, f)));
        } else {
            assert_int_equal(sum, encode((double)exact, f));
        }
    }
}

static void test_f16(void **state)
{
    (void)state;
    check_16_bits(&f16);
}

static void test_bf16(void **state)
{
    (void)state;
    check_16_bits(&bf16);
}

/* Integers wrap. */
static void test_wrap(void **state)
{
    int32_t in[] = {INT32_MAX, 1}, out = 0;
    pwr_gpu_table_t table = {
        .in = {(unsigned long long)(uintptr_t)&in[0], (unsigned long long)(uintptr_t)&in[1]},
        .out = {(unsigned long long)(uintptr_t)&out}};
    (void)state;
    run(pwr_sum_i32, &table, 2, 1, 0, 1, 1);
    assert_int_equal(out, INT32_MIN);
}

/* BLOCKS of each width, from 1 to UNITS units, by one thread and by more than there are units. */
static void test_copy(void **state)
{
    enum { BLOCKS = 5, UNITS = 9, GAP = 16 };
    static const struct {
        kernel_t *kernel;
        size_t width;
    } kinds[] = {{pwr_copy_16, 16}, {pwr_copy_8, 8}, {pwr_copy_4, 4}, {pwr_copy_1, 1}};
    static _Alignas(16) unsigned char from[BLOCKS][UNITS * 16 + GAP], to[BLOCKS][UNITS * 16 + GAP];
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
        for (size_t units = 1; units <= UNITS; ++units) {
            const unsigned threads[] = {1, 2, 7, 1 + 2 * BLOCKS * UNITS};
            for (int k = 0; k < 4; ++k) {
                pwr_gpu_table_t table = {.in = {0}};
                size_t bytes = units * kinds[kind].width,
                       offset = GAP == kinds[kind].width ? 0 : kinds[kind].width;
                for (int b = 0; b < BLOCKS; ++b) {
                    for (size_t i = 0; i < sizeof from[b]; ++i) {
                        from[b][i] = (unsigned char)rand();
                    }
                    table.in[b] = (unsigned long long)(uintptr_t)(from[b] + offset);
                    table.out[b] = (unsigned long long)(uintptr_t)(to[b] + offset);
                }
                memset(to, 0x5A, sizeof to);
                run(kinds[kind].kernel, &table, BLOCKS, BLOCKS, units, bytes, threads[k]);
                for (int b = 0; b < BLOCKS; ++b) {
                    assert_memory_equal(to[b] + offset, from[b] + offset, bytes);
                    for (size_t i = 0; i < sizeof to[b]; ++i) {
                        if (i < offset || i >= offset + bytes) {
                            assert_int_equal(to[b][i], 0x5A);
                        }
                    }
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_i32),  cmocka_unit_test(test_u32),  cmocka_unit_test(test_i64),
        cmocka_unit_test(test_u64),  cmocka_unit_test(test_f32),  cmocka_unit_test(test_f64),
        cmocka_unit_test(test_f16),  cmocka_unit_test(test_bf16), cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
