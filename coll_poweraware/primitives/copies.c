/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies between the memory of two ranks of a node: by the kernel, or by the other rank itself
 * where the kernel refuses (pwr_ompi/owner_copy.h).
 */
#include "primitives/primitives.h"

#include <stdlib.h>
#include <string.h>

#include "pwr_ompi/process.h"

static void wait_for_owner(const void *call, pwr_flag_t *flag, uint32_t target)
{
    coll_poweraware_wait(call, PWR_SITE_SLOT_FILLED, flag, target);
}

/* All of it: what the kernel has copied before it refused does not count. */
static void ask_owner(const coll_poweraware_call_t *call, int local, bool to_owner, void *here,
                      uint64_t there, size_t bytes, int error)
{
    pwr_owner_copy_t *owner_copy = &call->segment->control->owner_copy;
    if (pwr_owner_copy_refuse(owner_copy)) {
        pwr_say(2, "no single copy with rank %d on this node any more: %s",
                call->hierarchy->local_ranks[local], strerror(error));
    }
    pwr_owner_copy_ask(owner_copy, local, to_owner, here, there, bytes, wait_for_owner, call);
}

void coll_poweraware_read(const coll_poweraware_call_t *call, int local, void *to, uint64_t from,
                          size_t bytes)
{
    int error = pwr_single_copy_read(call->pids[local], to, from, bytes);
    if (0 != error) {
        ask_owner(call, local, false, to, from, bytes, error);
    }
}

void coll_poweraware_write(const coll_poweraware_call_t *call, int local, uint64_t to,
                           const void *from, size_t bytes)
{
    int error = pwr_single_copy_write(call->pids[local], to, from, bytes);
    if (0 != error) {
        ask_owner(call, local, true, (void *)from, to, bytes, error);
    }
}

bool coll_poweraware_single_copy_refused(const coll_poweraware_call_t *call)
{
    return pwr_owner_copy_refused(&call->segment->control->owner_copy);
}

void coll_poweraware_end_single_copy(coll_poweraware_call_t *call)
{
    free(call->pids);
    call->pids = NULL;
}
