/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The frames on their way to one port: each is due after the latency and after its predecessors.
 */
#include "config.h"

#include "delay_queue.h"

#include <stdlib.h>
#include <string.h>

static bool is_empty(const struct pwr_delay_queue *queue)
{
    return queue->first == queue->end;
}

void pwr_delay_queue_init(struct pwr_delay_queue *queue, double rate_mbit)
{
    queue->ns_per_byte = rate_mbit > 0 ? 8000.0 / rate_mbit : 0.0;
}

bool pwr_delay_queue_push(struct pwr_delay_queue *queue, const void *bytes, size_t length,
                          int64_t earliest_ns)
{
    bool full = queue->end - queue->first == PWR_DELAY_QUEUE_FRAMES ||
                length > PWR_DELAY_QUEUE_BYTES - queue->bytes;
    unsigned char *copy = full ? NULL : malloc(length);
    if (copy == NULL) {
        queue->dropped++;
        return false;
    }
    memcpy(copy, bytes, length);

    int64_t start_ns = queue->free_at_ns > earliest_ns ? queue->free_at_ns : earliest_ns;
    queue->free_at_ns = start_ns + (int64_t)((double)length * queue->ns_per_byte);
    queue->bytes += length;
    queue->frames[queue->end++ % PWR_DELAY_QUEUE_FRAMES] =
        (struct pwr_frame){.due_ns = queue->free_at_ns, .length = length, .bytes = copy};
    return true;
}

int64_t pwr_delay_queue_next_due(const struct pwr_delay_queue *queue)
{
    return is_empty(queue) ? -1 : queue->frames[queue->first % PWR_DELAY_QUEUE_FRAMES].due_ns;
}

const struct pwr_frame *pwr_delay_queue_due(const struct pwr_delay_queue *queue, int64_t now_ns)
{
    const struct pwr_frame *frame = &queue->frames[queue->first % PWR_DELAY_QUEUE_FRAMES];
    return is_empty(queue) || frame->due_ns > now_ns ? NULL : frame;
}

void pwr_delay_queue_pop(struct pwr_delay_queue *queue)
{
    struct pwr_frame *frame = &queue->frames[queue->first++ % PWR_DELAY_QUEUE_FRAMES];
    queue->bytes -= frame->length;
    free(frame->bytes);
}
