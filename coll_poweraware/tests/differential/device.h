/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Buffers in the memory of a GPU: what MPI is given is a copy there of what the tester has.
 */
#ifndef DIFF_DEVICE_H
#define DIFF_DEVICE_H

#include "call.h"

/* Loads libcuda.so.1, as a program does that has its first need of a GPU.  Exits where there is
   none.  all: of buffers, else some. */
void diff_device_open(bool all);

typedef struct diff_device {
    unsigned long long memory[2]; /* of each side; 0: memory of the CPU */
} diff_device_t;

/* Draws which buffers of a call go there, and puts them into its arguments.  Nothing, unless
 * opened. */
void diff_device_enter(diff_device_t *device, diff_call_t *call);
/* All bytes come back. */
void diff_device_leave(diff_device_t *device, diff_call_t *call);

#endif
