/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The kernels as functions of the host.
 */
#include "kernels/copy.cu"
#include "kernels/reduce.cu"
#include "kernels/team.cu"
