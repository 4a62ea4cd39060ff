/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The processes that the shared-memory btl reaches, by their endpoints in it.
 *
 * They are looked up for each message, and come and go with MPI_Init and MPI_Finalize only: an
 * array and a hash of it, both of fixed length.
 */
#ifndef PWR_OMPI_DOORBELL_PEERS_H
#define PWR_OMPI_DOORBELL_PEERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr_ompi/bell.h"

typedef struct pwr_peer {
    const void *endpoint;
    pwr_ringer_t ringer; /* without a page: it has no bell that we could ring */
    bool rings;          /* it has told its number: it may ring ours */
    bool rings_always;   /* and not for collectives only */
    uint32_t number;
    _Atomic bool sent; /* what it gives back, since we asked last */
    _Atomic bool asks; /* between A3 and A5 of bell.h */
} pwr_peer_t;

/* Zeroed: none, and no room. */
typedef struct pwr_peers {
    pwr_peer_t *all;
    size_t count;
    size_t room;
    uint16_t *index;     /* hash of an endpoint -> 1 + its place in all; 0: none */
    unsigned index_bits; /* log2 of its length */
} pwr_peers_t;

/* False: out of memory, or more than an index can tell apart. */
bool pwr_peers_make_room(pwr_peers_t *peers, size_t room);
/* Closes their ringers. */
void pwr_peers_free(pwr_peers_t *peers);
/* In place of another with this endpoint, if there is one.  NULL: no room.  Moves others. */
pwr_peer_t *pwr_peers_add(pwr_peers_t *peers, const void *endpoint);
void pwr_peers_remove(pwr_peers_t *peers, const void *endpoint);

static inline size_t pwr_peers_first_slot(const pwr_peers_t *peers, const void *endpoint)
{
    return (size_t)(((uint64_t)(uintptr_t)endpoint * UINT64_C(0x9E3779B97F4A7C15)) >>
                    (64 - peers->index_bits));
}

static inline size_t pwr_peers_next_slot(const pwr_peers_t *peers, size_t slot)
{
    return (slot + 1) & (((size_t)1 << peers->index_bits) - 1);
}

/* NULL: it is not there.  Only after pwr_peers_make_room. */
static inline pwr_peer_t *pwr_peers_find(const pwr_peers_t *peers, const void *endpoint)
{
    size_t slot = pwr_peers_first_slot(peers, endpoint);
    for (; 0 != peers->index[slot]; slot = pwr_peers_next_slot(peers, slot)) {
        pwr_peer_t *peer = &peers->all[peers->index[slot] - 1];
        if (endpoint == peer->endpoint) {
            return peer;
        }
    }
    return NULL;
}

#endif
