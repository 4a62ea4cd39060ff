/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Copies that the kernel refuses (single_copy.h): their memory's owner makes them.
 *
 * A process may become undumpable, or have memory that no other process reaches (memfd_secret, a
 * device's), long after single copy was found to work.  It always reaches its own memory.
 *
 * 1. Who wants a copy takes a turn: one rank of the node asks at a time.
 * 2. Piece by piece it says what is to be copied, with the bytes if they go to the owner, and names
 *    the owner.
 * 3. The owner looks for its name whenever it waits, copies, takes the name away and says so.
 * 4. The next one's turn.
 *
 * Who waits for its turn or its piece is an owner, too, and serves meanwhile: so nobody waits in a
 * circle.  An owner must not leave while others may copy from or to its memory, which holds for
 * single copy anyway.
 */
#ifndef PWR_OMPI_OWNER_COPY_H
#define PWR_OMPI_OWNER_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/wait.h"

enum { PWR_OWNER_COPY_BYTES = 16 * 1024 }; /* of a piece */

/* Shared, once per node; zeroed memory. */
typedef struct pwr_owner_copy {
    _Atomic uint32_t owner;   /* 1 + the local rank that is asked; 0: nobody */
    _Atomic uint32_t refused; /* not 0: the kernel has refused a copy */
    pwr_flag_t turn;          /* how many are over */
    pwr_flag_t done;          /* pieces that owners have copied */
    _Atomic uint32_t turns;   /* how many were taken */
    bool to_owner;
    uint64_t address; /* in the owner's memory */
    size_t bytes;
    unsigned char data[PWR_OWNER_COPY_BYTES];
} pwr_owner_copy_t;

/* Waits until flag reaches target, and serves others meanwhile. */
typedef void (*pwr_owner_copy_wait_fn_t)(const void *who, pwr_flag_t *flag, uint32_t target);

/* 1 to 4: between memory here and what local rank owner has there.  wait is called with who. */
void pwr_owner_copy_ask(pwr_owner_copy_t *copy, int owner, bool to_owner, void *here,
                        uint64_t there, size_t bytes, pwr_owner_copy_wait_fn_t wait,
                        const void *who);

/* 3. */
void pwr_owner_copy_make(pwr_owner_copy_t *copy);
/* Returns whether my_local was asked. */
static inline bool pwr_owner_copy_serve(pwr_owner_copy_t *copy, int my_local)
{
    /* Pairs with the release in ask. */
    if ((uint32_t)my_local + 1 != atomic_load_explicit(&copy->owner, memory_order_acquire)) {
        return false;
    }
    pwr_owner_copy_make(copy);
    return true;
}

static inline bool pwr_owner_copy_refused(const pwr_owner_copy_t *copy)
{
    return 0 != atomic_load_explicit(&copy->refused, memory_order_relaxed);
}
/* Returns whether that is new to this node. */
static inline bool pwr_owner_copy_refuse(pwr_owner_copy_t *copy)
{
    return 0 == atomic_exchange_explicit(&copy->refused, 1, memory_order_relaxed);
}

#endif
