/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What every kind of traffic needs: ranks, buffers cut into slots, numbered and verified messages.
 */
#ifndef PWR_LOAD_H
#define PWR_LOAD_H

#include <mpi.h>

#include "pwr_verify/buffer.h"
#include "pwr_verify/pattern.h"

enum {
    PWR_LOAD_WINDOW = 8,        /* messages in flight to one peer */
    PWR_LOAD_SIZE_MAX = 1 << 20 /* bytes; odd sizes go a little beyond, see sizes in transports.c */
};

/* All ranks do the same things in the same order, so serial is the same everywhere and numbers
   each message: it is its MPI tag and makes its bytes differ from every other's. */
typedef struct pwr_load {
    MPI_Comm comm;
    int np;
    int rank;
    const char *traffic; /* for messages to the user */
    unsigned serial;
    unsigned long checks; /* messages verified by this rank */
    pwr_buffer_t send;
    pwr_buffer_t recv;
} pwr_load_t;

int pwr_load_tag(unsigned serial);

/* Both buffers hold count slots of size bytes from now on (guard zones directly behind them). */
void pwr_load_use(pwr_load_t *load, size_t count, size_t size);

/* Slot index of the send buffer, filled with the message serial to dest. */
void *pwr_load_outgoing(pwr_load_t *load, size_t index, size_t size, int dest, unsigned serial);

/* Slot index of the receive buffer, every byte other than the message serial from source has. */
void *pwr_load_incoming(pwr_load_t *load, size_t index, size_t size, int source, unsigned serial);

/* Each of these ends the job at the first thing that is wrong, with one line that says what. */

/* data[size] is bytes first .. first + size - 1 of the message of total bytes. */
void pwr_load_check_bytes(pwr_load_t *load, int source, unsigned serial, size_t total, size_t first,
                          const void *data, size_t size);
/* The status of a receive, and the whole message. */
void pwr_load_check_message(pwr_load_t *load, const MPI_Status *status, int source, unsigned serial,
                            const void *data, size_t size);
/* Nothing was written outside of the slots. */
void pwr_load_check_zones(pwr_load_t *load);
void pwr_load_fail(const pwr_load_t *load, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
