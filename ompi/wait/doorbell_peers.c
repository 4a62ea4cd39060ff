/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The processes that the shared-memory btl reaches: coming and going.
 */
#include "doorbell_peers.h"

#include <stdlib.h>
#include <string.h>

bool pwr_peers_make_room(pwr_peers_t *peers, size_t room)
{
    *peers = (pwr_peers_t){.room = room, .index_bits = 2};
    /* at most a quarter is in use: most endpoints are found at once */
    while ((size_t)1 << peers->index_bits < 4 * room) {
        ++peers->index_bits;
    }
    peers->all = calloc(room, sizeof *peers->all);
    peers->index = calloc((size_t)1 << peers->index_bits, sizeof *peers->index);
    if (room >= UINT16_MAX || NULL == peers->all || NULL == peers->index) {
        pwr_peers_free(peers);
        return false;
    }
    return true;
}

void pwr_peers_free(pwr_peers_t *peers)
{
    while (peers->count > 0) {
        pwr_ringer_close(&peers->all[--peers->count].ringer);
    }
    free(peers->all);
    free(peers->index);
    *peers = (pwr_peers_t){0};
}

static void index_all(pwr_peers_t *peers)
{
    memset(peers->index, 0, sizeof *peers->index << peers->index_bits);
    for (size_t i = 0; i < peers->count; ++i) {
        size_t slot = pwr_peers_first_slot(peers, peers->all[i].endpoint);
        while (0 != peers->index[slot]) {
            slot = pwr_peers_next_slot(peers, slot);
        }
        peers->index[slot] = (uint16_t)(i + 1);
    }
}

void pwr_peers_remove(pwr_peers_t *peers, const void *endpoint)
{
    pwr_peer_t *peer = pwr_peers_find(peers, endpoint);
    if (NULL != peer) {
        pwr_peer_t *last = &peers->all[--peers->count];
        pwr_ringer_close(&peer->ringer);
        if (peer != last) {
            memcpy(peer, last, sizeof *peer);
        }
        index_all(peers);
    }
}

pwr_peer_t *pwr_peers_add(pwr_peers_t *peers, const void *endpoint)
{
    pwr_peers_remove(peers, endpoint);
    if (peers->count == peers->room) {
        return NULL;
    }
    pwr_peer_t *peer = &peers->all[peers->count++];
    memset(peer, 0, sizeof *peer);
    peer->endpoint = endpoint;
    peer->ringer.pipe = -1;
    index_all(peers);
    return peer;
}
