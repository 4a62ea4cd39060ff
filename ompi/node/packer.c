/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Packed streams: memory as it is, or through Open MPI's own convertor.
 */
#include "pwr_ompi/packer.h"

#include <string.h>

#include "pwr_ompi/copy.h"

#include "ompi/datatype/ompi_datatype.h"

unsigned char *pwr_packer_contiguous(const void *buffer, size_t count,
                                     const struct ompi_datatype_t *datatype)
{
    const opal_datatype_t *type = &datatype->super;
    if (0 != count && !opal_datatype_is_contiguous_memory_layout(type, count)) {
        return NULL;
    }
    return (unsigned char *)buffer + (0 != count ? type->true_lb : 0);
}

int pwr_packer_begin(pwr_packer_t *packer, bool packs, const void *buffer, size_t count,
                     const struct ompi_datatype_t *datatype)
{
    packer->contiguous = pwr_packer_contiguous(buffer, count, datatype);
    packer->total = count * datatype->super.size;
    packer->done = 0;
    packer->carried = 0;
    if (NULL != packer->contiguous) {
        return OMPI_SUCCESS; /* there is nothing for the convertor to do */
    }
    OBJ_CONSTRUCT(&packer->convertor, opal_convertor_t);
    if (OPAL_SUCCESS !=
        (packs ? opal_convertor_copy_and_prepare_for_send
               : opal_convertor_copy_and_prepare_for_recv)(
            ompi_mpi_local_convertor, &datatype->super, count, buffer, 0, &packer->convertor)) {
        OBJ_DESTRUCT(&packer->convertor);
        return OMPI_ERROR;
    }
    return OMPI_SUCCESS;
}

int pwr_packer_seek(pwr_packer_t *packer, size_t position)
{
    if (packer->done != position && NULL == packer->contiguous) {
        size_t reached = position;
        if (opal_convertor_set_position(&packer->convertor, &reached) < 0 || reached != position) {
            return OMPI_ERROR;
        }
    }
    packer->done = position;
    return OMPI_SUCCESS;
}

/* As much as fits without splitting a basic element.  Returns bytes, 0 after an error. */
static size_t convert(pwr_packer_t *packer, unsigned char *to, size_t room)
{
    struct iovec iov = {.iov_base = (void *)to, .iov_len = room};
    uint32_t iov_count = 1;
    size_t packed = room;
    return opal_convertor_pack(&packer->convertor, &iov, &iov_count, &packed) < 0 ? 0 : packed;
}

/* The carried bytes that are wanted first. */
static size_t give_carried(pwr_packer_t *packer, unsigned char *to, size_t bytes)
{
    size_t given = bytes < packer->carried ? bytes : packer->carried;
    memcpy(to, packer->carry, given);
    packer->carried -= given;
    memmove(packer->carry, packer->carry + given, packer->carried);
    return given;
}

static int pack_with_gaps(pwr_packer_t *packer, unsigned char *to, size_t bytes)
{
    size_t packed = give_carried(packer, to, bytes);
    if (packed < bytes) {
        packed += convert(packer, to + packed, bytes - packed);
    }
    while (packed < bytes) { /* the next basic element is split */
        packer->carried = convert(packer, packer->carry, sizeof packer->carry);
        if (0 == packer->carried) {
            return OMPI_ERROR;
        }
        packed += give_carried(packer, to + packed, bytes - packed);
    }
    return OMPI_SUCCESS;
}

int pwr_packer_pack(pwr_packer_t *packer, void *chunk, size_t bytes)
{
    int rc = OMPI_SUCCESS;
    if (NULL != packer->contiguous) {
        pwr_copy(chunk, packer->contiguous + packer->done, bytes);
    } else {
        rc = pack_with_gaps(packer, chunk, bytes);
    }
    packer->done += bytes;
    return rc;
}

int pwr_packer_unpack(pwr_packer_t *packer, const void *chunk, size_t bytes)
{
    if (NULL != packer->contiguous) {
        pwr_copy(packer->contiguous + packer->done, chunk, bytes);
    } else {
        struct iovec iov = {.iov_base = (void *)chunk, .iov_len = bytes};
        uint32_t iov_count = 1;
        size_t unpacked = bytes;
        if (opal_convertor_unpack(&packer->convertor, &iov, &iov_count, &unpacked) < 0) {
            return OMPI_ERROR;
        }
    }
    packer->done += bytes;
    return OMPI_SUCCESS;
}

void pwr_packer_end(pwr_packer_t *packer)
{
    if (NULL == packer->contiguous) {
        OBJ_DESTRUCT(&packer->convertor);
    }
}

int pwr_packer_convert(bool packs, const void *buffer, size_t count,
                       const struct ompi_datatype_t *datatype, void *packed, size_t bytes)
{
    pwr_packer_t packer;
    int rc = pwr_packer_begin(&packer, packs, buffer, count, datatype);
    if (OMPI_SUCCESS == rc) {
        rc = packs ? pwr_packer_pack(&packer, packed, bytes)
                   : pwr_packer_unpack(&packer, packed, bytes);
        pwr_packer_end(&packer);
    }
    return rc;
}
