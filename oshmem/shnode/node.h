/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of libshnode share: the team of a node, its control blocks in symmetric memory,
 * rounds, work.
 *
 * Words of a control block that members of the node write are read and written by loads and stores
 * alone.  Those that PEs of other nodes write (bell, flags) are written by calls of OpenSHMEM
 * alone.
 */
#ifndef SHNODE_NODE_H
#define SHNODE_NODE_H

#define SHNODE_API __attribute__((visibility("default")))
#include "shnode.h"

#include <stdatomic.h>
#include <stdbool.h>

#define LINE 64
enum {
    LINE_DATA = 48,      /* what fits beside the number of a round */
    BOX = 4096,          /* contributions up to this take one round */
    DEPTH = 8,           /* rounds that a PE may be ahead, and one */
    STEPS = 34,          /* of exchanges between nodes: two for those beyond a power of two */
    CHUNK = 128 * 1024,  /* of a leader, per exchange between nodes */
    GATHERED = 32 * 1024 /* blocks of all PEs together that leaders pack into messages */
};

/* What a PE says to its node in one round; DEPTH take turns (rounds.c). */
struct line {
    _Alignas(LINE) _Atomic uint64_t round;
    uint32_t bytes, reachable;
    unsigned char data[LINE_DATA];
};

struct control {
    struct line lines[DEPTH];
    _Alignas(LINE) _Atomic int64_t
        waits_for; /* a member's rank + 1, or WORK_DONE; 0: it does not sleep */
    _Alignas(LINE) _Atomic uint64_t sleepers; /* the leader's: of the node */
    _Alignas(LINE) _Atomic uint64_t next[2];  /* its items that nobody has taken (work.c) */
    _Alignas(LINE) _Atomic uint64_t done[2];  /* the leader's: items of all */
    _Alignas(LINE) long bell;                 /* moves when the PE is to wake up */
    _Alignas(LINE) long barrier[STEPS];       /* flags of other nodes (leaders.c) */
    long steps[STEPS][2];
    _Alignas(LINE) unsigned char boxes[DEPTH][BOX];
};
enum { WORK_DONE = -1 };

/* Only where there are several nodes: what leaders exchange. */
struct exchange {
    long *ring;           /* flags: 2 * nodes steps, twice */
    long *gathered;       /* flags: by node */
    unsigned char *inbox; /* STEPS_used chunks, twice */
    unsigned char *pieces;
    unsigned char *chunks[2];
    unsigned char *blocks[2];
};

struct team {
    int me, pes;
    int rank, size; /* in the node */
    int *members;
    struct control **controls; /* of the members, in this PE's memory */
    struct control *mine, *leader;
    int node, nodes;
    int *node_of, *rank_of; /* by PE */
    int *sizes, *firsts;    /* by node; firsts: where its PEs begin in ordered */
    int *ordered;           /* PEs, node by node */
    int most_leaders;       /* the size of the smallest node */
    bool crowded;           /* more members than CPUs for some of them */
    uint64_t round, seen;   /* the latest round, and the latest one in which all are known to be */
    uint64_t works;
    long barriers, exchanges, gathers;
    struct exchange exchange;
};
extern struct team shnode_team;
#define T shnode_team

struct settings {
    bool collectives, rma, queries;
    int leaders; /* 0: by table */
};
extern struct settings shnode_settings;
void shnode_read_settings(bool speaks);
int *shnode_test_nodes(int pes);

/* members.c */
int shnode_find_members(void);
void shnode_forget_members(void);

/* pages.c: deltas by PE of a page; NULL: not symmetric */
int shnode_open_pages(void);
void shnode_close_pages(void);
const ptrdiff_t *shnode_deltas(const void *data);
bool shnode_all_reachable(const ptrdiff_t *deltas);
static inline void *shnode_at(const ptrdiff_t *deltas, const void *data, int rank)
{
    return (void *)((uintptr_t)data + (uintptr_t)deltas[T.members[rank]]);
}

/* wait.c */
void shnode_wait_slowly(_Atomic uint64_t *flag, uint64_t at_least, int64_t waits_for);
void shnode_ring(int64_t waits_for);
static inline void shnode_wait(_Atomic uint64_t *flag, uint64_t at_least, int64_t waits_for)
{
    if (atomic_load_explicit(flag, memory_order_acquire) < at_least) {
        shnode_wait_slowly(flag, at_least, waits_for);
    }
}
static inline void shnode_wake(int64_t waits_for)
{
    if (atomic_load(&T.leader->sleepers) != 0) {
        shnode_ring(waits_for);
    }
}

/* rounds.c */
unsigned char *shnode_begin_round(size_t bytes);
void shnode_publish(bool reachable);
void shnode_wait_for(int rank);
bool shnode_wait_for_all(void);
size_t shnode_contribution_bytes(int rank);
const void *shnode_contribution(int rank);
static inline bool shnode_round(bool reachable)
{
    shnode_begin_round(0);
    shnode_publish(reachable);
    return shnode_wait_for_all();
}

/* work.c */
struct work {
    int owners;
    size_t items; /* of each owner */
    bool shared;  /* members do others' items, too */
    void (*item)(const struct work *work, int owner, size_t item);
};
bool shnode_shares(size_t bytes);
void shnode_do_work(const struct work *work);

/* copy.c */
bool shnode_streams(size_t bytes);
void shnode_copy(void *to, const void *from, size_t bytes, bool streams);
void shnode_end_copies(bool streamed);

/* choice.c */
bool shnode_is_small(bool reduction, size_t bytes);
int shnode_leaders_for(bool reduction, size_t bytes);

/* leaders.c: of several nodes */
typedef void reduce_t(void *to, const void *a, const void *b, size_t n);
size_t shnode_exchange_bytes(void);
void shnode_place_exchange(unsigned char *memory);
int shnode_leader(int node, int leader, int leaders);
void shnode_sync_nodes(void);
void shnode_reduce_nodes(void *data, size_t n, size_t element, reduce_t *reduce, int leader,
                         int leaders);
const unsigned char *shnode_gather_nodes(size_t bytes);

/* stock.c: SHNODE_COLLECTIVES=off */
int shnode_open_stock(void);
void shnode_close_stock(void);
long *shnode_stock_sync(void);
void *shnode_stock_work(void);
enum { STOCK_WORK = 1 << 20 };

/* init.c */
void shnode_sync(void);
bool shnode_agree(bool can);

/* Whether a collective can go ahead; deltas of both are set then. */
int shnode_check(const void *target, const void *source, const ptrdiff_t **to,
                 const ptrdiff_t **from);

#endif
