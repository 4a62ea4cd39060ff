/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Memory of the CPU for kernels (pwr_gpu/pinned.h).
 */
#include "pwr_gpu/pinned.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "engine.h"

struct pwr_gpu_pinned {
    char *memory;
    size_t bytes;
    pwr_gpu_address_t address; /* in the engine's context; 0: it is not known there */
    unsigned long long context_id;
};

pwr_gpu_pinned_t *pwr_gpu_pinned_new(size_t bytes)
{
    pwr_gpu_pinned_t *p = malloc(sizeof *p);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (NULL == p || MAP_FAILED == memory) {
        pwr_gpu_because("out of memory");
        if (MAP_FAILED != memory) {
            munmap(memory, bytes);
        }
        free(p);
        return NULL;
    }
    *p = (pwr_gpu_pinned_t){.memory = memory, .bytes = bytes};
    return p;
}

char *pwr_gpu_pinned_memory(const pwr_gpu_pinned_t *p)
{
    return p->memory;
}

/* What a context knew ends with it. */
static bool is_known(const pwr_gpu_pinned_t *p)
{
    return 0 != p->address && pwr_gpu_engine.context_id == p->context_id;
}

pwr_gpu_address_t pwr_gpu_pinned_address(pwr_gpu_pinned_t *p, const char *at)
{
    if (!is_known(p)) {
        p->address = pwr_gpu_register_host(p->memory, p->bytes);
        p->context_id = pwr_gpu_engine.context_id;
    }
    return 0 == p->address ? 0 : p->address + (pwr_gpu_address_t)(at - p->memory);
}

void pwr_gpu_pinned_free(pwr_gpu_pinned_t *p)
{
    if (NULL == p) {
        return;
    }
    if (0 != p->address) {
        bool entered = pwr_gpu_enter();
        if (entered && is_known(p)) {
            pwr_gpu_driver.unregister_host(p->memory);
        }
        pwr_gpu_leave(entered);
    }
    munmap(p->memory, p->bytes);
    free(p);
}
