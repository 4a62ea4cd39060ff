/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Kinds of traffic.
 *
 * Peers follow the shift pattern of PASCoL (Vishnu et al.): in step i every rank sends to me + i
 * and receives from me - i, so that each pair of ranks talks, itself included (step 0), and no
 * rank is everybody's target at once - except where that is the point (from_any).
 */
#include "config.h"

#include "traffic.h"
#include "windows.h"

#include <stdlib.h>

static int shifted(const pwr_load_t *load, int by)
{
    return (load->rank + by + load->np) % load->np;
}

static void shift(pwr_load_t *load, size_t size)
{
    for (int step = 0; step < load->np; step++) {
        int dest = shifted(load, step);
        int source = shifted(load, -step);
        unsigned serial = load->serial++;
        MPI_Status status;
        pwr_load_use(load, 1, size);
        void *out = pwr_load_outgoing(load, 0, size, dest, serial);
        void *in = pwr_load_incoming(load, 0, size, source, serial);
        MPI_Sendrecv(out, (int)size, MPI_BYTE, dest, pwr_load_tag(serial), in, (int)size, MPI_BYTE,
                     source, pwr_load_tag(serial), load->comm, &status);
        pwr_load_check_message(load, &status, source, serial, in, size);
        pwr_load_check_zones(load);
    }
}

/* Sends a window of messages, every other one synchronous (which never goes eagerly). */
static void start_window(pwr_load_t *load, size_t size, int dest, MPI_Request *requests)
{
    for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
        unsigned serial = load->serial + i;
        void *out = pwr_load_outgoing(load, i, size, dest, serial);
        if (i % 2 == 0) {
            MPI_Isend(out, (int)size, MPI_BYTE, dest, pwr_load_tag(serial), load->comm,
                      &requests[i]);
        } else {
            MPI_Issend(out, (int)size, MPI_BYTE, dest, pwr_load_tag(serial), load->comm,
                       &requests[i]);
        }
    }
}

static void window(pwr_load_t *load, size_t size)
{
    for (int step = 0; step < load->np; step++) {
        int source = shifted(load, -step);
        MPI_Request requests[2 * PWR_LOAD_WINDOW];
        MPI_Status statuses[2 * PWR_LOAD_WINDOW];
        pwr_load_use(load, PWR_LOAD_WINDOW, size);
        /* Receives are posted last message first: the tag decides, not the order. */
        for (unsigned i = PWR_LOAD_WINDOW; i-- > 0;) {
            unsigned serial = load->serial + i;
            void *in = pwr_load_incoming(load, i, size, source, serial);
            MPI_Irecv(in, (int)size, MPI_BYTE, source, pwr_load_tag(serial), load->comm,
                      &requests[i]);
        }
        start_window(load, size, shifted(load, step), requests + PWR_LOAD_WINDOW);
        MPI_Waitall(2 * PWR_LOAD_WINDOW, requests, statuses);
        for (unsigned i = 0; i < PWR_LOAD_WINDOW; i++) {
            pwr_load_check_message(load, &statuses[i], source, load->serial + i,
                                   load->recv.data + i * size, size);
        }
        pwr_load_check_zones(load);
        load->serial += PWR_LOAD_WINDOW;
    }
}

static void unexpected(pwr_load_t *load, size_t size)
{
    for (int step = 0; step < load->np; step++) {
        int source = shifted(load, -step);
        MPI_Request requests[PWR_LOAD_WINDOW];
        pwr_load_use(load, PWR_LOAD_WINDOW, size);
        start_window(load, size, shifted(load, step), requests);
        /* Messages (or the announcements of large ones) arrive before anybody asks for them. */
        MPI_Barrier(load->comm);
        for (unsigned i = PWR_LOAD_WINDOW; i-- > 0;) {
            unsigned serial = load->serial + i;
            MPI_Status status;
            void *in = pwr_load_incoming(load, i, size, source, serial);
            MPI_Recv(in, (int)size, MPI_BYTE, source, pwr_load_tag(serial), load->comm, &status);
            pwr_load_check_message(load, &status, source, serial, in, size);
        }
        MPI_Waitall(PWR_LOAD_WINDOW, requests, MPI_STATUSES_IGNORE);
        pwr_load_check_zones(load);
        load->serial += PWR_LOAD_WINDOW;
    }
}

/* Everybody sends to everybody, itself included; who comes first is open. */
static void from_any(pwr_load_t *load, size_t size)
{
    size_t np = (size_t)load->np;
    unsigned serial = load->serial++;
    MPI_Request *requests = calloc(np, sizeof *requests);
    bool *seen = calloc(np, sizeof *seen);
    if (!requests || !seen) {
        pwr_load_fail(load, "no memory for %zu requests", np);
    }
    pwr_load_use(load, np, size);
    for (int step = 0; step < load->np; step++) {
        int dest = shifted(load, step);
        void *out = pwr_load_outgoing(load, (size_t)dest, size, dest, serial);
        MPI_Isend(out, (int)size, MPI_BYTE, dest, pwr_load_tag(serial), load->comm,
                  &requests[dest]);
    }
    for (size_t i = 0; i < np; i++) {
        MPI_Status status;
        void *in = pwr_load_incoming(load, i, size, (int)i, serial);
        MPI_Recv(in, (int)size, MPI_BYTE, MPI_ANY_SOURCE, pwr_load_tag(serial), load->comm,
                 &status);
        int source = status.MPI_SOURCE;
        if (source < 0 || source >= load->np || seen[source]) {
            pwr_load_fail(load, "message %u of %zu bytes: a second one from rank %d", serial, size,
                          source);
        }
        seen[source] = true;
        pwr_load_check_message(load, &status, source, serial, in, size);
    }
    MPI_Waitall(load->np, requests, MPI_STATUSES_IGNORE);
    pwr_load_check_zones(load);
    free(seen);
    free(requests);
}

/* A message whose length only the probe tells: message i of a step is i bytes shorter. */
static void receive_probed(pwr_load_t *load, unsigned i, int source, size_t size)
{
    unsigned serial = load->serial + i;
    size_t length = size - (i < size ? i : size);
    MPI_Status status;
    int count;
    void *in = pwr_load_incoming(load, i, size, source, serial);
    if (i % 2 == 0) {
        MPI_Message message;
        MPI_Mprobe(source, pwr_load_tag(serial), load->comm, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Mrecv(in, count, MPI_BYTE, &message, &status);
    } else {
        MPI_Probe(MPI_ANY_SOURCE, pwr_load_tag(serial), load->comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, load->comm, &status);
    }
    pwr_load_check_message(load, &status, source, serial, in, length);
}

static void probe(pwr_load_t *load, size_t size)
{
    enum { MESSAGES = 4 };
    for (int step = 0; step < load->np; step++) {
        int dest = shifted(load, step);
        MPI_Request requests[MESSAGES];
        pwr_load_use(load, MESSAGES, size);
        for (unsigned i = 0; i < MESSAGES; i++) {
            unsigned serial = load->serial + i;
            size_t length = size - (i < size ? i : size);
            void *out = pwr_load_outgoing(load, i, size, dest, serial);
            MPI_Isend(out, (int)length, MPI_BYTE, dest, pwr_load_tag(serial), load->comm,
                      &requests[i]);
        }
        for (unsigned i = 0; i < MESSAGES; i++) {
            receive_probed(load, i, shifted(load, -step), size);
        }
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
        pwr_load_check_zones(load);
        load->serial += MESSAGES;
    }
}

/* Layout of strided messages: BLOCK bytes of data, a gap up to STRIDE, and so on. */
enum { BLOCK = 7, STRIDE = 16 };

/* What the gaps of the receive buffer hold before and must hold after: by position in the buffer.
 */
static pwr_pattern_t gap_pattern(const pwr_load_t *load)
{
    return pwr_pattern(load->rank, -1, load->serial);
}

static void check_strided(pwr_load_t *load, int source, size_t blocks, const unsigned char *in)
{
    pwr_mismatch_t wrong;
    for (size_t i = 0; i < blocks; i++) {
        size_t gap = i * STRIDE + BLOCK;
        pwr_load_check_bytes(load, source, load->serial, blocks * BLOCK, i * BLOCK, in + i * STRIDE,
                             BLOCK);
        if (!pwr_pattern_check(gap_pattern(load), gap, in + gap, STRIDE - BLOCK, &wrong)) {
            pwr_load_fail(load,
                          "message %u from rank %d, %zu bytes: gap at buffer byte %zu: expected "
                          "0x%02x, found 0x%02x",
                          load->serial, source, blocks * BLOCK, wrong.position, wrong.expected,
                          wrong.found);
        }
    }
    load->checks++;
}

/* Contiguous data into a strided buffer. */
static void scatter_step(pwr_load_t *load, size_t blocks, int step, MPI_Datatype strided)
{
    int dest = shifted(load, step);
    int source = shifted(load, -step);
    int tag = pwr_load_tag(load->serial);
    int size = (int)blocks * BLOCK;
    pwr_load_use(load, blocks, STRIDE);
    void *out = pwr_load_outgoing(load, 0, (size_t)size, dest, load->serial);
    unsigned char *in = load->recv.data;
    pwr_pattern_fill(gap_pattern(load), 0, in, blocks * STRIDE);
    MPI_Sendrecv(out, size, MPI_BYTE, dest, tag, in, 1, strided, source, tag, load->comm,
                 MPI_STATUS_IGNORE);
    check_strided(load, source, blocks, in);
    pwr_load_check_zones(load);
    load->serial++;
}

/* Strided data into a contiguous buffer. */
static void gather_step(pwr_load_t *load, size_t blocks, int step, MPI_Datatype strided)
{
    int dest = shifted(load, step);
    int source = shifted(load, -step);
    int tag = pwr_load_tag(load->serial);
    size_t size = blocks * BLOCK;
    MPI_Status status;
    pwr_load_use(load, blocks, STRIDE);
    unsigned char *out = load->send.data;
    pwr_pattern_fill(gap_pattern(load), 0, out, blocks * STRIDE);
    for (size_t i = 0; i < blocks; i++) {
        pwr_pattern_fill(pwr_pattern(load->rank, dest, load->serial), i * BLOCK, out + i * STRIDE,
                         BLOCK);
    }
    void *in = pwr_load_incoming(load, 0, size, source, load->serial);
    MPI_Sendrecv(out, 1, strided, dest, tag, in, (int)size, MPI_BYTE, source, tag, load->comm,
                 &status);
    pwr_load_check_message(load, &status, source, load->serial, in, size);
    pwr_load_check_zones(load);
    load->serial++;
}

static void strided(pwr_load_t *load, size_t size)
{
    size_t blocks = (size + BLOCK - 1) / BLOCK;
    MPI_Datatype type;
    MPI_Type_vector((int)blocks, BLOCK, STRIDE, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int step = 0; step < load->np; step++) {
        scatter_step(load, blocks, step, type);
        gather_step(load, blocks, step, type);
    }
    MPI_Type_free(&type);
}

const pwr_traffic_t pwr_traffics[] = {
    {"shift", "send to me + i and receive from me - i at once, for every i", shift},
    {"window", "8 messages in flight each way, half of them synchronous, received by tag", window},
    {"unexpected", "8 messages that arrive before their receives are posted", unexpected},
    {"from_any", "everybody to everybody, received from any source", from_any},
    {"probe", "messages whose length only a probe tells", probe},
    {"strided", "blocks of 7 bytes every 16 bytes; the gaps must stay as they are", strided},
    {"put", "8 puts into a window to me + i, for every i, between fences", pwr_windows_put},
    {"get", "8 gets from it, between post, start, complete and wait", pwr_windows_get},
    {"accumulate", "8 accumulates into it under a lock, with flushes and requests",
     pwr_windows_accumulate},
};

const size_t pwr_traffic_count = sizeof pwr_traffics / sizeof pwr_traffics[0];
