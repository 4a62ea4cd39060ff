/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A user buffer of any datatype as a stream of packed bytes, taken or given chunk by chunk.
 */
#ifndef PWR_OMPI_PACKER_H
#define PWR_OMPI_PACKER_H

#include "pwr_ompi/compat.h"

#include "opal/datatype/opal_convertor.h"

typedef struct pwr_packer {
    opal_convertor_t convertor;
    size_t total; /* packed bytes in all */
    size_t done;  /* packed bytes so far */
} pwr_packer_t;

/* buffer holds count elements of datatype.  Returns an OMPI_* code; on success pwr_packer_end is
   due. */
int pwr_packer_begin_pack(pwr_packer_t *packer, const void *buffer, size_t count,
                          struct ompi_datatype_t *datatype);
int pwr_packer_begin_unpack(pwr_packer_t *packer, void *buffer, size_t count,
                            struct ompi_datatype_t *datatype);

/* Packs the next chunk into chunk[room].  *bytes is what was packed: room or, at the end and where
   a basic element would be split, a little less. */
int pwr_packer_pack(pwr_packer_t *packer, void *chunk, size_t room, size_t *bytes);
/* Unpacks the next chunk[bytes]. */
int pwr_packer_unpack(pwr_packer_t *packer, const void *chunk, size_t bytes);

void pwr_packer_end(pwr_packer_t *packer);

#endif
