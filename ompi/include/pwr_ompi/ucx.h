/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages over a UCP worker of our own, whose arrival wakes a process that sleeps; and sleep in
 * components that use UCX by themselves.
 *
 * pml ucx makes its worker without wake-up and offers nothing to sleep on.  A message that goes
 * over ours instead is an ordinary request to Open MPI.  It must go the same way on both sides:
 * nothing orders it with messages of the pml.
 */
#ifndef PWR_OMPI_UCX_H
#define PWR_OMPI_UCX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/env.h"

struct ompi_communicator_t;
struct ompi_datatype_t;
struct ompi_request_t;

/* Makes the worker and tells all processes its address: when components are opened, by all of
   them.  NULL, or why there is none. */
const char *pwr_ucx_publish(void);
/* Takes it into use if pml ucx was selected, else it goes.  After the pml was selected, before the
   first message.  Returns whether it is in use. */
bool pwr_ucx_start(void);
/* When no process needs a message of this one any more. */
void pwr_ucx_stop(void);

/* Whether messages to and from this rank of comm, another one, may go over it: the same answer on
   both sides. */
bool pwr_ucx_reaches(struct ompi_communicator_t *comm, int peer);

/* As the pml's functions of these names, for a standard send and for a receive from one rank; tag:
   -32768..-1.  Counts are in elements of datatype. */
int pwr_ucx_isend(const void *buffer, size_t count, struct ompi_datatype_t *datatype, int peer,
                  int tag, struct ompi_communicator_t *comm, struct ompi_request_t **request);
int pwr_ucx_irecv(void *buffer, size_t count, struct ompi_datatype_t *datatype, int peer, int tag,
                  struct ompi_communicator_t *comm, struct ompi_request_t **request);

/* How many of these two have begun; also after pwr_ucx_stop. */
unsigned long pwr_ucx_messages(void);

/* ---- components that use UCX by themselves ----

   osc/ucx and spml/ucx wait in calls of UCX.  They are ours from start to stop (ucx_users.c). */

/* Before they make a worker.  Each start is stopped once.  Where file descriptors are few, nothing.
 */
void pwr_ucx_users_start(const pwr_env_t *env);
/* Between the two: more of them have been loaded. */
void pwr_ucx_users_renew(void);
void pwr_ucx_users_stop(void);
/* Whether what comes to them ends sleeps. */
bool pwr_ucx_users_wake(void);
/* Changes when something moved in them. */
uint64_t pwr_ucx_moves(void);

/* ---- sleep ---- */

/* Before a thread blocks in Open MPI's event loop, where what comes to all these workers wakes it
   if no other may be in it (MPI_THREAD_MULTIPLE).  False: something has moved since the last
   progress.  True where there are none. */
bool pwr_ucx_may_block(void);
/* After it. */
void pwr_ucx_awake(void);
/* Sleeps without the event loop, whose bounds are whole milliseconds: what comes to these workers
   ends it, and nothing else.  Returns at once where something has moved. */
void pwr_ucx_nap(uint64_t longest_ns);

#endif
