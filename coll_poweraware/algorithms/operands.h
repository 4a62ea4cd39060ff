/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The operands of a reduction: what the user gave, and elements in memory of ours.
 *
 * There elements lie as the datatype lays them out, so that they can be operated on in place.
 */
#ifndef COLL_POWERAWARE_OPERANDS_H
#define COLL_POWERAWARE_OPERANDS_H

#include "primitives/primitives.h"

enum { COLL_POWERAWARE_ALIGNMENT = 64 };

typedef struct coll_poweraware_operands {
    struct ompi_datatype_t *datatype;
    struct ompi_op_t *op;
    const char *contribution; /* of this rank */
    bool in_place;            /* ... and what is overwritten by the result */
    char *rbuf;               /* may be NULL where there is no result */
    ptrdiff_t extent;
    ptrdiff_t base;   /* from the start of a box or area to the address that MPI is given: the first
                         byte of data lies inside, and the address is as aligned as the start */
    size_t one_bytes; /* of a box for one element */
    bool plain;       /* no gaps: elements can be copied as bytes */
} coll_poweraware_operands_t;

/* Elements from .. to - 1. */
typedef struct coll_poweraware_range {
    size_t from;
    size_t to;
} coll_poweraware_range_t;

/* Part index of num of elements that are divided evenly. */
coll_poweraware_range_t coll_poweraware_part(coll_poweraware_range_t all, size_t index, size_t num);

coll_poweraware_operands_t coll_poweraware_operands(const coll_poweraware_args_t *args);
/* Bytes of a box for count elements; SIZE_MAX where they cannot lie in one. */
size_t coll_poweraware_operand_bytes(const coll_poweraware_operands_t *operands, size_t count);
/* The operator allows the order in which ranks of a node, and then nodes, are combined. */
bool coll_poweraware_order_is_kept(const coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args);
/* It does, and count elements fit a box. */
bool coll_poweraware_operands_fit(const coll_poweraware_call_t *call,
                                  const coll_poweraware_args_t *args, size_t count);
/* Addresses as MPI is given them.  Returns an OMPI_* code. */
int coll_poweraware_copy_operands(const coll_poweraware_operands_t *operands, char *to,
                                  const char *from, size_t count);

#endif
