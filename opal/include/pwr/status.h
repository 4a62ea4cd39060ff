/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The one result type of the power library.
 */
#ifndef PWR_STATUS_H
#define PWR_STATUS_H

/* Every library call that can fail returns one of these.  Outputs are written only on PWR_OK.
   The first detector logs (path, errno); callers pass the status on. */
typedef enum pwr_status {
    PWR_OK = 0,
    PWR_ERR_ARG,         /* the caller passed something impossible */
    PWR_ERR_NOMEM,       /* out of memory */
    PWR_ERR_IO,          /* a read or write failed or was short */
    PWR_ERR_PERM,        /* the hardware is there, the right to use it is not */
    PWR_ERR_UNSUPPORTED, /* this machine does not have it */
    PWR_ERR_PARSE,       /* a file or parameter does not have its documented form */
    PWR_ERR_RANGE,       /* a value is outside what the hardware accepts */
    PWR_ERR_SHARED,      /* a CPU is not ours alone */
    PWR_ERR_TIMEOUT,     /* a deadline passed */
    PWR_ERR_FOREIGN,     /* somebody else changed what we held: it is theirs now */
    PWR_ERR_GONE,        /* the CPU or device that was open has left the machine */
    PWR_ERR_DESCRIPTORS  /* too few file descriptors are free */
} pwr_status_t;

/* A short lower-case phrase for messages, never NULL. */
const char *pwr_status_text(pwr_status_t status);

/* The status that an errno value stands for. */
pwr_status_t pwr_status_from_errno(int err);

#endif
