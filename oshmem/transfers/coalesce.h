/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Small puts that follow each other at the target become one: pwr_shmem_coalesce(7).  The functions
 * of OpenSHMEM that call these are made from its header (make_calls.py).
 */
#ifndef PWR_SHMEM_COALESCE_H
#define PWR_SHMEM_COALESCE_H

#include <pshmem.h>
#include <shmem.h>
#include <stddef.h>

/* As shmem_ctx_putmem_nbi, but the data may be held.  source may change when this returns. */
void pwr_coalesce_put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe);

/* Puts all that is held. */
void pwr_coalesce_send(void);

#endif
