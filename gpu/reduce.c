/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Reductions by one kernel (pwr_gpu/reduce.h).
 */
#include "pwr_gpu/reduce.h"

#include "engine.h"
#include "kernels/modules.h"

enum { MOST_BLOCKS = 528 }; /* more than a few per multiprocessor gain nothing */

_Static_assert((int)PWR_GPU_KERNELS == (int)PWR_GPU_NUM_OPS,
               "a module has a kernel for each operator");

static void *kernel_of(pwr_gpu_type_t type, pwr_gpu_op_t op)
{
#define NAME(op, type) "pwr_" #op "_" #type
#define NAMES(constant, type, bytes)                                                               \
    {NAME(sum, type), NAME(prod, type), NAME(min, type), NAME(max, type)},
    static const char *const names[][PWR_GPU_KERNELS] = {PWR_GPU_TYPES(NAMES)};
    pwr_gpu_load(&pwr_gpu_engine.reductions[type], pwr_gpu_modules[type].ptx, names[type]);
    return pwr_gpu_engine.reductions[type].kernel[op];
}

static bool is_aligned(const pwr_gpu_table_t *table, int num_in, int num_out)
{
    pwr_gpu_address_t bits = 0;
    for (int r = 0; r < num_in; ++r) {
        bits |= table->in[r];
    }
    for (int r = 0; r < num_out; ++r) {
        bits |= table->out[r];
    }
    return 0 == bits % PWR_GPU_VECTOR;
}

static bool launch(void *stream, void *kernel, pwr_gpu_table_t *table, int num_in, int num_out,
                   pwr_gpu_type_t type, unsigned long long count)
{
    unsigned lanes = PWR_GPU_VECTOR / pwr_gpu_modules[type].bytes;
    unsigned long long vectors = is_aligned(table, num_in, num_out) ? count / lanes : 0;
    return pwr_gpu_launch(stream, kernel, table, num_in, num_out, vectors, count, MOST_BLOCKS,
                          0 == vectors ? count : vectors);
}

static pwr_gpu_result_t reduce(void *stream, const pwr_gpu_offer_t *const *offers, int num,
                               pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count)
{
    pwr_gpu_table_t table;
    int num_in, num_out;
    void *kernel = kernel_of(type, op);
    return NULL != kernel &&
                   pwr_gpu_fill(&table, offers, num, PWR_GPU_ALL_INPUTS, &num_in, &num_out) &&
                   launch(stream, kernel, &table, num_in, num_out, type, count)
               ? PWR_GPU_DONE
               : PWR_GPU_CANNOT;
}

pwr_gpu_result_t pwr_gpu_reduce(const pwr_gpu_offer_t *const *offers, int num, pwr_gpu_op_t op,
                                pwr_gpu_type_t type, size_t count)
{
    bool entered = pwr_gpu_enter();
    pwr_gpu_result_t result =
        entered ? reduce(pwr_gpu_engine.stream, offers, num, op, type, count) : PWR_GPU_CANNOT;
    return pwr_gpu_finish(entered, result);
}

pwr_gpu_result_t pwr_gpu_reduce_on(void *stream, const pwr_gpu_offer_t *const *offers, int num,
                                   pwr_gpu_op_t op, pwr_gpu_type_t type, size_t count)
{
    bool entered = pwr_gpu_enter();
    pwr_gpu_result_t result =
        entered ? reduce(stream, offers, num, op, type, count) : PWR_GPU_CANNOT;
    pwr_gpu_leave(entered);
    return result;
}

/* ---- halves ---- */

static void move_on(pwr_gpu_address_t *addresses, int num, size_t bytes)
{
    for (int i = 0; i < num; ++i) {
        addresses[i] += bytes;
    }
}

/* Of the node to memory of the CPU, or from there to all outputs: a reduction of one input. */
static bool put_half(bool to_host, pwr_gpu_address_t host, const pwr_gpu_offer_t *const *offers,
                     int num, pwr_gpu_op_t op, pwr_gpu_type_t type, size_t first, size_t count)
{
    pwr_gpu_table_t table;
    int num_in, num_out;
    void *kernel = kernel_of(type, op);
    if (0 == host || NULL == kernel ||
        !pwr_gpu_fill(&table, offers, num, PWR_GPU_ALL_INPUTS, &num_in, &num_out)) {
        return false;
    }
    move_on(table.in, num_in, first * pwr_gpu_modules[type].bytes);
    move_on(table.out, num_out, first * pwr_gpu_modules[type].bytes);
    if (to_host) {
        table.out[0] = host;
        num_out = 1;
    } else {
        table.in[0] = host;
        num_in = 1;
    }
    return 0 == num_out ||
           launch(pwr_gpu_engine.stream, kernel, &table, num_in, num_out, type, count);
}

pwr_gpu_result_t pwr_gpu_reduce_to_host(pwr_gpu_pinned_t *pinned, char *at,
                                        const pwr_gpu_offer_t *const *offers, int num,
                                        pwr_gpu_op_t op, pwr_gpu_type_t type, size_t first,
                                        size_t count)
{
    bool entered = pwr_gpu_enter();
    bool ok = entered && put_half(true, pwr_gpu_pinned_address(pinned, at), offers, num, op, type,
                                  first, count);
    return pwr_gpu_finish(entered, ok ? PWR_GPU_DONE : PWR_GPU_CANNOT);
}

pwr_gpu_result_t pwr_gpu_result_from_host(pwr_gpu_pinned_t *pinned, const char *at,
                                          const pwr_gpu_offer_t *const *offers, int num,
                                          pwr_gpu_type_t type, size_t first, size_t count)
{
    bool entered = pwr_gpu_enter();
    bool ok = entered && put_half(false, pwr_gpu_pinned_address(pinned, at), offers, num,
                                  PWR_GPU_SUM, type, first, count);
    return pwr_gpu_finish(entered, ok ? PWR_GPU_DONE : PWR_GPU_CANNOT);
}

/* ---- kernels before they are needed ---- */

/* Kernels of no elements: a driver loads some only then. */
bool pwr_gpu_load_all(void)
{
    bool entered = pwr_gpu_enter(), ok = entered;
    pwr_gpu_table_t table = {.in = {0}};
    for (int type = 0; type < PWR_GPU_NUM_TYPES && ok; ++type) {
        for (int op = 0; op < PWR_GPU_NUM_OPS && ok; ++op) {
            void *kernel = kernel_of((pwr_gpu_type_t)type, (pwr_gpu_op_t)op);
            ok = NULL != kernel &&
                 launch(pwr_gpu_engine.stream, kernel, &table, 1, 0, (pwr_gpu_type_t)type, 0);
        }
    }
    ok = ok && pwr_gpu_succeeds(pwr_gpu_driver.wait_stream(pwr_gpu_engine.stream), "the kernels");
    pwr_gpu_leave(entered);
    return ok;
}
