/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Memory of the CPU that a GPU's driver has page-locked (pwr_gpu/pinned.h).
 */
#include "pwr_gpu/pinned.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "engine.h"

struct pwr_gpu_pinned {
    char *memory;
    size_t bytes;
    void *context; /* in which it was to be registered last; NULL: in none yet */
    bool refused;  /* by the driver, which is not asked again */
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

/* Asks the driver: what it knew ends with the context, and another one can come to be at the same
   address. */
static bool is_known(const pwr_gpu_pinned_t *p)
{
    unsigned type = 0;
    int attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *data = &type;
    return NULL != p->context &&
           CUDA_SUCCESS == pwr_gpu_driver.get_attributes(1, &attribute, &data,
                                                         (pwr_gpu_address_t)(uintptr_t)p->memory) &&
           CU_MEMORYTYPE_HOST == type;
}

bool pwr_gpu_pinned_lock(pwr_gpu_pinned_t *p, void *context)
{
    if (is_known(p)) {
        return true;
    }
    if (p->refused) {
        pwr_gpu_because("the driver has refused to page-lock this memory");
        return false;
    }
    p->context = context;
    p->refused = !pwr_gpu_succeeds(pwr_gpu_driver.push(context), "cuCtxPushCurrent");
    if (!p->refused) {
        p->refused = 0 == pwr_gpu_register_host(p->memory, p->bytes);
        pwr_gpu_driver.pop(&context);
    }
    return !p->refused;
}

pwr_gpu_address_t pwr_gpu_pinned_address(pwr_gpu_pinned_t *p, const char *at)
{
    pwr_gpu_address_t address = 0;
    return pwr_gpu_pinned_lock(p, pwr_gpu_engine.context) &&
                   pwr_gpu_succeeds(pwr_gpu_driver.get_device_address(&address, p->memory, 0),
                                    "cuMemHostGetDevicePointer")
               ? address + (pwr_gpu_address_t)(at - p->memory)
               : 0;
}

/* What the driver still knows stays mapped: it would copy to pages that are not there any more. */
void pwr_gpu_pinned_free(pwr_gpu_pinned_t *p)
{
    if (NULL == p) {
        return;
    }
    bool known = is_known(p);
    if (known && CUDA_SUCCESS == pwr_gpu_driver.push(p->context)) {
        known = CUDA_SUCCESS != pwr_gpu_driver.unregister_host(p->memory);
        pwr_gpu_driver.pop(&p->context);
    }
    if (!known) {
        munmap(p->memory, p->bytes);
    }
    free(p);
}
