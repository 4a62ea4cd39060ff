/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * pwr_shmem_putv: puts fragments by the pattern that has been the fastest for transfers of their
 * class, which each process learns for itself (learn.h).  Source: Jana, Schuchart and Chapman, who
 * found that the crossover between patterns depends on the number of fragments; it depends on the
 * transport, too.
 */
#include "pwr_shmem.h"

#include "learn.h"
#include "ways.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum pattern { FRAGMENTS, PACK, COPY };

static const char *const names[PWR_LEARN_PATTERNS] = {
    [FRAGMENTS] = "fragments", [PACK] = "pack", [COPY] = "copy"};

/* Axes of classes: transport, fragments per run (below 2, 4, 32, more), fragments, bytes of each. */
enum { TRANSPORTS = 2, DENSITIES = 4, NUMBERS = 20, LENGTHS = 24 };
static pwr_learn_t classes[TRANSPORTS][DENSITIES][NUMBERS][LENGTHS];
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;

/* What a call is about. */
typedef struct transfer {
    shmem_ctx_t ctx;
    const pwr_shmem_fragments_t *fragments;
    int pe;
    pwr_shape_t shape;
    bool is_mapped;
    ptrdiff_t distance;
} transfer_t;

static size_t logarithm(size_t value, size_t end)
{
    size_t found = value > 1 ? 63 - (size_t)__builtin_clzl(value) : 0;
    return found < end ? found : end - 1;
}

static size_t density(const pwr_shape_t *shape)
{
    size_t each = shape->fragments / shape->runs;
    return shape->runs == shape->fragments ? 0 : each < 4 ? 1 : each < 32 ? 2 : 3;
}

static pwr_learn_t *class_of(const transfer_t *transfer)
{
    const pwr_shape_t *shape = &transfer->shape;
    return &classes[transfer->is_mapped][density(shape)][logarithm(shape->fragments, NUMBERS)]
                   [logarithm(shape->bytes / shape->fragments, LENGTHS)];
}

/* Packing copies what copying puts into place at once; where nobody is a neighbour it is the same as
 * putting fragments. */
static unsigned allowed_of(const transfer_t *transfer)
{
    const pwr_shape_t *shape = &transfer->shape;
    return 1U << FRAGMENTS |
           (transfer->is_mapped ? 1U << COPY : shape->runs < shape->fragments ? 1U << PACK : 0);
}

/* PWR_SHMEM_PUTV; -1: none, or nothing that we know. */
static int wanted = -1;
static void read_wish(void)
{
    const char *wish = getenv("PWR_SHMEM_PUTV");
    for (int i = 0; wish != NULL && i < PWR_LEARN_PATTERNS; i++) {
        if (strcmp(wish, names[i]) == 0) {
            wanted = i;
        }
    }
}

/* The user's pattern where it is possible, the only one that is possible, or what has been learnt;
 * -1: that is still to be learnt. */
static int choice_of(const transfer_t *transfer)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned allowed = allowed_of(transfer);
    pthread_once(&once, read_wish);
    if (wanted >= 0 && (wanted != COPY || transfer->is_mapped)) {
        return wanted;
    }
    return (allowed & (allowed - 1)) == 0 ? __builtin_ctz(allowed)
                                          : pwr_learn_choice(class_of(transfer));
}

static void put(const transfer_t *transfer, int pattern)
{
    switch (pattern) {
    case COPY:
        pwr_way_copy(transfer->fragments, transfer->distance);
        break;
    case PACK:
        pwr_way_pack(transfer->ctx, transfer->fragments, transfer->pe);
        break;
    default:
        pwr_way_fragments(transfer->ctx, transfer->fragments, transfer->pe);
    }
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* From nothing under way to nothing under way: what a pattern leaves to shmem_quiet belongs to it. */
static void try_one(const transfer_t *transfer)
{
    pwr_learn_t *class = class_of(transfer);
    unsigned allowed = allowed_of(transfer);
    pthread_mutex_lock(&learning);
    int pattern = pwr_learn_next(class, allowed);
    pthread_mutex_unlock(&learning);
    shmem_ctx_quiet(transfer->ctx);
    uint64_t start_ns = now_ns();
    put(transfer, pattern);
    shmem_ctx_quiet(transfer->ctx);
    uint64_t spent_ns = now_ns() - start_ns;
    pthread_mutex_lock(&learning);
    pwr_learn_record(class, allowed, pattern, spent_ns);
    pthread_mutex_unlock(&learning);
}

/* False where such a call is wrong. */
static bool look_at(transfer_t *transfer)
{
    const pwr_shmem_fragments_t *fragments = transfer->fragments;
    if (fragments == NULL || (fragments->items == NULL && fragments->count > 0) ||
        transfer->pe < 0 || transfer->pe >= shmem_n_pes()) {
        return false;
    }
    transfer->shape = pwr_shape_of(fragments);
    transfer->is_mapped =
        transfer->shape.fragments > 0 &&
        pwr_shape_is_mapped(&transfer->shape, transfer->pe, &transfer->distance);
    return true;
}

int pwr_shmem_putv(shmem_ctx_t ctx, const pwr_shmem_fragments_t *fragments, int pe)
{
    transfer_t transfer = {.ctx = ctx, .fragments = fragments, .pe = pe};
    if (!look_at(&transfer)) {
        return EINVAL;
    }
    if (transfer.shape.fragments == 0) {
        return 0;
    }
    int choice = choice_of(&transfer);
    if (choice >= 0) {
        put(&transfer, choice);
    } else {
        try_one(&transfer);
    }
    return 0;
}

const char *pwr_shmem_putv_pattern(const pwr_shmem_fragments_t *fragments, int pe)
{
    transfer_t transfer = {.ctx = SHMEM_CTX_DEFAULT, .fragments = fragments, .pe = pe};
    if (!look_at(&transfer) || transfer.shape.fragments == 0) {
        return NULL;
    }
    int choice = choice_of(&transfer);
    return choice < 0 ? NULL : names[choice];
}
