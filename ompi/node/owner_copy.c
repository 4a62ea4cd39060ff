/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies that the kernel refuses (protocol: pwr_ompi/owner_copy.h).
 */
#include "pwr_ompi/owner_copy.h"

#include <string.h>

/* 2. */
static void ask_for_piece(pwr_owner_copy_t *c, int owner, unsigned char *here, uint64_t there,
                          size_t bytes, pwr_owner_copy_wait_fn_t wait, const void *who)
{
    if (c->to_owner) {
        memcpy(c->data, here, bytes);
    }
    c->address = there;
    c->bytes = bytes;
    uint32_t done = atomic_load_explicit(&c->done.value, memory_order_relaxed) + 1;
    atomic_store_explicit(&c->owner, (uint32_t)owner + 1, memory_order_release);
    wait(who, &c->done, done);
    if (!c->to_owner) {
        memcpy(here, c->data, bytes);
    }
}

void pwr_owner_copy_ask(pwr_owner_copy_t *c, int owner, bool to_owner, void *here, uint64_t there,
                        size_t bytes, pwr_owner_copy_wait_fn_t wait, const void *who)
{
    uint32_t turn = atomic_fetch_add_explicit(&c->turns, 1, memory_order_relaxed);
    wait(who, &c->turn, turn); /* 1 */
    c->to_owner = to_owner;
    for (size_t done = 0; done < bytes; done += PWR_OWNER_COPY_BYTES) {
        size_t left = bytes - done;
        ask_for_piece(c, owner, (unsigned char *)here + done, there + done,
                      left < PWR_OWNER_COPY_BYTES ? left : PWR_OWNER_COPY_BYTES, wait, who);
    }
    pwr_flag_set(&c->turn, turn + 1); /* 4 */
}

void pwr_owner_copy_make(pwr_owner_copy_t *c)
{
    void *mine = (void *)(uintptr_t)c->address;
    if (c->to_owner) {
        memcpy(mine, c->data, c->bytes);
    } else {
        memcpy(c->data, mine, c->bytes);
    }
    atomic_store_explicit(&c->owner, 0, memory_order_relaxed);
    pwr_flag_set(&c->done, atomic_load_explicit(&c->done.value, memory_order_relaxed) + 1);
}
