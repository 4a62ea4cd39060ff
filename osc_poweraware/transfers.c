/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is under way to the targets of a window (transfers.h).
 */
#include "transfers.h"

static void begin(osc_poweraware_transfer_t *transfer, uint64_t bytes, uint64_t now_ns)
{
    if (0 == transfer->first_ns) {
        transfer->first_ns = now_ns;
    }
    transfer->bytes += bytes;
}

static int index_of(int target)
{
    return target % OSC_POWERAWARE_TARGETS;
}

void osc_poweraware_transfer_begins(osc_poweraware_transfers_t *t, int target, uint64_t bytes,
                                    uint64_t now_ns)
{
    begin(&t->of[index_of(target)], bytes, now_ns);
    begin(&t->all, bytes, now_ns);
}

osc_poweraware_rest_t osc_poweraware_transfers_rest(const osc_poweraware_transfers_t *t, int target,
                                                    uint64_t now_ns)
{
    const osc_poweraware_transfer_t *transfer =
        OSC_POWERAWARE_ALL_TARGETS == target ? &t->all : &t->of[index_of(target)];
    if (0 == transfer->first_ns) {
        return (osc_poweraware_rest_t){0, 0};
    }
    uint64_t ns =
        pwr_transfer_remaining_ns(&transfer->costs, transfer->bytes, now_ns - transfer->first_ns);
    bool known = 0 != pwr_transfer_expected_ns(&transfer->costs, transfer->bytes);
    return (osc_poweraware_rest_t){transfer->bytes, known && 0 == ns ? 1 : ns};
}

static void end(osc_poweraware_transfer_t *transfer, bool learns, uint64_t now_ns)
{
    if (learns && 0 != transfer->first_ns) {
        pwr_transfer_took(&transfer->costs, transfer->bytes, now_ns - transfer->first_ns);
    }
    transfer->bytes = transfer->first_ns = 0;
}

void osc_poweraware_transfers_end(osc_poweraware_transfers_t *t, int target, bool learns,
                                  uint64_t now_ns)
{
    if (OSC_POWERAWARE_ALL_TARGETS == target) {
        for (int i = 0; i < OSC_POWERAWARE_TARGETS; ++i) {
            end(&t->of[i], false, now_ns); /* how long each of them took is not known */
        }
        end(&t->all, learns, now_ns);
        return;
    }
    osc_poweraware_transfer_t *one = &t->of[index_of(target)];
    t->all.bytes -= one->bytes < t->all.bytes ? one->bytes : t->all.bytes;
    if (0 == t->all.bytes) {
        t->all.first_ns = 0;
    }
    end(one, learns, now_ns);
}
