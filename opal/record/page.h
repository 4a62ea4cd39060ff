/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The page of a process: what it counts, in a file that its recorder maps, too (private to the
 * library).
 *
 * Its process holds a lock on it as long as it lives.  The file has its whole size from the start:
 * a page of memory that cannot be had later would kill whoever touches it.
 */
#ifndef PWR_PAGE_H
#define PWR_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pwr/record.h"
#include "rundir.h"

enum { PWR_PAGE_MAGIC = 0x70777007, PWR_PAGE_NAME = 128 };

typedef struct pwr_page {
    uint32_t magic;
    uint32_t bytes; /* sizeof */
    uint32_t process;
    int32_t pid;
    uint64_t begin_ns;     /* CLOCK_REALTIME */
    uint64_t begin_cpu_ns; /* user and system time of the process until then */
    char operations[PWR_RECORD_NAMES][PWR_RECORD_NAME];
    _Atomic uint32_t looks;   /* the recorder's, at this page: it lives */
    _Atomic uint64_t node_uj; /* the recorder's: the node's energy since its first reading, ... */
    _Atomic uint32_t node_energy; /* ... and its pwr_meter_provenance_t + 1; 0: there is none */
    _Atomic uint32_t finished;    /* what follows, up to the account, is known */
    uint64_t wall_ns;             /* since the begin */
    uint64_t cpu_ns;
    pwr_record_end_t end;
    pwr_account_t account;
} pwr_page_t;

typedef struct pwr_mapped_page {
    pwr_page_t *page;
    int fd;
    char name[PWR_PAGE_NAME];
} pwr_mapped_page_t;

/* Makes the page of a process of job, and locks it.  Errors: as pwr_rundir_open_file, NOMEM (no
   room for it); why[why_size] then says which. */
pwr_status_t pwr_page_create(const pwr_rundir_t *rundir, const char *job, unsigned process,
                             char *why, unsigned why_size, pwr_mapped_page_t *mapped);
/* Maps a page of another process, to look at it or to write to it, too.  PARSE: the file is none.
 */
pwr_status_t pwr_page_open(const pwr_rundir_t *rundir, const char *name, bool writes,
                           pwr_mapped_page_t *mapped);
void pwr_page_close(pwr_mapped_page_t *mapped);
void pwr_page_remove(const pwr_rundir_t *rundir, const pwr_mapped_page_t *mapped);

/* Whether its process, or a child of it, lives.  Of a page that was opened, not made. */
bool pwr_page_is_alive(const pwr_mapped_page_t *mapped);

/* Whether a file of this name is a page, of job (NULL: of any). */
bool pwr_page_is_name(const char *name, const char *job);
/* Removes the pages of whoever is dead, of job (NULL: of any). */
void pwr_page_sweep(const pwr_rundir_t *rundir, const char *job);

#endif
