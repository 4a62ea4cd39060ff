/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Memory of GPUs, which the CPU must not touch: what it is, and copies to and from it by CUDA's
 * driver.  Nothing of CUDA is linked or loaded: without the driver, or as long as the program has
 * not loaded libcuda.so.1, there is no such memory.
 */
#ifndef PWR_OMPI_DEVICE_MEMORY_H
#define PWR_OMPI_DEVICE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum pwr_device_library {
    PWR_DEVICE_NONE,   /* this machine has no driver */
    PWR_DEVICE_UNUSED, /* the process has not loaded the library */
    PWR_DEVICE_LOADED
} pwr_device_library_t;

/* Written by ompi/node/device_memory.c. */
extern _Atomic int pwr_device_library;

/* root: prefix of /dev. */
void pwr_device_memory_open(const char *root);

/* Whether the library has come meanwhile.  Looks once in each tick of the coarse clock (1 to 10
   ms): nobody gets from loading it to memory of a GPU in a shorter time. */
bool pwr_device_memory_look(void);

/* Whether a buffer may be memory of a GPU: what has to be asked in each call. */
static inline bool pwr_device_memory_may_be(void)
{
    int library = atomic_load_explicit(&pwr_device_library, memory_order_acquire);
    return __builtin_expect(PWR_DEVICE_NONE != library, 0) &&
           (PWR_DEVICE_LOADED == library || pwr_device_memory_look());
}

/* Memory of a GPU that the CPU cannot read and write; managed memory is none. */
bool pwr_device_memory_is(const void *address);

/* Whether Open MPI's own functions know such memory. */
bool pwr_device_memory_is_stocks(void);

/* Memory of the CPU for copies from and to a GPU's: page-locked where the driver can do that, which
   makes copies faster, and kept, so that its pages are there in the next call.  NULL: out of
   memory. locked: whether it is page-locked. */
char *pwr_device_memory_stage(const void *device, size_t bytes, bool *locked);
/* NULL is allowed. */
void pwr_device_memory_unstage(char *memory);

/* Nobody stages any more. */
void pwr_device_memory_close(void);

/* Return OMPI_SUCCESS or OMPI_ERROR. */
int pwr_device_memory_read(void *to, const void *device, size_t bytes);
int pwr_device_memory_write(void *device, const void *from, size_t bytes);

#endif
