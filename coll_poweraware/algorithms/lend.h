/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bcast, Scatter and Gather of long blocks on one node: the root lends its memory.
 *
 * 1. The root tells where its memory is, in a round of boxes; or that it does not lend it, because
 *    its data have gaps, or because the other way (pipeline.h) has been faster lately
 *    (pwr_ompi/copy_costs.h).
 * 2. All others copy at the same time, from there or to there, by single copy.
 * 3. They join a round when they are through; the root waits for all.
 *
 * Not where ranks share CPUs: to wait for all in every call would be more changes of rank than the
 * pipeline needs.  4 ranks on 2 CPUs took 1.8 us for a Bcast of 16 KiB there, and 6.7 us so.
 */
#ifndef COLL_POWERAWARE_LEND_H
#define COLL_POWERAWARE_LEND_H

#include "../coll_poweraware_words.h"

typedef struct coll_poweraware_loan {
    int root;
    size_t bytes; /* of a block, packed: the same on all ranks */
    bool to_root; /* the others copy to the root's memory */
    /* At the root: the packed bytes of rank r's block are at memory + r * stride; NULL: they are
       not packed there.  The root copies root_copies blocks when they go the other way. */
    unsigned char *memory;
    ptrdiff_t stride;
    int root_copies;
    /* Elsewhere: my block. */
    void *buffer;
    size_t count;
    struct ompi_datatype_t *datatype;
} coll_poweraware_loan_t;

/* Returns whether the message has gone that way, the same on all ranks; *rc is then an OMPI_* code.
 */
bool coll_poweraware_lend(coll_poweraware_call_t *call, const coll_poweraware_loan_t *loan,
                          int *rc);

/* Whether this call may, and what copies cost is to be known. */
bool coll_poweraware_may_lend(const coll_poweraware_call_t *call);

#endif
