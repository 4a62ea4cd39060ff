/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What client and guardian say to each other over their socket pair.
 *
 *   1. client -> guardian  HELLO      root, run-time directory, job; journal: "" for a new one
 *      guardian -> client  READY      status, pid, journal: it is on disk; or the reason why not
 *   2. client -> guardian  REMEMBER   control, value: its original
 *                          ANNOUNCE   control, value: one of ours
 *                          ASK        control: has it been put back while the client was stopped,
 *                                     since this was last asked?
 *      guardian -> client  CONFIRM    status: it is in the journal (ASK: FOREIGN means no); or
 *                                     cause: errno of writing there
 *   3. client -> guardian  FAREWELL   all is restored: remove the journal and end
 *      or the client's end closes (or the client dies): write the originals back and end
 *
 * SOCK_SEQPACKET keeps the message borders, so a message is whole or not there.
 */
#ifndef PWR_GUARD_WIRE_H
#define PWR_GUARD_WIRE_H

#include <limits.h>
#include <stdint.h>

#include "guard/journal.h"

enum {
    PWR_GUARD_MAGIC = 0x70776704, /* last byte: version of this protocol */
    PWR_GUARD_NAME_BYTES = NAME_MAX + 1,
    PWR_GUARD_REASON_BYTES = 512
};

typedef enum pwr_guard_kind {
    PWR_GUARD_HELLO = 1,
    PWR_GUARD_READY,
    PWR_GUARD_REMEMBER,
    PWR_GUARD_ANNOUNCE,
    PWR_GUARD_ASK,
    PWR_GUARD_CONFIRM,
    PWR_GUARD_FAREWELL
} pwr_guard_kind_t;

typedef struct pwr_guard_hello {
    uint32_t magic;
    uint32_t kind;
    char root[PATH_MAX];
    char directory[PATH_MAX]; /* full name */
    char job[PWR_JOB_BYTES];
    char journal[PWR_GUARD_NAME_BYTES]; /* to take over */
} pwr_guard_hello_t;

typedef struct pwr_guard_ready {
    uint32_t magic;
    uint32_t kind;
    uint32_t status; /* pwr_status_t */
    int32_t pid;
    char journal[PWR_GUARD_NAME_BYTES];
    char reason[PWR_GUARD_REASON_BYTES];
} pwr_guard_ready_t;

/* REMEMBER, ANNOUNCE, ASK and FAREWELL. */
typedef struct pwr_guard_tell {
    uint32_t magic;
    uint32_t kind;
    uint32_t access;  /* place in pwr_accesses */
    uint32_t control; /* pwr_control_kind_t */
    uint32_t cpu;
    uint32_t zero; /* instead of padding, which would carry bytes of the client's stack */
    uint64_t value;
} pwr_guard_tell_t;

typedef struct pwr_guard_confirm {
    uint32_t magic;
    uint32_t kind;
    uint32_t status; /* pwr_status_t */
    int32_t cause;   /* errno, or 0 */
} pwr_guard_confirm_t;

#endif
