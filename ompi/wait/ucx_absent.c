/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Configured without UCX: there is no worker (ucx.c).
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/ucx.h"

#include "pwr/clock.h"

const char *pwr_ucx_publish(void)
{
    return "poweraware was built without UCX";
}

bool pwr_ucx_start(void)
{
    return false;
}

void pwr_ucx_stop(void)
{
}

bool pwr_ucx_reaches(struct ompi_communicator_t *comm, int peer)
{
    (void)comm;
    (void)peer;
    return false;
}

int pwr_ucx_isend(const void *buffer, size_t count, struct ompi_datatype_t *datatype, int peer,
                  int tag, struct ompi_communicator_t *comm, ompi_request_t **request)
{
    (void)buffer, (void)count, (void)datatype, (void)peer, (void)tag, (void)comm, (void)request;
    return OMPI_ERR_NOT_SUPPORTED;
}

int pwr_ucx_irecv(void *buffer, size_t count, struct ompi_datatype_t *datatype, int peer, int tag,
                  struct ompi_communicator_t *comm, ompi_request_t **request)
{
    (void)buffer, (void)count, (void)datatype, (void)peer, (void)tag, (void)comm, (void)request;
    return OMPI_ERR_NOT_SUPPORTED;
}

unsigned long pwr_ucx_messages(void)
{
    return 0;
}

void pwr_ucx_users_start(const pwr_env_t *env)
{
    (void)env;
}

void pwr_ucx_users_renew(void)
{
}

void pwr_ucx_users_stop(void)
{
}

bool pwr_ucx_users_wake(void)
{
    return false;
}

uint64_t pwr_ucx_moves(void)
{
    return 0;
}

bool pwr_ucx_may_block(void)
{
    return true;
}

void pwr_ucx_awake(void)
{
}

void pwr_ucx_nap(uint64_t longest_ns)
{
    const struct timespec longest = pwr_timespec(longest_ns);
    nanosleep(&longest, NULL);
}
