/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Collectives in the order of a stream of CUDA, with the names and arguments of MPICH's extensions
 * (MPIX stream communicators), for any MPI.  Link with -lpoweraware-mpix.
 *
 *     MPIX_Info_set_hex(info, "value", &stream, sizeof stream);    with "type" = "cudaStream_t"
 *     MPIX_Stream_create(info, &mpix_stream);
 *     MPIX_Stream_comm_create(comm, mpix_stream, &stream_comm);
 *     kernel_a<<<grid, block, 0, stream>>>(x);
 *     MPIX_Allreduce_enqueue(x, y, count, MPI_DOUBLE, MPI_SUM, stream_comm);
 *     kernel_b<<<grid, block, 0, stream>>>(y);
 *     poweraware_stream_comm_wait(stream_comm);
 *
 * Buffers are in the memory of a GPU.  A call returns when the reduction is in the stream, and no
 * CPU waits.  That holds for ranks on one node that share one GPU, or whose kernels are on their
 * GPUs at once, and for sums, products, minima and maxima of predefined integers of 4 and 8 bytes,
 * float and double.  All else waits for the stream, and goes through the host.
 *
 * All return MPI_SUCCESS or the class of an error.  Those with a communicator call its error
 * handler.
 */
#ifndef POWERAWARE_MPIX_H
#define POWERAWARE_MPIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MPIX_STREAM_NULL
typedef struct poweraware_stream *MPIX_Stream;
#define MPIX_STREAM_NULL ((MPIX_Stream)0)
#endif

/* Puts value_size bytes at value into info, as hexadecimal digits.  MPI_ERR_ARG: there are too many
   for MPI_MAX_INFO_VAL. */
int MPIX_Info_set_hex(MPI_Info info, const char *key, const void *value, int value_size);

/* info: "type" is "cudaStream_t", "value" the stream (MPIX_Info_set_hex).  MPI_ERR_ARG: it is not.
 */
int MPIX_Stream_create(MPI_Info info, MPIX_Stream *stream);
/* After the communicators that were made with it; the stream of CUDA stays. */
int MPIX_Stream_free(MPIX_Stream *stream);

/* A copy of comm (an intracommunicator) for collectives in the order of stream.  Collective; each
   rank has a stream of its own.  The context of the stream is current.  MPI_Comm_free waits for the
   stream.  MPI_ERR_OTHER: a rank has no driver of CUDA, 11.2 or later. */
int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm *stream_comm);

/* comm: of MPIX_Stream_comm_create.  sendbuf, recvbuf: [count] of datatype, in the memory of the
   GPU; sendbuf may be MPI_IN_PLACE.  They belong to the call until the stream has passed it. */
int MPIX_Allreduce_enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm);
/* The same; recvbuf is of the root alone. */
int MPIX_Reduce_enqueue(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm);

/* Waits for the end of what is in the stream of comm: polls for as long as that is cheaper than to
   sleep, then sleeps.  (cudaStreamSynchronize polls, unless the device is set to
   cudaDeviceScheduleBlockingSync: then it sleeps at once.)  MPI_ERR_OTHER: something in it has
   failed. */
int poweraware_stream_comm_wait(MPI_Comm comm);

/* For kernels that reduce among them (poweraware_device.h): comm's team, in the memory of the GPU,
   for kernels in the stream of comm, and how many blocks their grids may have, if a multiprocessor
   has room for two of them.  It lives as long as comm.  NULL, 0: its ranks' kernels are not on
   their GPUs at the same time (on one GPU that takes MPS), or not on one node; or four
   communicators have teams. */
typedef struct poweraware_team poweraware_team_t;
int poweraware_stream_comm_team(MPI_Comm comm, poweraware_team_t **team, int *blocks);

#ifdef __cplusplus
}
#endif

#endif
