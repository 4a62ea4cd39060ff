/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What likwid's access daemon and its one client say to each other over a stream socket.
 *
 * A request is one record, the answer is the same record with data and error filled in.  EXIT has
 * no answer: the daemon ends.  The daemon listens at /tmp/likwid-<pid>, where pid is that of the
 * process that was started as the daemon, and gives up after 15 seconds without a client.
 *
 * Source: likwid 5.2.2, 5.4.1 and 5.5.1, src/includes/access_client_types.h and
 * src/access-daemon/accessDaemon.c: these are the same in all three.
 */
#ifndef PWR_ACCESSD_WIRE_H
#define PWR_ACCESSD_WIRE_H

#include <stdint.h>

#define PWR_ACCESSD_SOCKET "/tmp/likwid-%d"
#define PWR_ACCESSD_LOCK "/var/run/likwid.lock"

typedef enum pwr_accessd_type {
    PWR_ACCESSD_READ,
    PWR_ACCESSD_WRITE,
    PWR_ACCESSD_CHECK, /* whether the CPU's device file is open */
    PWR_ACCESSD_EXIT
} pwr_accessd_type_t;

typedef enum pwr_accessd_error {
    PWR_ACCESSD_OK,
    PWR_ACCESSD_UNKNOWN,    /* no such type */
    PWR_ACCESSD_RESTRICTED, /* a register that the daemon does not let through on this CPU model */
    PWR_ACCESSD_OPEN,       /* device file cannot be opened */
    PWR_ACCESSD_FAILED,     /* the msr driver refused */
    PWR_ACCESSD_BUSY,       /* it has another client */
    PWR_ACCESSD_NO_DEVICE,  /* the CPU's device file was not opened */
    PWR_ACCESSD_LOCKED      /* somebody else owns PWR_ACCESSD_LOCK */
} pwr_accessd_error_t;

typedef struct pwr_accessd_record {
    uint32_t cpu; /* the daemon does not check that there is such a CPU */
    uint32_t number;
    uint64_t data;
    int32_t device; /* 0: model-specific registers */
    int32_t type;   /* pwr_accessd_type_t */
    int32_t error;  /* pwr_accessd_error_t, in answers */
    int32_t unused; /* padding: the record has 32 bytes */
} pwr_accessd_record_t;

_Static_assert(sizeof(pwr_accessd_record_t) == 32, "the record has 32 bytes");

#endif
