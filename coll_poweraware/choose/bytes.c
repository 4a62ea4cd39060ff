/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bytes of calls of which each rank knows its own alone (choose/bytes.h).
 */
#include "choose/bytes.h"

#include "comm/state.h"

/* So that an Allreduce takes a small part of the calls: as long as one of them, where these are
   short and many ranks share CPUs. */
static uint64_t calls_until_next(size_t before, size_t bytes)
{
    enum { LONG = 256 * 1024, VERY_LONG = 4 * 1024 * 1024, SOON = 8 };
    uint64_t usual = bytes < LONG ? 64 : bytes < VERY_LONG ? 16 : 4;
    bool changes = pwr_size_class(before) != pwr_size_class(bytes);
    return changes && SOON < usual ? SOON : usual;
}

bool coll_poweraware_know_bytes(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                                int collective)
{
    coll_poweraware_bytes_t *bytes = &m->bytes[collective];
    bool known = PWR_BYTES_UNKNOWN != bytes->agreed;
    if (m->calls[collective] >= bytes->ask_at) {
        pwr_operation_set_up_begin(operation);
        size_t most = (size_t)coll_poweraware_most_of_all(m, operation->own_bytes);
        pwr_operation_set_up_end(operation);
        if (bytes->agreed != most) {
            m->choice_stays = false; /* this call's are the old ones */
        }
        bytes->ask_at = m->calls[collective] + calls_until_next(bytes->agreed, most);
        bytes->agreed = most;
    }
    return known;
}

uint32_t coll_poweraware_most_of_these_bytes(const mca_coll_poweraware_module_t *m, int collective,
                                             uint32_t calls)
{
    if (coll_poweraware_bytes_known[collective]) {
        return calls;
    }
    uint64_t asks_in = m->bytes[collective].ask_at - m->calls[collective];
    return asks_in > calls ? calls : (uint32_t)(asks_in - 1);
}
