/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages that are sent at once, without asking their receiver first.
 */
#ifndef PWR_OMPI_EAGER_H
#define PWR_OMPI_EAGER_H

#include <stdint.h>

/* The longest one to another node, in bytes; 0: not known, because messages do not travel by pml
   ob1 and btl tcp alone. */
uint64_t pwr_eager_bytes(void);

#endif
