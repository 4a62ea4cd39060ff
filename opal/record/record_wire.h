/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Between a node's leader and its recorder (private to the library): a head, then its bytes in
 * pieces, over the socket of helper/helper.h.
 *
 *   leader                        recorder
 *   START (env's root)  ->                 reads energy counters from here on
 *   ABOUT (JSON)        ->
 *   FACTS (JSON)        ->                 at any time after that
 *   LEDGER              ->
 *                       <-        LEDGER (packed, of the node)
 *   DOCUMENT (packed,   ->
 *     of the job)
 *                       <-        DOCUMENT (summary; status and reason if it could not be written)
 *   FAREWELL            ->
 */
#ifndef PWR_RECORD_WIRE_H
#define PWR_RECORD_WIRE_H

#include <stdint.h>

#include "pwr/env.h"

enum {
    PWR_RECORD_MAGIC = 0x70777203, /* last byte: version of this protocol */
    PWR_RECORD_PIECE = 32768,
    PWR_RECORD_REASON = 512,
};

typedef enum pwr_record_kind {
    PWR_RECORD_START = 1,
    PWR_RECORD_ABOUT,
    PWR_RECORD_FACTS,
    PWR_RECORD_LEDGER,
    PWR_RECORD_DOCUMENT,
    PWR_RECORD_FAREWELL
} pwr_record_kind_t;

typedef struct pwr_record_head {
    uint32_t magic;
    uint32_t kind;
    uint64_t bytes;
    char reason[PWR_RECORD_REASON]; /* what went wrong; "": nothing */
} pwr_record_head_t;

/* Sends head->bytes from data behind the head.  Errors: IO. */
pwr_status_t pwr_record_send(int fd, const pwr_record_head_t *head, const void *data);
/* Receives a message of any kind; *data[head->bytes] and a 0 behind it is to be freed.  Errors:
   TIMEOUT (between two pieces), IO (the other end is gone, or it is no such message), NOMEM. */
pwr_status_t pwr_record_receive(const pwr_env_t *env, int fd, uint64_t timeout_ns,
                                pwr_record_head_t *head, void **data);

#endif
