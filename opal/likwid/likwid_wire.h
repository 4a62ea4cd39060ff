/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What client and poweraware-likwid say to each other over their socket pair.
 *
 *   1. helper -> client   READY     status; on failure text: what likwid said last
 *   2. client -> helper   SET       control, cpu, value in kHz          ("frequency")
 *                         DOMAIN    index                               ("energy")
 *                         COUNT     index, cpu                          ("energy")
 *      helper -> client   the same record, with status and what was asked for
 *   3. the client's end closes, or the client dies: the helper ends
 *
 * The helper's argument says which of the two it is for: likwid ends the process that uses it when
 * something is missing, and one must not take the other along.  SOCK_SEQPACKET keeps the message
 * borders.
 */
#ifndef PWR_LIKWID_WIRE_H
#define PWR_LIKWID_WIRE_H

#include <stdint.h>

enum {
    PWR_LIKWID_MAGIC = 0x70776c01, /* last byte: version of this protocol */
    PWR_LIKWID_NAME_BYTES = 16,
    PWR_LIKWID_TEXT_BYTES = 160
};

typedef enum pwr_likwid_kind {
    PWR_LIKWID_READY = 1,
    PWR_LIKWID_SET,
    PWR_LIKWID_DOMAIN,
    PWR_LIKWID_COUNT
} pwr_likwid_kind_t;

typedef struct pwr_likwid_record {
    uint32_t magic;
    uint32_t kind;    /* pwr_likwid_kind_t */
    uint32_t status;  /* pwr_status_t, in answers */
    uint32_t control; /* PWR_CONTROL_CEILING or PWR_CONTROL_FLOOR */
    uint32_t cpu;
    uint32_t index; /* of a domain; RANGE: there are no more */
    uint32_t bits;  /* of DOMAIN: width of the counter; 0: likwid cannot read this domain */
    uint32_t unused;
    uint64_t value;                   /* kHz, or a count */
    double unit_j;                    /* of DOMAIN: one count */
    char name[PWR_LIKWID_NAME_BYTES]; /* of DOMAIN: likwid's word, "PKG", "DRAM" */
    char text[PWR_LIKWID_TEXT_BYTES]; /* of READY */
} pwr_likwid_record_t;

#endif
