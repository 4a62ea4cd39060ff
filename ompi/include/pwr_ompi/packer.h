/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A user buffer of any datatype as a stream of packed bytes, taken or given chunk by chunk.
 */
#ifndef PWR_OMPI_PACKER_H
#define PWR_OMPI_PACKER_H

#include "pwr_ompi/compat.h"

#include "opal/datatype/opal_convertor.h"

/* Larger than any basic element. */
enum { PWR_PACKER_CARRY = 64 };

typedef struct pwr_packer {
    opal_convertor_t convertor; /* where the data have gaps */
    unsigned char *contiguous;  /* the first byte of data without gaps, else NULL */
    size_t total;               /* packed bytes in all */
    size_t done;                /* packed bytes so far */
    size_t carried;             /* bytes that the convertor gave before they were wanted */
    unsigned char carry[PWR_PACKER_CARRY];
} pwr_packer_t;

/* Address of the first byte of count elements of datatype if they lie in memory as they are packed,
   else NULL. */
unsigned char *pwr_packer_contiguous(const void *buffer, size_t count,
                                     const struct ompi_datatype_t *datatype);

/* To pack buffer, which holds count elements of datatype, or to unpack into it.  Returns an OMPI_*
   code; on success pwr_packer_end is due. */
int pwr_packer_begin(pwr_packer_t *packer, bool packs, const void *buffer, size_t count,
                     const struct ompi_datatype_t *datatype);

/* Goes to a byte of the packed stream.  Backwards only where data are unpacked or have no gaps;
   packing data with gaps goes on where it is. */
int pwr_packer_seek(pwr_packer_t *packer, size_t position);

/* Packs the next bytes into chunk[bytes], exactly, even if that splits a basic element: so whoever
   knows the message's length knows how it is cut.  At most total - done. */
int pwr_packer_pack(pwr_packer_t *packer, void *chunk, size_t bytes);
/* Unpacks the next chunk[bytes]. */
int pwr_packer_unpack(pwr_packer_t *packer, const void *chunk, size_t bytes);

void pwr_packer_end(pwr_packer_t *packer);

/* The first bytes of the stream at once, to or from packed[bytes]. */
int pwr_packer_convert(bool packs, const void *buffer, size_t count,
                       const struct ompi_datatype_t *datatype, void *packed, size_t bytes);

#endif
