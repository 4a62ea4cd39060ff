/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The frames on their way to one port: each is due after the latency and after its predecessors.
 */
#ifndef PWR_DELAY_QUEUE_H
#define PWR_DELAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds: whichever is reached first drops the newcomer, as a switch does.  16 MiB hold 10 Gbit/s
   for 13 ms. */
#define PWR_DELAY_QUEUE_FRAMES 8192U /* a power of two */
#define PWR_DELAY_QUEUE_BYTES (16U << 20)

struct pwr_frame {
    int64_t due_ns; /* CLOCK_MONOTONIC */
    size_t length;
    unsigned char *bytes;
};

struct pwr_delay_queue {
    struct pwr_frame frames[PWR_DELAY_QUEUE_FRAMES];
    unsigned first;     /* counts up for ever; modulo PWR_DELAY_QUEUE_FRAMES an index */
    unsigned end;       /* one past the last */
    size_t bytes;       /* held at present */
    int64_t free_at_ns; /* the line is busy with earlier frames until then */
    double ns_per_byte; /* 0: an infinitely fast line */
    uint64_t dropped;   /* refused by push; the caller adds its own */
};

/* Starts empty on zeroed memory.  rate_mbit 0: no limit. */
void pwr_delay_queue_init(struct pwr_delay_queue *queue, double rate_mbit);

/* Copies a frame that may leave at earliest_ns or later; false when it had to be dropped. */
bool pwr_delay_queue_push(struct pwr_delay_queue *queue, const void *bytes, size_t length,
                          int64_t earliest_ns);

/* When the first frame is due, or -1 with none there. */
int64_t pwr_delay_queue_next_due(const struct pwr_delay_queue *queue);

/* The first frame, if it is due at now_ns, or NULL.  Valid until pop. */
const struct pwr_frame *pwr_delay_queue_due(const struct pwr_delay_queue *queue, int64_t now_ns);

/* Removes the first frame; there must be one. */
void pwr_delay_queue_pop(struct pwr_delay_queue *queue);

#endif
