/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies between memory of mine and of a local rank.
 */
#include "primitives/primitives.h"
#include "pwr_ompi/single_copy.h"

int coll_poweraware_read(const coll_poweraware_call_t *call, int local, void *to, uint64_t from,
                         size_t bytes)
{
    int error = pwr_single_copy_read(call->pids[local], to, from, bytes);
    return 0 == error ? OMPI_SUCCESS : OMPI_ERROR;
}

int coll_poweraware_write(const coll_poweraware_call_t *call, int local, uint64_t to,
                          const void *from, size_t bytes)
{
    int error = pwr_single_copy_write(call->pids[local], to, from, bytes);
    return 0 == error ? OMPI_SUCCESS : OMPI_ERROR;
}
