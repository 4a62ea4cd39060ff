/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * From which block on the hardware obeyed.
 */
#include "config.h"

#include "tools/calibrate/calibrate.h"

/* One interrupted block looks slow; three in a row are no accident. */
enum { STEADY_BLOCKS = 3 };

/* Noise moves medians by a few percent; the smallest step of a lever worth having is 12.5 %. */
static const double visible_ratio = 1.12;

uint64_t calibrate_level(const calibrate_block_t *blocks, unsigned count,
                         calibrate_series_t *scratch)
{
    scratch->count = 0;
    for (unsigned i = 0; i < count; i++) {
        calibrate_series_add(scratch, blocks[i].took_ns);
    }
    return calibrate_series_median(scratch);
}

static bool is_visible(uint64_t before, uint64_t after)
{
    double slow = (double)(before > after ? before : after);
    double fast = (double)(before > after ? after : before);
    return slow > visible_ratio * fast;
}

bool calibrate_settling(const calibrate_block_t *blocks, unsigned count, uint64_t before,
                        uint64_t moved_ns, calibrate_series_t *scratch, uint64_t *settle_ns)
{
    uint64_t after = calibrate_level(blocks + count - count / 4, count / 4, scratch);
    if (!is_visible(before, after)) {
        return false;
    }
    unsigned steady = 0;
    for (unsigned i = 0; i < count; i++) {
        bool slow = 2 * blocks[i].took_ns >= before + after;
        steady = slow == (after > before) ? steady + 1 : 0;
        if (steady == STEADY_BLOCKS) {
            uint64_t begin = blocks[i + 1 - STEADY_BLOCKS].begin_ns;
            *settle_ns = begin > moved_ns ? begin - moved_ns : 0;
            return true;
        }
    }
    return false;
}
