/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Libraries of NVIDIA that reduce in the memory of GPUs, where the loader finds them: NCCL
 * (libnccl.so.2) and NVSHMEM (libnvshmem_host.so.3).  Nothing of them is needed to build.
 *
 * Several ranks on one GPU: NCCL from 2.30 on with NCCL_MULTI_RANK_GPU_ENABLE=1 and MPS, NVSHMEM
 * with MPS.
 */
#ifndef PEERS_H
#define PEERS_H

#include <mpi.h>
#include <stdbool.h>

#include "pwr_gpu/driver.h"

/* Collective; the context is current.  Returns whether all ranks of comm can: if not, a line says
   why. */
bool nccl_open(MPI_Comm comm);
/* A sum of count doubles, at the end of a stream. */
void nccl_allreduce(pwr_gpu_address_t in, pwr_gpu_address_t out, size_t count, void *stream);
void nccl_close(void);

/* The same; it gives buffers of so many bytes, and takes no others. */
bool nvshmem_open(MPI_Comm comm, size_t bytes, pwr_gpu_address_t *in, pwr_gpu_address_t *out);
void nvshmem_allreduce(pwr_gpu_address_t in, pwr_gpu_address_t out, size_t count, void *stream);
void nvshmem_close(void);

#endif
