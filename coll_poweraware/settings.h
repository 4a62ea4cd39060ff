/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the user has set for collectives (params.c, doc/coll_poweraware.7).  What belongs to the
 * process is in pwr_ompi/process.h.
 */
#ifndef COLL_POWERAWARE_SETTINGS_H
#define COLL_POWERAWARE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "collectives.h"

/* The schemes of ICPP 2010, section VII, and ours. */
typedef enum coll_poweraware_scheme {
    COLL_POWERAWARE_OFF,      /* the paper's default: stock algorithm, counted only */
    COLL_POWERAWARE_DVFS,     /* freq-scaling: stock algorithm between DVFS down and up */
    COLL_POWERAWARE_THROTTLE, /* proposed: DVFS and our algorithms with throttling */
    COLL_POWERAWARE_AUTO      /* the same levers, algorithms from a decision table */
} coll_poweraware_scheme_t;

typedef enum coll_poweraware_scope {
    COLL_POWERAWARE_SCOPE_CORE,   /* T-states act on the core they are written on */
    COLL_POWERAWARE_SCOPE_PACKAGE /* T-states act on the whole package (Nehalem) */
} coll_poweraware_scope_t;

/* Values of coll_poweraware_<collective>_algorithm that are not an index of an algorithm. */
enum { COLL_POWERAWARE_CHOOSE = -2, COLL_POWERAWARE_STOCK = -1 };

typedef struct coll_poweraware_settings {
    int priority;
    int scheme;            /* coll_poweraware_scheme_t */
    int tstate_scope;      /* coll_poweraware_scope_t */
    int tstate;            /* level of throttled ranks, 1..7 */
    int tstate_leader;     /* level of a leader's package, 0..7, when the scope is the package */
    int group;             /* pwr_topo_level_t: what the ranks of a group share */
    int alltoall_schedule; /* index of coll_poweraware_schedules */
    size_t segment_bytes;  /* of one node's segment */
    size_t segments_total_bytes; /* of all segments that one process creates */
    size_t chunk_bytes;          /* of a message that move at once */
    int leaders;                 /* of each node in reductions */
    int algorithm[COLL_POWERAWARE_NUM_COLLECTIVES];
    size_t ucx_min_bytes; /* 0: none */
    bool single_copy;
    bool explore;         /* scheme auto looks for faster algorithms while the program runs */
    char *decision_table; /* NULL: the built-in one */
} coll_poweraware_settings_t;

/* params.c.  *settings is a copy of our own, valid until freed. */
int coll_poweraware_settings_register(coll_poweraware_settings_t *settings);
void coll_poweraware_settings_free(coll_poweraware_settings_t *settings);
/* The word for a coll_poweraware_scheme_t. */
const char *coll_poweraware_scheme_name(int scheme);

#endif
