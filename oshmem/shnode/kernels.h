/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * to[i] = a[i] op b[i] for all types and operations; to may be a or b.
 */
#ifndef SHNODE_KERNELS_H
#define SHNODE_KERNELS_H
#include "node.h"

#define SHNODE_KERNEL(op, name, type) reduce_t shnode_reduce_##name##_##op;
SHNODE_REDUCTIONS_(SHNODE_KERNEL)
#endif
