/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the calls of a process came to: sums per communicator, collective, algorithm and size class,
 * and per region, in tables of fixed size.
 *
 * A table is one piece of memory without pointers, so it may lie in a file that others read while
 * the process runs, or after it was killed.  What does not fit (communicators, kinds of calls) is
 * added up with others of its sort: totals are right whatever a program does.
 */
#ifndef PWR_ACCOUNT_H
#define PWR_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/lever.h"
#include "pwr/status.h"

enum {
    PWR_ACCOUNT_COMMS = 128, /* the first one stands for all that have no room */
    PWR_ACCOUNT_CELLS = 1024,
    PWR_ACCOUNT_REGIONS = 64, /* likewise */
    PWR_ACCOUNT_NAME = 64,    /* of a communicator or region, with the 0 at its end */
    PWR_ACCOUNT_OTHERS = 0,
    PWR_ACCOUNT_NO_ALGORITHM = -1, /* a stock function */
};

/* What calls of one kind have in common.  Numbers are the caller's: operation < 2^15, size_class <
   2^16, algorithm -1 .. 2^15 - 1. */
typedef struct pwr_account_kind {
    unsigned comm; /* of pwr_account_comm */
    unsigned operation;
    int algorithm;
    unsigned size_class;
} pwr_account_kind_t;

/* Sums over calls; in tables of several processes over those, too.  All members are of one type. */
typedef struct pwr_account_sums {
    uint64_t calls;
    uint64_t bytes; /* as the collective's size class counts them */
    uint64_t ns;    /* in the calls */
    uint64_t longest_ns;
    uint64_t spin_ns; /* of ns: waiting, on each rung */
    uint64_t monitor_ns;
    uint64_t sleep_ns;
    uint64_t cpu_ns;                  /* CPU time of those calls where it was measured, ... */
    uint64_t cpu_of_ns;               /* ... which were not asleep for so long */
    uint64_t held_ns[PWR_NUM_LEVERS]; /* of ns: with this lever lowered */
    uint64_t transitions;             /* lever writes */
    uint64_t uj; /* energy attributed to them (pwr/ledger.h); 0 in a process's own table */
} pwr_account_sums_t;
enum { PWR_ACCOUNT_SUMS = sizeof(pwr_account_sums_t) / sizeof(uint64_t) };

typedef struct pwr_account_cell {
    _Atomic uint64_t key; /* 0: free */
    pwr_account_sums_t sums;
    /* of tables that were merged */
    uint64_t processes;     /* that made such calls */
    uint64_t least_ns;      /* sums.ns of the one that spent least time in them, ... */
    uint64_t least_process; /* ... which this was */
} pwr_account_cell_t;

typedef struct pwr_account_comm {
    char name[PWR_ACCOUNT_NAME];
    uint64_t size; /* ranks; 0: this one is free */
} pwr_account_comm_t;

/* A phase of a program, which it has marked (pwr_ompi/region.h).  Time counts for the innermost one
   that is open. */
typedef struct pwr_account_region {
    char name[PWR_ACCOUNT_NAME]; /* "": this one is free */
    uint64_t entered;            /* times */
    uint64_t ns;
    uint64_t cpu_ns;          /* of all threads */
    uint64_t uj;              /* attributed to it (pwr/ledger.h), with its calls; 0 as above */
    pwr_account_sums_t calls; /* those that ended in it */
} pwr_account_region_t;

/* What a process is in now, for whoever looks at its table. */
typedef struct pwr_account_now {
    _Atomic uint64_t call;   /* of pwr_account_call; 0: none */
    _Atomic uint32_t region; /* its index + 1; 0: none */
    uint32_t unused;
    uint64_t since_ns; /* in the region, on the clocks of whoever entered it */
    uint64_t since_cpu_ns;
} pwr_account_now_t;

/* Zeroed: empty. */
typedef struct pwr_account {
    pwr_account_now_t now;
    pwr_account_comm_t comms[PWR_ACCOUNT_COMMS];
    pwr_account_region_t regions[PWR_ACCOUNT_REGIONS];
    pwr_account_cell_t cells[PWR_ACCOUNT_CELLS];
    pwr_account_cell_t rest; /* calls of all kinds that have no room */
} pwr_account_t;

/* The number of the communicators of this name and size, which count as one: programs that make one
   in a loop mean the same.  PWR_ACCOUNT_OTHERS when there are too many.  Any thread. */
unsigned pwr_account_comm(pwr_account_t *account, const char *name, uint64_t size);

/* The region of this name, which is not empty; never NULL.  Any thread. */
pwr_account_region_t *pwr_account_region(pwr_account_t *account, const char *name);

/* What has passed since the last time counts for the region that was open; now this one is (NULL:
   none).  One thread at a time. */
void pwr_account_enter(pwr_account_t *account, const pwr_account_region_t *region, uint64_t ns,
                       uint64_t cpu_ns);
/* NULL: none is open. */
static inline pwr_account_region_t *pwr_account_open_region(pwr_account_t *account)
{
    uint32_t region = atomic_load_explicit(&account->now.region, memory_order_relaxed);
    return region == 0 || region > PWR_ACCOUNT_REGIONS ? NULL : &account->regions[region - 1];
}

/* A call in progress: the number of the call, which tells it from others, and what it is. */
static inline uint64_t pwr_account_call(uint32_t number, unsigned comm, unsigned operation)
{
    return (uint64_t)(number | 1U << 31) << 32 | (uint64_t)comm << 16 | operation;
}
static inline unsigned pwr_account_call_comm(uint64_t call)
{
    return (unsigned)(call >> 16) & 0xffff;
}
static inline unsigned pwr_account_call_operation(uint64_t call)
{
    return (unsigned)call & 0xffff;
}

/* The cell of a kind, for ever the same; never NULL.  Any thread. */
pwr_account_cell_t *pwr_account_cell(pwr_account_t *account, const pwr_account_kind_t *kind);
pwr_account_kind_t pwr_account_kind(const pwr_account_cell_t *cell);
/* The next cell in use from *index on, which moves behind it; NULL: none is left.  The rest is not
   among them. */
const pwr_account_cell_t *pwr_account_next(const pwr_account_t *account, unsigned *index);

static inline void pwr_account_add_plainly(pwr_account_sums_t *sums, const pwr_account_sums_t *call)
{
    uint64_t longest = call->longest_ns > sums->longest_ns ? call->longest_ns : sums->longest_ns;
    uint64_t *to = (uint64_t *)sums;
    const uint64_t *from = (const uint64_t *)call;
    for (int i = 0; i < PWR_ACCOUNT_SUMS; i++) {
        to[i] += from[i];
    }
    sums->longest_ns = longest;
}
/* Where other threads may add to the same cell at the same time. */
void pwr_account_add_in_threads(pwr_account_sums_t *sums, const pwr_account_sums_t *call);

static inline void pwr_account_add(pwr_account_sums_t *sums, const pwr_account_sums_t *call,
                                   bool threads)
{
    if (threads) {
        pwr_account_add_in_threads(sums, call);
    } else {
        pwr_account_add_plainly(sums, call);
    }
}

/* CPU time of all calls: of those where it was measured, and of the others, while they were not
   asleep, the same share of time. */
double pwr_account_cpu_ns(const pwr_account_sums_t *sums);

/* Adds the table of a process, which may be in use, and wrong: its numbers are added then, no more.
 */
void pwr_account_merge(pwr_account_t *into, const pwr_account_t *from, unsigned process);

/* What of a table is in use, for a message or a file: at most PWR_ACCOUNT_PACKED_MAX bytes. */
typedef struct pwr_account_packed_head {
    uint32_t num_comms;
    uint32_t num_cells; /* the last one is the rest */
    uint32_t num_regions;
    uint32_t unused;
} pwr_account_packed_head_t;
enum {
    PWR_ACCOUNT_PACKED_MAX = sizeof(pwr_account_packed_head_t) +
                             PWR_ACCOUNT_COMMS * sizeof(pwr_account_comm_t) +
                             PWR_ACCOUNT_REGIONS * sizeof(pwr_account_region_t) +
                             (PWR_ACCOUNT_CELLS + 1) * sizeof(pwr_account_cell_t)
};
/* Returns the bytes used of out[PWR_ACCOUNT_PACKED_MAX], which is aligned for uint64_t. */
size_t pwr_account_pack(const pwr_account_t *account, void *out);
/* PARSE: not such bytes; nothing has been added then.  packed is aligned for uint64_t. */
pwr_status_t pwr_account_merge_packed(pwr_account_t *into, const void *packed, size_t bytes);

#endif
