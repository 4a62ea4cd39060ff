/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Memory of the CPU that a GPU's driver has page-locked: kernels of this process read and write it
 * over the bus, and copies from and to it are the fastest.
 */
#ifndef PWR_GPU_PINNED_H
#define PWR_GPU_PINNED_H

#include <stdbool.h>
#include <stddef.h>

/* bytes of it, mapped, and not page-locked yet.  NULL: out of memory (pwr_gpu_why). */
typedef struct pwr_gpu_pinned pwr_gpu_pinned_t;
pwr_gpu_pinned_t *pwr_gpu_pinned_new(size_t bytes);
/* Where it begins, aligned to a page. */
char *pwr_gpu_pinned_memory(const pwr_gpu_pinned_t *pinned);
/* Page-locks it by this context of CUDA, where none that is still there has done so.  Returns
   whether it is; if not, why (pwr_gpu_why): it is memory all the same. */
bool pwr_gpu_pinned_lock(pwr_gpu_pinned_t *pinned, void *context);
/* When no kernel and no copy uses it.  NULL is allowed. */
void pwr_gpu_pinned_free(pwr_gpu_pinned_t *pinned);

#endif
