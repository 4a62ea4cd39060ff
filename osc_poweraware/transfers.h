/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is under way from this process to the targets of a window, and how long it will be
 * (pwr/transfer.h): so much at least the next call that completes it will wait.
 *
 * Targets that are a multiple of TARGETS apart share what is known, so that a window of 100,000
 * ranks needs no more memory than others.
 */
#ifndef OSC_POWERAWARE_TRANSFERS_H
#define OSC_POWERAWARE_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/transfer.h"

enum {
    OSC_POWERAWARE_TARGETS = 64,
    OSC_POWERAWARE_ALL_TARGETS = -1, /* of a call */
    OSC_POWERAWARE_NO_TARGET = -2
};

/* To some targets. */
typedef struct osc_poweraware_transfer {
    pwr_transfer_costs_t costs;
    uint64_t bytes;    /* under way */
    uint64_t first_ns; /* since then; 0: nothing is */
} osc_poweraware_transfer_t;

/* Zeroed memory: nothing is under way. */
typedef struct osc_poweraware_transfers {
    osc_poweraware_transfer_t of[OSC_POWERAWARE_TARGETS];
    osc_poweraware_transfer_t all;
} osc_poweraware_transfers_t;

/* target: a rank of the window's group. */
void osc_poweraware_transfer_begins(osc_poweraware_transfers_t *transfers, int target,
                                    uint64_t bytes, uint64_t now_ns);
/* What a call that completes those to target, or to all, has to wait for: bytes, and how long it
   will be (0: not known; 1: it should be over). */
typedef struct osc_poweraware_rest {
    uint64_t bytes;
    uint64_t ns;
} osc_poweraware_rest_t;
osc_poweraware_rest_t osc_poweraware_transfers_rest(const osc_poweraware_transfers_t *transfers,
                                                    int target, uint64_t now_ns);
/* They are complete.  learns: the call has waited for nothing else, such as a target that came
   late. */
void osc_poweraware_transfers_end(osc_poweraware_transfers_t *transfers, int target, bool learns,
                                  uint64_t now_ns);

#endif
