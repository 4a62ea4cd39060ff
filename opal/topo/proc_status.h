/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The few lines of /proc/<pid>/status that tell whose a CPU is (private to the library).
 */
#ifndef PWR_PROC_STATUS_H
#define PWR_PROC_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "pwr/status.h"
#include "topo/cpulist.h"

typedef struct pwr_proc_status {
    char name[32]; /* printable; the kernel's 15 bytes, more where it escapes some */
    unsigned pid;  /* of the process, also when the file is a thread's */
    unsigned parent;
    unsigned uid;         /* real */
    bool has_memory;      /* false for kernel threads and zombies */
    pwr_cpuset_t allowed; /* what the task's affinity and cpuset leave it */
} pwr_proc_status_t;

/* Reads name below the directory fd.
   UNSUPPORTED when the process is not there (any more) or not shown to us, PERM when it is shown
   but not readable, PARSE or RANGE when a line is not what Linux writes. */
pwr_status_t pwr_proc_status_read(int directory, const char *name, pwr_proc_status_t *status);

/* The same from a stream. */
pwr_status_t pwr_proc_status_parse(FILE *text, pwr_proc_status_t *status);

#endif
