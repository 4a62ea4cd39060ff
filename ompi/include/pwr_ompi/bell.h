/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A bell: wakes a process that sleeps until one of its file descriptors is readable, when something
 * comes that the kernel does not see, such as a message in shared memory.
 *
 * The owner says in a page of shared memory that it is about to sleep, and listens to a pipe.  Who
 * sends it a message looks at the page, and writes into the pipe only if the owner is asleep:
 *
 *     owner                                     ringer
 *     B1 asleep = 1               (seq_cst)     R1 the message
 *     B2 look for messages, for                 R2 read asleep
 *        PWR_WAIT_LINGER_NS
 *     B3 sleep until the pipe is readable,      R3 if it is 1: asleep = 0 (exchange); who took the
 *        unless a ring was heard since B1          1 away writes a byte into the pipe
 *     B4 asleep = 0
 *
 * Dekker's pattern: either B2 sees R1, or R2 sees B1.  A fence between R1 and R2 would make sure,
 * but costs every message as much as it takes to reach the other core.  The owner, who is about to
 * sleep fifty times as long at least, lingers instead: what R1 wrote before R2 missed B1 is visible
 * to the last look of B2.  Rarely it is not (on a virtual machine, of messages that meet B1, about
 * one in a million with 2 us, and two without): then a bounded sleep comes too late.  Else the pipe
 * becomes readable, and stays so until the owner empties it.  A ring that is heard during B2 may be
 * for a message that came after the look: hence the second half of B3.  One ring per sleep, however
 * many messages come.  A byte that comes late ends the next sleep early, and costs nothing else.
 *
 * Asking.  Some who wait need no message but that the other one has looked at those it got: it then
 * gives their memory back without a call that could ring.
 *
 *     A1 asks[me] = 1, asked = 1 in the other's page, after B1 and before B2   (seq_cst)
 *     A2 the owner of that page sees asked whenever it has looked for messages, B2 included:
 *        asked = 0
 *     A3 takes away all asks (exchange)
 *     A4 looks until nothing is left
 *     A5 rings (a fence, R2, R3) those whose asks it took: after A4, and no others, as an ask
 *        that came since may be for what A4 has not seen
 *
 * Waiting for calls.  Some who wait need no message but a call of the other one, which changes
 * memory that both have (a window's lock).  R1 is that call then, and others than those who wait
 * for it must not pay for looking at the page of each:
 *
 *     W1 waits[me] = 1, waited = 1 in the other's page, after B1 and before B2         (seq_cst)
 *     W2 the owner of that page reads waited after such a call; if it is 1: waited = 0 (exchange)
 *     W3 takes away all waits (exchange) and rings those (R2, R3)
 *
 * The pattern of R1 and B1, with waited for asleep: B2 lingers for both.  Only such a call takes
 * waits away; who looks for messages does not.
 *
 * Stores.  Some change the owner's memory with plain stores (shmem_ptr), which nobody could ring
 * for.  They say so once, in stored, before the first one: the owner does not rely on rings any
 * more.
 *
 * Who has a right to ring is in ringers: only who is there can be relied upon to do it.
 *
 * The way to a page and a pipe leads through /proc/PID/fd, which the kernel opens to processes of
 * the same user, unless one cannot be traced (set-uid, PR_SET_DUMPABLE) or is in another PID
 * namespace.  Nothing has a name in a file system, so nothing is left when a process is killed.
 * wait/model/bell.pml searches all of this; who changes a step here changes it there.
 */
#ifndef PWR_OMPI_BELL_H
#define PWR_OMPI_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pwr/wait.h"

enum { PWR_BELL_MAX_RINGERS = 1024 }; /* of one bell */

typedef struct pwr_bell_page {
    uint64_t word; /* as in the address: this page is the one that was meant */
    _Alignas(PWR_CACHE_LINE) _Atomic uint32_t asleep;
    _Alignas(PWR_CACHE_LINE) _Atomic uint32_t asked; /* beside waited: rarely written, and the
                                                        owner reads both in most calls */
    _Atomic uint32_t waited;
    _Alignas(PWR_CACHE_LINE) _Atomic uint8_t ringers[PWR_BELL_MAX_RINGERS];
    _Alignas(PWR_CACHE_LINE) _Atomic uint8_t asks[PWR_BELL_MAX_RINGERS];
    _Alignas(PWR_CACHE_LINE) _Atomic uint8_t waits[PWR_BELL_MAX_RINGERS];
    _Alignas(PWR_CACHE_LINE) _Atomic uint32_t stored;
} pwr_bell_page_t;

/* What a process tells others about its bell; fixed size, the same on all of a node. */
typedef struct pwr_bell_address {
    uint32_t version;
    int32_t pid;
    int32_t page; /* file descriptors in pid */
    int32_t pipe;
    uint64_t word; /* random */
    uint64_t pipe_inode;
    uint32_t number; /* of the process among those that may ring each other */
    uint32_t always; /* it rings for all it sends; 0: only for collectives */
} pwr_bell_address_t;

enum { PWR_BELL_VERSION = 5 };

/* The bell of this process. */
typedef struct pwr_bell {
    pwr_bell_page_t *page; /* NULL: there is none */
    int pipe[2];           /* [0] is readable when it was rung */
    pwr_bell_address_t address;
} pwr_bell_t;

/* A bell of this process, which is number among those who may ring (below PWR_BELL_MAX_RINGERS).
   Returns 0 or an errno value. */
int pwr_bell_open(pwr_bell_t *bell, uint32_t number);
void pwr_bell_close(pwr_bell_t *bell);
/* Empties the pipe. */
void pwr_bell_hush(const pwr_bell_t *bell);
/* Whether this process, by its number, will ring. */
static inline bool pwr_bell_is_rung_by(const pwr_bell_t *bell, uint32_t number)
{
    /* Pairs with the release in pwr_ringer_open. */
    return 0 != atomic_load_explicit(&bell->page->ringers[number], memory_order_acquire);
}
/* B1 and B4. */
static inline void pwr_bell_sleeps(const pwr_bell_t *bell, bool asleep)
{
    /* Pairs with R2.  B4 needs no order: who still sees 1 writes a byte too many. */
    atomic_store_explicit(&bell->page->asleep, asleep,
                          asleep ? memory_order_seq_cst : memory_order_relaxed);
}
/* A2: has anybody asked? */
static inline bool pwr_bell_is_asked(const pwr_bell_t *bell)
{
    return 0 != atomic_load_explicit(&bell->page->asked, memory_order_relaxed);
}
/* A2, before A3. */
static inline void pwr_bell_take_asked(const pwr_bell_t *bell)
{
    atomic_exchange_explicit(&bell->page->asked, 0, memory_order_seq_cst);
}
static inline bool pwr_bell_take(_Atomic uint8_t *mark)
{
    return 0 != atomic_load_explicit(mark, memory_order_relaxed) &&
           0 != atomic_exchange_explicit(mark, 0, memory_order_seq_cst);
}
/* A3 for one process; true if it has asked. */
static inline bool pwr_bell_take_ask(const pwr_bell_t *bell, uint32_t number)
{
    return pwr_bell_take(&bell->page->asks[number]);
}
/* W2, where waited was 1. */
static inline void pwr_bell_take_waited(const pwr_bell_t *bell)
{
    atomic_exchange_explicit(&bell->page->waited, 0, memory_order_seq_cst);
}
/* W3 for one process; true if it waits. */
static inline bool pwr_bell_take_wait(const pwr_bell_t *bell, uint32_t number)
{
    return pwr_bell_take(&bell->page->waits[number]);
}

/* Whether others may change this process's memory without ringing. */
static inline bool pwr_bell_is_stored_past(const pwr_bell_t *bell)
{
    return 0 != atomic_load_explicit(&bell->page->stored, memory_order_relaxed);
}

/* Somebody else's bell. */
typedef struct pwr_ringer {
    pwr_bell_page_t *page; /* NULL: it cannot be rung */
    int pipe;
    uint32_t number; /* of this process */
} pwr_ringer_t;

/* Opens the bell of another process of this node, of which this one is number.  From then on the
   other one relies on being rung.  Returns 0 or an errno value; EXDEV if it is not the bell that
   was meant. */
int pwr_ringer_open(pwr_ringer_t *ringer, const pwr_bell_address_t *address, uint32_t number);
void pwr_ringer_close(pwr_ringer_t *ringer);

/* R3.  True: it was asleep, and nobody else had woken it. */
bool pwr_ringer_wake(const pwr_ringer_t *ringer);

/* R2 and R3: after a message to the owner.  Result as above. */
static inline bool pwr_ringer_ring(const pwr_ringer_t *ringer)
{
    atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps R2 behind R1 */
    return 0 != atomic_load_explicit(&ringer->page->asleep, memory_order_relaxed) &&
           pwr_ringer_wake(ringer);
}

/* A1. */
static inline void pwr_ringer_ask(const pwr_ringer_t *ringer)
{
    atomic_store_explicit(&ringer->page->asks[ringer->number], 1, memory_order_seq_cst);
    atomic_store_explicit(&ringer->page->asked, 1, memory_order_seq_cst);
}
/* From now on this process may change the owner's memory without ringing. */
static inline void pwr_ringer_stores(const pwr_ringer_t *ringer)
{
    atomic_store_explicit(&ringer->page->stored, 1, memory_order_seq_cst);
}
/* W1. */
static inline void pwr_ringer_wait_for(const pwr_ringer_t *ringer)
{
    atomic_store_explicit(&ringer->page->waits[ringer->number], 1, memory_order_seq_cst);
    atomic_store_explicit(&ringer->page->waited, 1, memory_order_seq_cst);
}

#endif
