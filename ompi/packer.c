/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Packed streams through Open MPI's own convertor.
 */
#include "pwr_ompi/packer.h"

#include "ompi/datatype/ompi_datatype.h"

static int begin(pwr_packer_t *packer, int rc)
{
    packer->done = 0;
    if (OPAL_SUCCESS != rc) {
        OBJ_DESTRUCT(&packer->convertor);
        return OMPI_ERROR;
    }
    opal_convertor_get_packed_size(&packer->convertor, &packer->total);
    return OMPI_SUCCESS;
}

int pwr_packer_begin_pack(pwr_packer_t *packer, const void *buffer, size_t count,
                          ompi_datatype_t *datatype)
{
    OBJ_CONSTRUCT(&packer->convertor, opal_convertor_t);
    return begin(packer, opal_convertor_copy_and_prepare_for_send(
                             ompi_mpi_local_convertor, &datatype->super, count, (void *)buffer, 0,
                             &packer->convertor));
}

int pwr_packer_begin_unpack(pwr_packer_t *packer, void *buffer, size_t count,
                            ompi_datatype_t *datatype)
{
    OBJ_CONSTRUCT(&packer->convertor, opal_convertor_t);
    return begin(packer, opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor,
                                                                  &datatype->super, count, buffer,
                                                                  0, &packer->convertor));
}

int pwr_packer_pack(pwr_packer_t *packer, void *chunk, size_t room, size_t *bytes)
{
    struct iovec iov = {.iov_base = chunk, .iov_len = room};
    uint32_t iov_count = 1;
    size_t packed = room;
    if (opal_convertor_pack(&packer->convertor, &iov, &iov_count, &packed) < 0) {
        return OMPI_ERROR;
    }
    packer->done += packed;
    *bytes = packed;
    return OMPI_SUCCESS;
}

int pwr_packer_unpack(pwr_packer_t *packer, const void *chunk, size_t bytes)
{
    struct iovec iov = {.iov_base = (void *)chunk, .iov_len = bytes};
    uint32_t iov_count = 1;
    size_t unpacked = bytes;
    if (opal_convertor_unpack(&packer->convertor, &iov, &iov_count, &unpacked) < 0) {
        return OMPI_ERROR;
    }
    packer->done += bytes;
    return OMPI_SUCCESS;
}

void pwr_packer_end(pwr_packer_t *packer)
{
    OBJ_DESTRUCT(&packer->convertor);
}
