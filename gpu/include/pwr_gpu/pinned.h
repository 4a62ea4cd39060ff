/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Memory of the CPU that kernels of this process read and write, over the bus.
 */
#ifndef PWR_GPU_PINNED_H
#define PWR_GPU_PINNED_H

#include <stddef.h>

/* bytes of it, which the GPU learns of when a kernel is given some (reduce.h).  NULL: out of memory
   (pwr_gpu_why). */
typedef struct pwr_gpu_pinned pwr_gpu_pinned_t;
pwr_gpu_pinned_t *pwr_gpu_pinned_new(size_t bytes);
/* Where it begins, aligned to a page. */
char *pwr_gpu_pinned_memory(const pwr_gpu_pinned_t *pinned);
/* When no kernel uses it.  NULL is allowed. */
void pwr_gpu_pinned_free(pwr_gpu_pinned_t *pinned);

#endif
