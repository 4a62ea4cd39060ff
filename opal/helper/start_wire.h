/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What poweraware-start says to its client.
 *
 *   1. STARTED   value: process id of the program that is its argument
 *   2. FAILED    value: errno of execve, instead of the program
 *
 * The two may come in either order.  The program itself keeps the socket open: its end says that
 * the program, and all that it forked, are gone.
 */
#ifndef PWR_START_WIRE_H
#define PWR_START_WIRE_H

#include <stdint.h>

enum { PWR_START_MAGIC = 0x70777301 }; /* last byte: version of this protocol */

typedef enum pwr_start_kind { PWR_START_STARTED = 1, PWR_START_FAILED } pwr_start_kind_t;

typedef struct pwr_start_message {
    uint32_t magic;
    uint32_t kind; /* pwr_start_kind_t */
    int32_t value;
} pwr_start_message_t;

#endif
