/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What client and guardian say to each other over their socket pair.
 *
 *   1. client -> guardian  HELLO      root
 *      guardian -> client  READY      pid: the guardian's process id
 *   2. client -> guardian  REMEMBER   control, value: its original
 *                          ANNOUNCE   control, value: one of ours
 *      guardian -> client  CONFIRM    status
 *   3. client -> guardian  FAREWELL   all is restored: end without writing
 *      or the client's end closes (or the client dies): write the originals back and end
 *
 * SOCK_SEQPACKET keeps the message borders, so a message is whole or not there.
 */
#ifndef PWR_GUARD_WIRE_H
#define PWR_GUARD_WIRE_H

#include <limits.h>
#include <stdint.h>

#include "control/control.h"
#include "pwr/guard.h"

enum {
    PWR_GUARD_FD = 3,             /* the guardian's end of the pair */
    PWR_GUARD_MAGIC = 0x70776702, /* last byte: version of this protocol */
};

typedef enum pwr_guard_kind {
    PWR_GUARD_HELLO = 1,
    PWR_GUARD_READY,
    PWR_GUARD_REMEMBER,
    PWR_GUARD_ANNOUNCE,
    PWR_GUARD_CONFIRM,
    PWR_GUARD_FAREWELL
} pwr_guard_kind_t;

typedef struct pwr_guard_message {
    uint32_t magic;
    uint32_t kind;    /* pwr_guard_kind_t */
    uint32_t status;  /* of CONFIRM: pwr_status_t */
    int32_t pid;      /* of READY */
    uint32_t door;    /* place in pwr_doors */
    uint32_t control; /* pwr_control_kind_t */
    uint32_t cpu;
    uint64_t value;
    char root[PATH_MAX]; /* of HELLO */
} pwr_guard_message_t;

#endif
