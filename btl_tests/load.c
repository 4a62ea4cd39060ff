/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Slots, and verification of messages.
 */
#include "config.h"

#include "load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int pwr_load_tag(unsigned serial)
{
    return (int)(serial & 0x7fff); /* the largest tag every MPI library has */
}

void pwr_load_use(pwr_load_t *load, size_t count, size_t size)
{
    if (count * size > load->send.capacity) {
        pwr_load_fail(load, "%zu messages of %zu bytes are more than the buffers hold", count,
                      size);
    }
    pwr_buffer_use(&load->send, count * size);
    pwr_buffer_use(&load->recv, count * size);
}

void *pwr_load_outgoing(pwr_load_t *load, size_t index, size_t size, int dest, unsigned serial)
{
    unsigned char *slot = load->send.data + index * size;
    pwr_pattern_fill(pwr_pattern(load->rank, dest, serial), 0, slot, size);
    return slot;
}

void *pwr_load_incoming(pwr_load_t *load, size_t index, size_t size, int source, unsigned serial)
{
    unsigned char *slot = load->recv.data + index * size;
    pwr_pattern_fill_wrong(pwr_pattern(source, load->rank, serial), 0, slot, size);
    return slot;
}

void pwr_load_fail(const pwr_load_t *load, const char *format, ...)
{
    va_list arguments;
    char text[256];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "transports: %s: rank %d: %s\n", load->traffic, load->rank, text);
    fflush(stderr);
    MPI_Abort(load->comm, 1);
    abort(); /* MPI_Abort is not declared noreturn */
}

void pwr_load_check_bytes(pwr_load_t *load, int source, unsigned serial, size_t total, size_t first,
                          const void *data, size_t size)
{
    pwr_mismatch_t wrong;
    if (!pwr_pattern_check(pwr_pattern(source, load->rank, serial), first, data, size, &wrong)) {
        pwr_load_fail(load,
                      "message %u from rank %d, %zu bytes: byte %zu: expected 0x%02x, found 0x%02x",
                      serial, source, total, wrong.position, wrong.expected, wrong.found);
    }
}

void pwr_load_check_message(pwr_load_t *load, const MPI_Status *status, int source, unsigned serial,
                            const void *data, size_t size)
{
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (status->MPI_SOURCE != source || status->MPI_TAG != pwr_load_tag(serial) ||
        (size_t)count != size) {
        pwr_load_fail(load,
                      "message %u from rank %d, %zu bytes: status says rank %d, tag %d, %d bytes",
                      serial, source, size, status->MPI_SOURCE, status->MPI_TAG, count);
    }
    pwr_load_check_bytes(load, source, serial, size, 0, data, size);
    load->checks++;
}

void pwr_load_check_zones(pwr_load_t *load)
{
    ptrdiff_t offset;
    if (!pwr_buffer_check(&load->recv, &offset) || !pwr_buffer_check(&load->send, &offset)) {
        pwr_load_fail(load,
                      "something was written outside of the buffers of %zu bytes, at byte %td",
                      load->recv.used, offset);
    }
}
