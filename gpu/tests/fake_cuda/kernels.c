/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Modules, and kernels as functions of the host (fake.h).
 */
#include "fake.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 48 };

static int module;
_Thread_local struct pwr_host_place pwr_host_place;

/* Blocks of kernels that sync have one thread. */
void pwr_host_sync(void)
{
}

typedef void kernel_t(const pwr_gpu_table_t table, int num_in, int num_out,
                      unsigned long long vectors, unsigned long long count);

static const struct {
    const char *name;
    kernel_t *function;
    size_t bytes;
} kernels[] = {
#define KERNEL_ROW(op, name, bytes) {"pwr_" #op "_" #name, pwr_##op##_##name, bytes},
#define KERNEL_ROWS(constant, name, bytes)                                                         \
    KERNEL_ROW(sum, name, bytes)                                                                   \
    KERNEL_ROW(prod, name, bytes) KERNEL_ROW(min, name, bytes) KERNEL_ROW(max, name, bytes)
    PWR_GPU_TYPES(KERNEL_ROWS) KERNEL_ROW(copy, 16, 1) KERNEL_ROW(copy, 8, 1) KERNEL_ROW(copy, 4, 1)
        KERNEL_ROW(copy, 1, 1)};
enum { NUM_KERNELS = sizeof kernels / sizeof kernels[0] };

/* Kernels of a team, in the order of the types; then the probe. */
typedef void team_kernel_t(poweraware_team_t *team, const void *in, void *out,
                           unsigned long long count, int root, int op);
static const struct {
    const char *name;
    team_kernel_t *function;
    size_t bytes;
} team_kernels[] = {
#define TEAM_ROW(constant, name, bytes) {"pwr_team_" #name, pwr_team_##name, bytes},
    PWR_GPU_TYPES(TEAM_ROW){"pwr_team_probe", NULL, 0}};
enum { NUM_TEAM_KERNELS = sizeof team_kernels / sizeof team_kernels[0] };

int cuModuleLoadData(void **loaded, const void *image)
{
    FAILS_IF_TOLD
    *loaded = &module;
    return 0 == strncmp(image, ".version", 8) && fake_pushed > 0 ? CUDA_SUCCESS : INVALID_VALUE;
}

int cuModuleGetFunction(void **function, void *of, const char *name)
{
    FAILS_IF_TOLD
    int i = 0;
    while (i < NUM_KERNELS && 0 != strcmp(name, kernels[i].name)) {
        ++i;
    }
    *function = (void *)&kernels[i];
    for (int t = 0; t < NUM_TEAM_KERNELS && NUM_KERNELS == i; ++t) {
        if (0 == strcmp(name, team_kernels[t].name)) {
            *function = (void *)&team_kernels[t];
            return of == &module ? CUDA_SUCCESS : NOT_FOUND;
        }
    }
    return i < NUM_KERNELS && of == &module ? CUDA_SUCCESS : NOT_FOUND;
}

/* A kernel of no elements touches nothing. */
static int to_content(unsigned long long *addresses, int num, size_t bytes)
{
    for (int i = 0; i < num && 0 != bytes; ++i) {
        addresses[i] = (unsigned long long)(uintptr_t)fake_content_or_host(addresses[i], bytes);
        if (0 == addresses[i]) {
            return ILLEGAL_ADDRESS;
        }
    }
    return CUDA_SUCCESS;
}

int fake_run_kernel(fake_call_t *c)
{
    size_t bytes = c->count * kernels[c->kernel].bytes;
    int rc = to_content(c->table.in, c->num_in, bytes);
    rc = CUDA_SUCCESS == rc ? to_content(c->table.out, c->num_out, bytes) : rc;
    for (unsigned t = 0; t < THREADS && CUDA_SUCCESS == rc; ++t) {
        pwr_host_place = (struct pwr_host_place){.thread = t, .threads = THREADS, .blocks = 1};
        kernels[c->kernel].function(c->table, c->num_in, c->num_out, c->vectors, c->count);
    }
    return rc;
}

/* What a kernel of a team gets: addresses that the host can touch. */
static int open_team(const fake_team_call_t *c, poweraware_team_t *team)
{
    const void *described = fake_content_of(c->team, sizeof *team);
    if (NULL == described) {
        return ILLEGAL_ADDRESS;
    }
    memcpy(team, described, sizeof *team);
    return to_content(team->window, (int)team->size, pwr_team_window_bytes(team->size, team->slot));
}

static void run_probe(poweraware_team_t *team, const fake_team_call_t *c, char *in)
{
    for (unsigned b = 0; b < c->blocks; ++b) {
        unsigned long long ns = 1000;
        pwr_host_place = (struct pwr_host_place){.threads = 1, .block = b, .blocks = c->blocks};
        pwr_team_probe(team, (unsigned long long *)(void *)in, c->op);
        /* how long it took says nothing here */
        ns *= NULL != getenv("FAKE_CUDA_AT_ONCE") ? 1 : 1000 * (unsigned long long)c->op;
        memcpy(in + b * sizeof ns, &ns, sizeof ns);
    }
}

bool fake_is_probe(size_t team_kernel)
{
    return NUM_TEAM_KERNELS - 1 == team_kernel;
}

/* Its blocks, one after the other, of one thread. */
int fake_run_team_kernel(const fake_team_call_t *c)
{
    poweraware_team_t team;
    int rc = open_team(c, &team);
    bool is_probe = fake_is_probe(c->kernel);
    size_t bytes = is_probe ? c->blocks * 8 : c->count * team_kernels[c->kernel].bytes;
    char *in = 0 != bytes ? fake_content_of(c->in, bytes) : NULL;
    char *out = 0 != c->out && 0 != bytes ? fake_content_of(c->out, bytes) : NULL;
    if (CUDA_SUCCESS != rc || (0 != bytes && NULL == in) ||
        (0 != bytes && 0 != c->out && NULL == out)) {
        return ILLEGAL_ADDRESS;
    }
    if (is_probe) {
        run_probe(&team, c, in);
    }
    for (unsigned b = 0; b < c->blocks && !is_probe; ++b) {
        pwr_host_place = (struct pwr_host_place){.threads = 1, .block = b, .blocks = c->blocks};
        team_kernels[c->kernel].function(&team, in, out, c->count, c->root, c->op);
    }
    poweraware_team_t *described = (void *)fake_content_of(c->team, sizeof team);
    memcpy(described->epoch, team.epoch, sizeof team.epoch);
    described->number = team.number;
    described->stopped = team.stopped;
    return CUDA_SUCCESS;
}

static int index_in(const void *rows, size_t bytes, int num, const void *row)
{
    size_t index = (size_t)((const char *)row - (const char *)rows) / bytes;
    return index < (size_t)num ? (int)index : -1;
}

int fake_kernel(const void *function)
{
    return index_in(kernels, sizeof kernels[0], NUM_KERNELS, function);
}

int fake_team_kernel(const void *function)
{
    return index_in(team_kernels, sizeof team_kernels[0], NUM_TEAM_KERNELS, function);
}
