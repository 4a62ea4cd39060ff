/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Our algorithms, one per file.  All return an OMPI_* code and leave the segment usable, also
 * after an error of the layer below.
 */
#ifndef COLL_POWERAWARE_ALGORITHMS_H
#define COLL_POWERAWARE_ALGORITHMS_H

#include "../coll_poweraware_words.h"

/* Socket-grouped Alltoall (ICPP 2010 V-A).  sbuf and rbuf hold size blocks of scount and rcount
   elements; not MPI_IN_PLACE. */
int coll_poweraware_alltoall_grouped(coll_poweraware_call_t *call, const void *sbuf, size_t scount,
                                     struct ompi_datatype_t *sdtype, void *rbuf, size_t rcount,
                                     struct ompi_datatype_t *rdtype);

/* Leader-based shared-memory Bcast (ICPP 2010 V-B). */
int coll_poweraware_bcast_leader(coll_poweraware_call_t *call, void *buffer, size_t count,
                                 struct ompi_datatype_t *datatype, int root);

/* Leader-based shared-memory Reduce (ICPP 2010 V-B).  sbuf may be MPI_IN_PLACE at root. */
int coll_poweraware_reduce_leader(coll_poweraware_call_t *call, const void *sbuf, void *rbuf,
                                  size_t count, struct ompi_datatype_t *datatype,
                                  struct ompi_op_t *op, int root);
/* Whether the above can do it: order kept, one element fits an area. Same answer on all ranks. */
bool coll_poweraware_reduce_leader_can(const coll_poweraware_call_t *call,
                                       struct ompi_datatype_t *datatype, struct ompi_op_t *op);

#endif
