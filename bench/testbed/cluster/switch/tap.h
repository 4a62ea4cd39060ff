/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * TAP devices in the network namespaces of other processes.
 */
#ifndef PWR_TAP_H
#define PWR_TAP_H

#include <sys/types.h>

#define PWR_TAP_MTU 16000 /* fewer, larger frames: each costs two system calls here */
#define PWR_TAP_FRAME_BYTES (PWR_TAP_MTU + 18) /* Ethernet header and a VLAN tag */

/* Makes a TAP device of this name in the network namespace of pid, with the hardware address
   pwr_tap_address gives for index.  Returns its non-blocking descriptor, or -1 after a message on
   stderr.  Leaves the caller in that namespace.  The device goes away with the descriptor. */
int pwr_tap_open(pid_t pid, const char *name, unsigned index);

/* The index a hardware address was made from, or -1 for any other address. */
int pwr_tap_index(const unsigned char address[6]);

#endif
